package io.github.shardkeeper.kafka;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.internals.KafkaFutureImpl;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.kafka.client.DirectoryContents.Described;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyMap;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * What is asked, and what is waited for. The replies are made up: brokers reply too soon
 * for that.
 */
@Timeout(60)
class FirstSendCheckTests {

	private final Admin admin = mock(Admin.class);

	/** By partition the reply to the last question. */
	private final Map<Integer, KafkaFutureImpl<ListOffsetsResultInfo>> replies = new ConcurrentHashMap<>();

	/** By request the numbers of the partitions that it names. */
	private final List<Set<Integer>> requests = new CopyOnWriteArrayList<>();

	private final Described topic = new Described(Uuid.randomUuid(), 3, Map.of());

	@BeforeEach
	void reply() {
		given(this.admin.listOffsets(anyMap(), any())).willAnswer((call) -> {
			Map<TopicPartition, KafkaFuture<ListOffsetsResultInfo>> futures = new HashMap<>();
			Set<Integer> numbers = new TreeSet<>();
			call.<Map<TopicPartition, ?>>getArgument(0).keySet().forEach((partition) -> {
				KafkaFutureImpl<ListOffsetsResultInfo> future = new KafkaFutureImpl<>();
				futures.put(partition, future);
				this.replies.put(partition.partition(), future);
				numbers.add(partition.partition());
			});
			this.requests.add(numbers);
			return new ListOffsetsResult(futures);
		});
	}

	@Test
	void leaderIsWaitedForUntilItAnswersAndAskedOnce() throws Exception {
		FirstSendCheck check = new FirstSendCheck(() -> this.admin, Duration.ofMinutes(10));
		Thread waiting = new Thread(() -> check.await(partition(0), this.topic));
		waiting.start();
		await().until(() -> waiting.getState() == Thread.State.TIMED_WAITING && !this.requests.isEmpty());
		succeed(0);
		waiting.join();
		check.await(partition(0), this.topic);

		assertThat(this.requests).containsExactly(Set.of(0, 1, 2));
	}

	@Test
	void silentLeaderIsWaitedForOnceAndDelaysNoOthers() {
		FirstSendCheck check = new FirstSendCheck(() -> this.admin, Duration.ofMillis(100));
		MonotonicTime before = MonotonicClock.SYSTEM.now();
		check.await(partition(0), this.topic);
		assertThat(before.until(MonotonicClock.SYSTEM.now())).isGreaterThanOrEqualTo(Duration.ofMillis(99));
		check.await(partition(0), this.topic);
		check.await(partition(1), this.topic);

		assertThat(this.requests).containsExactly(Set.of(0, 1, 2));
	}

	@Test
	void onlyPartitionsThatAreNewAreAsked() {
		FirstSendCheck check = new FirstSendCheck(() -> this.admin, Duration.ZERO);
		check.await(partition(0), this.topic);
		check.await(partition(3), new Described(this.topic.id(), 5, Map.of()));

		assertThat(this.requests).containsExactly(Set.of(0, 1, 2), Set.of(3, 4));
	}

	@Test
	void topicThatWasCreatedAgainIsAskedAgain() {
		FirstSendCheck check = new FirstSendCheck(() -> this.admin, Duration.ZERO);
		check.await(partition(0), this.topic);
		check.await(partition(0), new Described(Uuid.randomUuid(), 2, Map.of()));

		assertThat(this.requests).containsExactly(Set.of(0, 1, 2), Set.of(0, 1));
	}

	@Test
	void failureIsLeftToTheProducer() {
		FirstSendCheck check = new FirstSendCheck(() -> this.admin, Duration.ofMinutes(10));
		CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> check.await(partition(0), this.topic));
		await().until(() -> this.replies.containsKey(0));
		this.replies.get(0).completeExceptionally(new TopicAuthorizationException(Set.of("orders")));
		assertThat(waiting).succeedsWithin(Duration.ofSeconds(30));

		new FirstSendCheck(() -> {
			throw new StoreUnavailableException("closed", null);
		}, Duration.ofMinutes(10)).await(partition(0), this.topic);
	}

	private void succeed(int number) {
		this.replies.get(number).complete(new ListOffsetsResultInfo(0, 0, Optional.empty()));
	}

	private static TopicPartition partition(int number) {
		return new TopicPartition("orders", number);
	}

}
