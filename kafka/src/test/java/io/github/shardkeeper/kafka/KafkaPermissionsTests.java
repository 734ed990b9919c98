package io.github.shardkeeper.kafka;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.kafka.client.KafkaFailure;
import io.github.shardkeeper.kafka.client.KafkaTopic;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.test.EmbeddedKafka;
import io.github.shardkeeper.test.RecordingSink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

/**
 * Credentials that brokers refuse, and topics that they deny the access to.
 */
@Tag("proof")
class KafkaPermissionsTests {

	private static final ShardId SHARD = ShardId.of("orders", 0);

	/** Its users may do what somebody allows, "admin" everything. */
	private static final EmbeddedKafka KAFKA = EmbeddedKafka.builder()
		.user("alice", "secret")
		.user("bob", "secret")
		.user("admin", "admin")
		.setting("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer")
		.setting("super.users", "User:ANONYMOUS;User:admin")
		.start();

	@AfterAll
	static void close() {
		KAFKA.close();
	}

	private static Map<String, Object> propertiesOf(String user, String password) {
		Map<String, Object> properties = new HashMap<>(KAFKA.clientProperties());
		properties.putAll(EmbeddedKafka.credentials(user, password));
		return properties;
	}

	@Test
	void wrongCredentialsAreAProblemThatNamesTheProperties() throws Exception {
		Map<String, Object> admin = propertiesOf("admin", "admin");
		new Permissions(admin).createTopics("secret");
		Map<String, Object> wrong = propertiesOf("alice", "wrong-password");
		try (PolledSource source = PolledSource.of(wrong, "orders", KafkaTopic.named("secret"))) {
			assertThat(source.source().topics()).containsOnly(Map.entry("orders", TopicShards.NONE));
			assertThat(source.source().problems()).hasEntrySatisfying("orders",
					(problem) -> assertThat(problem).contains("does not accept the credentials")
						.contains("'spring.kafka.properties[sasl.jaas.config]'")
						.doesNotContain("wrong-password"));
			source.start(SHARD, null);
			await().until(() -> !source.failures().isEmpty());
			assertThat(source.failures().get(0)).isInstanceOfSatisfying(StoreUnavailableException.class,
					(failure) -> assertThat(failure.isRefusal()).isTrue());
		}
		try (PolledSource source = PolledSource.of(admin, "orders", KafkaTopic.named("secret"))) {
			source.append(SHARD, 1, 1);
			source.start(SHARD, null).await(1);
			assertThat(source.source().problems()).isEmpty();
		}
	}

	@Test
	void topicThatMayNotBeReadIsAProblemOfItsShardsOnly() throws Exception {
		Map<String, Object> admin = propertiesOf("admin", "admin");
		Map<String, Object> alice = propertiesOf("alice", "secret");
		Permissions permissions = new Permissions(admin);
		permissions.createTopics("open", "closed");
		permissions.allow("alice", "open", true);
		permissions.allow("alice", "closed", false);
		Map<String, KafkaTopic> topics = Map.of("open", KafkaTopic.named("open"), "closed", KafkaTopic.named("closed"));
		ShardId open = ShardId.of("open", 0);
		ShardId closed = ShardId.of("closed", 0);
		try (PolledSource source = new PolledSource(PolledSource.settings(alice, topics, null));
				PolledSource writer = new PolledSource(PolledSource.settings(admin, topics, null))) {
			RecordingSink closedSink = source.start(closed, null);
			RecordingSink openSink = source.start(open, null);
			await().untilAsserted(() -> assertThat(source.reader().problems()).hasEntrySatisfying(closed,
					(problem) -> assertThat(problem).contains("denies the access").contains("closed")));
			writer.append(open, 1, 3);
			assertThat(PolledSource.payloads(openSink.await(3))).containsExactly("r1", "r2", "r3");
			writer.append(closed, 1, 2);
			permissions.allow("alice", "closed", true);
			assertThat(PolledSource.payloads(closedSink.await(2))).containsExactly("r1", "r2");
			assertThat(source.reader().problems()).isEmpty();
			assertThat(source.failures()).isEmpty();
		}
	}

	@Test
	void sendingContinuesOnceItIsPermitted() throws Exception {
		Map<String, Object> admin = propertiesOf("admin", "admin");
		Map<String, Object> bob = propertiesOf("bob", "secret");
		Permissions permissions = new Permissions(admin);
		permissions.createTopics("written");
		permissions.allow("bob", "written", true);
		try (PolledSource source = PolledSource.of(bob, "orders", KafkaTopic.named("written"))) {
			source.source().topics();
			// Thrown by the call if the producer has heard of the refusal before, else by
			// the record's future.
			Throwable refused = catchThrowable(() -> source.append(SHARD, 1, 1));
			assertThat(KafkaFailure.unwrapped(refused))
				.isInstanceOfSatisfying(SendFailedException.class,
						(failure) -> assertThat(failure.mayHaveBeenAppended()).isFalse())
				.hasMessageContaining("denies the access");
			permissions.allow("bob", "written", AclOperation.WRITE);

			await().ignoreExceptions().untilAsserted(() -> assertThat(source.append(SHARD, 2, 2)).hasSize(1));
			assertThat(PolledSource.payloads(source.start(SHARD, null).await(1))).containsExactly("r2");
		}
	}

	@Test
	void topicOfAPatternThatMayNotBeDescribedAnyMoreIsAProblem() throws Exception {
		Map<String, Object> admin = propertiesOf("admin", "admin");
		Map<String, Object> alice = propertiesOf("alice", "secret");
		Permissions permissions = new Permissions(admin);
		permissions.createTopics("seen.a", "seen.b");
		permissions.allow("alice", "seen.a", true);
		permissions.allow("alice", "seen.b", true);
		ShardId shard = new ShardId("orders", "seen.b-0");
		TopicShards both = TopicShards.of(Map.of("seen.a-0", List.of(), "seen.b-0", List.of()));
		try (PolledSource source = PolledSource.of(alice, "orders",
				KafkaTopic.matching(Pattern.compile("seen\\..*")))) {
			assertThat(source.source().topics()).containsEntry("orders", both);
			RecordingSink sink = source.start(shard, null);
			permissions.withdraw("seen.b");
			await().untilAsserted(() -> assertThat(source.source().problems()).hasEntrySatisfying("orders",
					(problem) -> assertThat(problem).contains("denies the access").contains("seen.b")));
			await().untilAsserted(() -> assertThat(source.reader().problems()).containsKey(shard));
			assertThat(source.source().topics()).containsEntry("orders", both);

			permissions.allow("alice", "seen.b", true);
			await().untilAsserted(() -> assertThat(source.source().problems()).isEmpty());
			try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(admin, new ByteArraySerializer(),
					new ByteArraySerializer())) {
				producer.send(new ProducerRecord<>("seen.b", "r1".getBytes())).get();
			}
			assertThat(PolledSource.payloads(sink.await(1))).containsExactly("r1");
		}
	}

}
