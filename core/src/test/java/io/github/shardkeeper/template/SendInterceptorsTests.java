package io.github.shardkeeper.template;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.test.system.CapturedOutput;

import io.github.shardkeeper.RecordTooLargeException;
import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.ShardSendInterceptor;
import io.github.shardkeeper.ShardTemplate.Appended;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.testsupport.CapturesOutput;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

@CapturesOutput
class SendInterceptorsTests {

	private static final int MAX_BYTES = 1000;

	private final List<String> events = new ArrayList<>();

	private final ManualAppender appender = new ManualAppender(true);

	@Test
	void interceptorsChangeTheRecordBeforeItsShardIsChosen() {
		KeyedShardTemplate template = template(adding("outer"), adding("inner"), new Telling("key", (topic, record) -> {
			Outgoing other = new Outgoing("ann", "other").toShard(2);
			return record.headers().containsKey("by") ? other.withHeader("by", record.headers().get("by")) : other;
		}));

		Appended appended = template.send("orders", new Outgoing("bob", "one"));

		assertThat(appended.shard()).isEqualTo(ShardId.of("orders", 2));
		assertThat(this.appender.records()).singleElement().satisfies((record) -> {
			assertThat(record.key()).isEqualTo("ann");
			assertThat(record.payload()).isEqualTo("other".getBytes());
			assertThat(record.headers()).isEqualTo(Map.of("by", "outer inner"));
		});
		assertThat(this.events).containsExactly("outer one", "inner one", "key one", "key sent other to orders/2 at 1",
				"inner sent other to orders/2 at 1", "outer sent other to orders/2 at 1");
	}

	@Test
	void selectorSeesTheRecordOfTheInterceptors() {
		KeyedShardTemplate template = template(adding("outer"));

		template.with((topic, record, shards) -> record.headers().get("by").length() % shards)
			.send("orders", Outgoing.of("one"));

		assertThat(this.appender.records()).extracting((record) -> record.shard().id()).containsExactly("1");
	}

	@Test
	void exceptionOfAnInterceptorIsThatOfTheSend() {
		KeyedShardTemplate template = template(adding("outer"), refusing("two"), adding("inner"));

		assertThatIllegalArgumentException().isThrownBy(() -> template.send("orders", "a", "two"))
			.withMessage("caused by the test");
		assertThatIllegalArgumentException().isThrownBy(() -> template.sendAsync("orders", "a", "two"));
		assertThatIllegalArgumentException().isThrownBy(() -> template.prepare("orders", Outgoing.of("two")));
		assertThat(this.appender.records()).isEmpty();
		assertThat(this.events).contains("outer failed two: caused by the test").doesNotContain("inner two");
		template.flush();
	}

	/** Those before the refused one have begun. */
	@Test
	void refusedRecordKeepsTheOthersOfItsListFromBeingSent() {
		KeyedShardTemplate template = template(adding("outer"), refusing("two"));

		assertThatIllegalArgumentException().isThrownBy(() -> template.sendAll("orders",
				List.of(Outgoing.of("one"), Outgoing.of("two"), Outgoing.of("three"))));

		assertThat(this.appender.records()).isEmpty();
		assertThat(this.events).containsExactly("outer one", "refusing one", "outer two", "refusing two",
				"outer failed two: caused by the test", "refusing failed one: caused by the test",
				"outer failed one: caused by the test");
	}

	@Test
	void recordThatIsNotValidFailsAfterTheInterceptors() {
		KeyedShardTemplate template = template(adding("outer"));

		assertThatExceptionOfType(RecordTooLargeException.class)
			.isThrownBy(() -> template.send("orders", "a", "x".repeat(MAX_BYTES)));
		assertThat(this.events).hasSize(2).element(1).asString().startsWith("outer failed xxx");
	}

