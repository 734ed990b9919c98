package io.github.shardkeeper.benchmarks.consuming;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.github.shardkeeper.benchmarks.KafkaProcess;
import io.github.shardkeeper.benchmarks.RedisProcess;
import io.github.shardkeeper.test.EmbeddedKafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * All contenders read the same records, and handle every record once.
 */
class ConsumingContenderTests {

	private static final int SHARDS = 3;

	private static final int RECORDS_PER_SHARD = 700;

	private static RedisProcess redis;

	private static EmbeddedKafka kafka;

	private static Streams streams;

	private static Partitions partitions;

	@BeforeAll
	static void fill() throws Exception {
		redis = RedisProcess.start();
		kafka = KafkaProcess.start(Map.of("group.initial.rebalance.delay.ms", "0"));
		partitions = new Partitions(kafka, redis, "records-in-kafka", SHARDS, RECORDS_PER_SHARD);
		partitions.fill();
		streams = new Streams(redis, "records", SHARDS, RECORDS_PER_SHARD);
		streams.fill();
	}

	@AfterAll
	static void stop() {
		kafka.close();
		redis.close();
	}

	@ParameterizedTest
	@MethodSource("all")
	void everyContenderHandlesEveryRecordOnce(Contender<? super Streams> contender) throws Exception {
		verify(contender, streams);
	}

	static List<Contender<? super Streams>> all() {
		return ConsumingBenchmark.contenders();
	}

	@ParameterizedTest
	@MethodSource("ofKafka")
	void everyContenderHandlesEveryRecordOfKafkaOnce(Contender<? super Partitions> contender) throws Exception {
		verify(contender, partitions);
	}

	static List<Contender<? super Partitions>> ofKafka() {
		return ConsumingBenchmark.kafkaContenders();
	}

	private static <R extends Records> void verify(Contender<? super R> contender, R records) throws Exception {
		long begun = System.nanoTime();
		// Fails where one is missing, out of order or handled twice.
		Tally tally = ConsumingBenchmark.once(contender, records);

		// The first and the last record were handled in between.
		double slowest = SHARDS * RECORDS_PER_SHARD * 1e9 / (System.nanoTime() - begun);
		assertThat(tally.rate()).isGreaterThanOrEqualTo(slowest).isFinite();
	}

	@Test
	void aTallySeesWhatIsHandledOutOfOrderOrTwice() {
		Tally swapped = new Tally(1, 3);
		for (int number : new int[] { 0, 2, 1 }) {
			swapped.handled(Tally.payload(0, number, 100));
		}
		Tally repeated = new Tally(1, 2);
		for (int number : new int[] { 0, 0, 1 }) {
			repeated.handled(Tally.payload(0, number, 100));
		}

		assertThatIllegalStateException().isThrownBy(swapped::verify).withMessageStartingWith("1 records handled out");
		assertThatIllegalStateException().isThrownBy(repeated::verify).withMessageContaining(" 1 more than once");
	}

	@Test
	void aTallyOfKeysSeesOnlyTheOrderOfEachKey() {
		Tally interleaved = new Tally(1, 4, 2);
		for (int number : new int[] { 1, 0, 3, 2 }) {
			interleaved.handled(Tally.payload(0, number, 100));
		}
		Tally swapped = new Tally(1, 4, 2);
		for (int number : new int[] { 2, 1, 0, 3 }) {
			swapped.handled(Tally.payload(0, number, 100));
		}

		interleaved.verify();
		assertThatIllegalStateException().isThrownBy(swapped::verify).withMessageStartingWith("1 records handled out");
	}

	@Test
	void aTallySeesWhatIsMissing() {
		Tally tally = new Tally(2, 1);
		tally.handled(Tally.payload(1, 0, 100));

		assertThatIllegalStateException().isThrownBy(tally::verify).withMessageContaining("unfinished: 1");
	}

}
