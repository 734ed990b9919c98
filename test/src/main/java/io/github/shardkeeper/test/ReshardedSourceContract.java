package io.github.shardkeeper.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ShardSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Contract of a {@link ShardSource} whose shards can be closed and split while it is
 * open. Confined to the thread of the test.
 */
public abstract class ReshardedSourceContract extends ShardSourceContract {

	/**
	 * Closes a shard and adds two children of it.
	 * @param source the source
	 * @param shard the shard
	 * @return the children
	 */
	protected abstract List<ShardId> split(ShardSource source, ShardId shard);

	@Test
	void splitShardEndsAfterItsLastRecord() {
		append(SHARD, 1, 1200);
		RecordingSink sink = start(SHARD, null);
		split(source(), SHARD);

		sink.await(1200);
		await().until(() -> sink.ends() == 1);
		assertThat(sink.deliveredAtEnd()).isEqualTo(1200);
		// A delivery shows that polls have continued since.
		ShardId other = ShardId.of("orders", 1);
		append(other, 1, 1);
		start(other, null).await(1);
		assertThat(sink.ends()).as("notified once").isEqualTo(1);
	}

	@Test
	void shardSplitDuringWaitingPollEndsAtOnce() {
		for (int number = 0; number < 5; number++) {
			ShardId shard = ShardId.of("orders", number);
			RecordingSink sink = start(shard, null);
			awaitWaiting();
			split(source(), shard);

			awaitAtOnce(() -> sink.ends() == 1);
		}
		assertMostWereDeliveredAtOnce();
	}

	@Test
	void closedShardEndsWhenStartedAfterItsLastRecord() {
		List<Offset> offsets = append(SHARD, 1, 3);
		split(source(), SHARD);
		awaitWaiting();
		RecordingSink sink = start(SHARD, offsets.get(2));

		await().until(() -> sink.ends() == 1);
		assertThat(sink.deliveredAtEnd()).isZero();
	}

	@Test
	void fullSinkIsNotifiedOfTheEndAfterResume() {
		RecordingSink sink = new RecordingSink(false);
		reader().start(SHARD, null, sink);
		append(SHARD, 1, 1);
		sink.await(1);
		split(source(), SHARD);
		awaitWaiting();
		assertThat(sink.ends()).isZero();

		reader().resume(SHARD);
		await().until(() -> sink.ends() == 1);
	}

	@Test
	void stoppedSinkIsNotNotifiedOfTheEnd() {
		RecordingSink sink = start(SHARD, null);
		reader().stop(SHARD);
		split(source(), SHARD);
		awaitWaiting();

		assertThat(sink.ends()).isZero();
	}

	@Test
	void topicsListChildrenAndParentBeforeWatchIsNotified() throws InterruptedException {
		BlockingQueue<TopicShards> seen = new LinkedBlockingQueue<>();
		ShardSource.Watch watch = source().watch(() -> seen.add(source().topics().get("orders")));
		List<ShardId> children = split(source(), SHARD);

		// A source may also notify for other reasons, such as a newer list of the same.
		TopicShards listed = seen.poll(10, TimeUnit.SECONDS);
		while (listed != null && listed.parents(children.get(0).id()).isEmpty()) {
			listed = seen.poll(10, TimeUnit.SECONDS);
		}
		watch.close();
		assertThat(listed).isNotNull();
		List<String> parents = new ArrayList<>();
		for (ShardId child : children) {
			parents.addAll(listed.parents(child.id()));
		}
		assertThat(parents).containsExactly(SHARD.id(), SHARD.id());
		assertThat(listed.contains(SHARD.id())).as("it can still be read").isTrue();
	}

	@Test
	void childrenAreRead() {
		ShardId child = split(source(), SHARD).get(1);
		append(child, 1, 3);

		assertThat(payloads(start(child, null).await(3))).containsExactly("r1", "r2", "r3");
	}

}
