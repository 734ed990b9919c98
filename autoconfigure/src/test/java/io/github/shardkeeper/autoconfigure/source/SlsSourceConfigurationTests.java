package io.github.shardkeeper.autoconfigure.source;

import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

import com.aliyun.openservices.log.common.auth.Credentials;
import com.aliyun.openservices.log.common.auth.CredentialsProvider;
import com.aliyun.openservices.log.common.auth.DefaultCredentials;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.autoconfigure.ShardkeeperAutoConfiguration;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperFailureAnalyzer;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.sls.SlsShardSource;
import io.github.shardkeeper.sls.testsupport.SlsTestServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@ExtendWith(OutputCaptureExtension.class)
class SlsSourceConfigurationTests {

	private final SlsTestServer server = new SlsTestServer();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class))
		.withPropertyValues("shardkeeper.group=shop", "shardkeeper.store=memory",
				"shardkeeper.topics.visits.source=sls", "shardkeeper.sls.topics.visits.logstore=access",
				"shardkeeper.sls.endpoint=" + SlsTestServer.ENDPOINT,
				"shardkeeper.sls.project=" + SlsTestServer.PROJECT, "shardkeeper.sls.proxy=" + this.server.proxy(),
				"shardkeeper.sls.poll-interval=50ms", "shardkeeper.sls.shard-interval=200ms");

	private final ApplicationContextRunner withKey = this.runner
		.withPropertyValues("shardkeeper.sls.access-key-id=LTAIkey", "shardkeeper.sls.access-key-secret=s3cret");

	SlsSourceConfigurationTests() {
		this.server.allow("LTAIkey", "s3cret");
		this.server.createLogstore("access", 2);
	}

	@AfterEach
	void stopServer() {
		this.server.close();
	}

	@Test
	void logsAreConsumedAsObjectsAndMaps() {
		Visits visits = new Visits();
		Audits audits = new Audits();
		this.withKey.withBean(Visits.class, () -> visits)
			.withBean(Audits.class, () -> audits)
			.withPropertyValues("shardkeeper.topics.audits.source=sls")
			.run((context) -> {
				this.server.createLogstore("audits", 1);
				ShardTemplate template = context.getBean(ShardTemplate.class);
				await().until(() -> context.getBean(SlsShardSource.class)
					.topics()
					.get("audits")
					.equals(TopicShards.count(1)));
				template.send("visits", "ann", new Visit("/cart", 3));
				template.send("visits", new ShardTemplate.Outgoing("bob", Map.of("path", "/pay", "items", "1"))
					.withHeader("tenant", "acme"));
				template.send("audits", "ann", Map.of("action", "login"));

				assertThat(List.of(visits.next(), visits.next())).containsExactlyInAnyOrder("ann: /cart 3 {}",
						"bob: /pay 1 {tenant=acme}");
				assertThat(audits.all.poll(20, TimeUnit.SECONDS)).isEqualTo(Map.of("action", "login"));
			});
	}

	@Test
	void splitShardIsReadToItsEndBeforeItsChildren() {
		Visits visits = new Visits();
		this.withKey.withBean(Visits.class, () -> visits).run((context) -> {
			ShardTemplate template = context.getBean(ShardTemplate.class);
			send(template, 1, 20);
			this.server.split("access", 0);
			this.server.merge("access", 2);
			send(template, 21, 40);
			await().until(() -> visits.numbers.size() == 40);

			assertThat(visits.numbers)
				.containsExactlyInAnyOrderElementsOf(IntStream.rangeClosed(1, 40).boxed().toList());
			assertThat(context.getBean(ShardConsumerRunner.class).problems()).isEmpty();
		});
	}

	private static void send(ShardTemplate template, int first, int last) {
		for (int number = first; number <= last; number++) {
			template.send("visits", "key" + number % 7, new Visit("/", number));
		}
	}

	@Test
	void credentialsMayComeFromABeanAndChange() {
		AtomicReference<Credentials> current = new AtomicReference<>(new DefaultCredentials("STS.1", "one", "token1"));
		this.server.allow("STS.1", "one", "token1");
		CredentialsProvider provider = current::get;
		this.runner.withBean(CredentialsProvider.class, () -> provider).run((context) -> {
			ShardTemplate template = context.getBean(ShardTemplate.class);
			template.send("visits", "ann", "first");
			this.server.revoke("STS.1");
			this.server.allow("STS.2", "two", "token2");
			current.set(new DefaultCredentials("STS.2", "two", "token2"));
			template.send("visits", "ann", "second");

			assertThat(this.server.logGroups("access", 0) + this.server.logGroups("access", 1)).isEqualTo(2);
		});
	}

	@Test
	void missingLogstoreIsAProblemOfItsTopicAndOthersAreConsumed() {
		Visits visits = new Visits();
		this.withKey.withBean(Visits.class, () -> visits)
			.withBean(Audits.class, Audits::new)
			.withPropertyValues("shardkeeper.topics.audits.source=sls")
			.run((context) -> {
				context.getBean(ShardTemplate.class).send("visits", "ann", new Visit("/", 1));
				assertThat(visits.next()).isEqualTo("ann: / 1 {}");
				ShardConsumerRunner consumers = context.getBean(ShardConsumerRunner.class);
				await().until(() -> context.getBean(SlsShardSource.class).problems().containsKey("audits"));
				assertThat(context.getBean(SlsShardSource.class).problems().get("audits")).contains("LogStoreNotExist");
				assertThat(consumers.isRunning()).isTrue();
			});
	}

	@Test
	void serviceAwayAtStartDoesNotStopTheApplication() {
		Visits visits = new Visits();
		this.server.stop();
		this.withKey.withBean(Visits.class, () -> visits).run((context) -> {
			assertThat(context).hasNotFailed();
			await().until(() -> context.getBean(SlsShardSource.class).problems().containsKey("visits"));
			this.server.restart();
			SlsShardSource source = context.getBean(SlsShardSource.class);
			await().until(() -> source.problems().isEmpty() && source.topics().get("visits").size() == 2);
			context.getBean(ShardTemplate.class).send("visits", "ann", new Visit("/", 1));
			assertThat(visits.next()).isEqualTo("ann: / 1 {}");
		});
	}

	@Test
	void credentialsAreNowhereToRead(CapturedOutput output) {
		this.runner
			.withPropertyValues("shardkeeper.sls.access-key-id=LTAIkey", "shardkeeper.sls.access-key-secret=wr0ng",
					"shardkeeper.sls.security-token=t0ken")
			.withBean(Visits.class, Visits::new)
			.run((context) -> {
				SlsShardSource source = context.getBean(SlsShardSource.class);
				await().until(() -> source.problems().containsKey("visits"));

				assertThat(
						source.problems().toString() + source + context.getBean(ShardkeeperProperties.class) + output)
					.contains("the credentials are not valid")
					.doesNotContain("LTAIkey")
					.doesNotContain("wr0ng")
					.doesNotContain("t0ken");
			});
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					shardkeeper.sls.endpoint=               | 'shardkeeper.sls.endpoint' is not set          | cn-hangzhou
					shardkeeper.sls.project=                | 'shardkeeper.sls.project' is not set           | project of the logstores
					shardkeeper.sls.access-key-id=          | 'shardkeeper.sls.access-key-id' is not set     | CredentialsProvider
					shardkeeper.sls.access-key-secret=      | 'shardkeeper.sls.access-key-secret' is not set | CredentialsProvider
					shardkeeper.sls.endpoint=https://a:b@c  | 'shardkeeper.sls.endpoint' is not valid        | Correct the property
					shardkeeper.sls.fetch-count=0           | 'shardkeeper.sls.fetch-count' is 0             | Correct the property
					shardkeeper.sls.poll-interval=0         | 'shardkeeper.sls.poll-interval' is PT0S        | Correct the property
					shardkeeper.sls.shard-interval=2d       | 'shardkeeper.sls.shard-interval' is PT48H      | Correct the property
					shardkeeper.sls.request-timeout=0       | 'shardkeeper.sls.request-timeout' is PT0S      | Correct the property
					shardkeeper.sls.topics.vists.logstore=a | 'shardkeeper.sls.topics.vists' is set          | vists.source: sls
					""")
	void invalidSettingsFailStartup(String property, String description, String action) {
		this.withKey.withPropertyValues(property).run((context) -> {
			FailureAnalysis analysis = new ShardkeeperFailureAnalyzer().analyze(context.getStartupFailure());
			assertThat(analysis).isNotNull();
			assertThat(analysis.getDescription()).contains(description);
			assertThat(analysis.getAction()).contains(action);
		});
	}

	@Test
	void credentialsFromTwoPlacesFailStartup() {
		this.withKey.withBean(CredentialsProvider.class, () -> () -> new DefaultCredentials("a", "b"))
			.run((context) -> {
				FailureAnalysis analysis = new ShardkeeperFailureAnalyzer().analyze(context.getStartupFailure());
				assertThat(analysis).isNotNull();
				assertThat(analysis.getDescription()).contains("there is also a CredentialsProvider bean");
			});
	}

	@Test
	void nothingIsCreatedWithoutATopic() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class))
			.withPropertyValues("shardkeeper.group=shop", "shardkeeper.store=memory",
					"shardkeeper.topics.visits.shards=2")
			.run((context) -> assertThat(context).doesNotHaveBean(SlsShardSource.class));
	}

	record Visit(String path, int items) {

	}

	static class Visits {

		private final BlockingQueue<String> all = new LinkedBlockingQueue<>();

		private final Queue<Integer> numbers = new ConcurrentLinkedQueue<>();

		@ShardConsumer("visits")
		void visit(ShardRecord<Visit> record) {
			Visit visit = record.payload();
			this.numbers.add(visit.items());
			this.all.add(record.key() + ": " + visit.path() + " " + visit.items() + " " + record.headers());
		}

		String next() throws InterruptedException {
			return this.all.poll(20, TimeUnit.SECONDS);
		}

	}

	static class Audits {

		private final BlockingQueue<Map<String, String>> all = new LinkedBlockingQueue<>();

		@ShardConsumer("audits")
		void audit(Map<String, String> audit) {
			this.all.add(audit);
		}

	}

}
