package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.shard.Offset;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A reader that cannot be resumed yet: no record is skipped, and the request is repeated.
 */
class RecordIntakeTests {

	private static final TestSettings SMALL_BUFFER = new TestSettings().buffer(4, 1_000_000);

	private final List<String> handled = new ArrayList<>();

	@Test
	void intakeOfSingleRecords() {
		leavesNothingOut(new Object() {

			@ShardConsumer("orders")
			void handle(String payload) {
				RecordIntakeTests.this.handled.add(payload);
			}

		});
	}

	@Test
	void intakeOfLists() {
		leavesNothingOut(new Object() {

			@ShardConsumer("orders")
			void handle(List<String> payloads) {
				RecordIntakeTests.this.handled.addAll(payloads);
			}

		});
	}

	private void leavesNothingOut(Object bean) {
		ConsumingShard shard = new ConsumingShard(bean, SMALL_BUFFER);
		shard.reader().failNextResume();
		shard.deliver(1, 4);
		shard.deliver(5, 6);
		shard.pass(Duration.ofSeconds(10));

		assertThat(this.handled).containsExactly("r1", "r2", "r3", "r4", "r5", "r6");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("6"));
		assertThat(shard.reader().calls()).contains("resume");
		assertThat(shard.worker().problem()).isNull();
	}

}