	@Test
	void failureOfTheSourceIsToldOnce() {
		KeyedShardTemplate template = template(adding("outer"));
		this.appender.failWith(new SendFailedException("away, caused by the test", null, true));

		CompletableFuture<Appended> sent = template.sendAsync("orders", "a", "one");

		assertThat(sent).isCompletedExceptionally();
		assertThat(this.events).containsExactly("outer one", "outer failed one: away, caused by the test");
	}

	@Test
	void resultIsToldWhenItComes() {
		ManualAppender slow = new ManualAppender(false);
		KeyedShardTemplate template = template(slow, adding("outer"));

		CompletableFuture<Appended> sent = template.sendAsync("orders", new Outgoing("a", "one").toShard(3));
		assertThat(this.events).containsExactly("outer one");
		slow.answerAll();

		assertThat(sent).isCompletedWithValue(new Appended(ShardId.of("orders", 3), new Offset("1")));
		assertThat(this.events).containsExactly("outer one", "outer sent one to orders/3 at 1");
	}

	@Test
	void interceptorThatFailsWithAResultHasNoEffect(CapturedOutput output) {
		KeyedShardTemplate template = template(adding("outer"), new ShardSendInterceptor() {

			@Override
			public Outgoing sending(String topic, Outgoing record) {
				return record;
			}

			@Override
			public void sent(String topic, Outgoing record, Appended appended) {
				throw new AssertionError("caused by the test");
			}

		});

		template.send("orders", "a", "one");
		template.send("orders", "a", "two");

		assertThat(this.events).hasSize(4).anyMatch((event) -> event.startsWith("outer sent two"));
		assertThat(output).containsOnlyOnce("has failed with a result; records are sent all the same");
	}

	@Test
	void interceptorThatReturnsNothingIsNamed() {
		KeyedShardTemplate template = template(adding("outer"), (topic, record) -> null);

		assertThatNullPointerException().isThrownBy(() -> template.send("orders", "a", "one"))
			.withMessageContaining("SendInterceptorsTests")
			.withMessageEndingWith(".sending has returned null");
		assertThat(this.events).hasSize(2).element(1).asString().startsWith("outer failed one");
	}

	private KeyedShardTemplate template(ShardSendInterceptor... interceptors) {
		return template(this.appender, interceptors);
	}

	private static KeyedShardTemplate template(ManualAppender appender, ShardSendInterceptor... interceptors) {
		return new KeyedShardTemplate(SendTopics.of(() -> Map.of("orders", TopicShards.count(4)), appender),
				new JsonPayloadConverter(new JsonMapper()), new SendSettings(100, 10, MAX_BYTES), Map.of(), null,
				SendInterceptors.of(List.of(interceptors)), SendObserver.NONE, DuplicateSendListener.NONE);
	}

	private ShardSendInterceptor adding(String name) {
		return new Telling(name, (topic, record) -> record.withHeader("by",
				record.headers().containsKey("by") ? record.headers().get("by") + " " + name : name));
	}

	private ShardSendInterceptor refusing(String payload) {
		return new Telling("refusing", (topic, record) -> {
			if (record.payload().equals(payload)) {
				throw new IllegalArgumentException("caused by the test");
			}
			return record;
		});
	}

	private final class Telling implements ShardSendInterceptor {

		private final String name;

		private final ShardSendInterceptor change;

		Telling(String name, ShardSendInterceptor change) {
			this.name = name;
			this.change = change;
		}

		@Override
		public Outgoing sending(String topic, Outgoing record) {
			SendInterceptorsTests.this.events.add(this.name + " " + record.payload());
			return this.change.sending(topic, record);
		}

		@Override
		public void sent(String topic, Outgoing record, Appended appended) {
			SendInterceptorsTests.this.events.add("%s sent %s to %s at %s".formatted(this.name, record.payload(),
					appended.shard(), appended.offset()));
		}

		@Override
		public void failed(String topic, Outgoing record, Throwable failure) {
			SendInterceptorsTests.this.events
				.add("%s failed %s: %s".formatted(this.name, record.payload(), failure.getMessage()));
		}

	}

}
