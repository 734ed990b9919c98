package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.protocol.member.HoldingAction.Forfeit;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.CapturesOutput;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;

import static io.github.shardkeeper.worker.ConsumingShard.SHARD;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two masters in a partition have both accepted commits of a shard, and one of them is
 * left: the worker that detects it reports it once, with both sides' data. A store that
 * has only lost writes gets them back, and has one history.
 */
@CapturesOutput
@Promise("State exactly once")
class TwoHistoriesTests {

	private static final Token LOWER = new Token(50);

	private static final Token OURS = new Token(100);

	private static final Token HIGHER = new Token(200);

	private static final String TWO_HISTORIES = "two histories";

	private final ConsumingShard shard = new ConsumingShard(new Counter(),
			new TestSettings().commits(CommitMode.BATCH, Duration.ofSeconds(1), 500));

	/** Before the partition; the first owner has committed up to 2. */
	private Object common;

	private void commitUpTo5BeforeTheStoreIsReplaced() {
		this.shard.deliver(1, 2);
		this.common = this.shard.checkpoints().snapshot();
		this.shard.restart(OURS);
		this.shard.deliver(3, 5);
		assertThat(this.shard.checkpoint().offset()).isEqualTo(new Offset("5"));
	}

	/** The master that is left after the partition. */
	private void replaceTheStoreByTheOtherMaster() {
		this.shard.checkpoints().loseWritesSince(this.common);
	}

	private void othersCommit(Token token, long number, String offset) {
		this.shard.checkpoints().acquireNow(SHARD, token);
		assertThat(this.shard.checkpoints()
			.store()
			.commit(SHARD, token, Commit.of(CommitNumber.ofWhole(number), new Offset(offset), Map.of("n", "3")))
			.join()).isEqualTo(CommitReply.COMMITTED);
	}

	/** They have got it after the partition. */
	@ParameterizedTest
	@ValueSource(strings = { "told", "fenced", "acquiring" })
	void ownerWithTheLowerTokenReportsItsLostCommits(String how, CapturedOutput output) {
		commitUpTo5BeforeTheStoreIsReplaced();
		replaceTheStoreByTheOtherMaster();
		othersCommit(HIGHER, 1, "3");
		switch (how) {
			case "told" -> this.shard.worker().forfeit(Forfeit.Cause.TAKEN_OVER);
			case "fenced" -> this.shard.deliver(6, 6);
			default -> this.shard.worker().writeBack();
		}
		this.shard.run();
		this.shard.worker().forfeit(Forfeit.Cause.TAKEN_OVER);
		this.shard.run();

		assertThat(output).containsOnlyOnce(" ERROR ")
			.contains("orders/1 has two histories: the commits of this instance, up to offset 5 under token 100, are "
					+ "not in the store, which is at offset 3 under token 200", "min-replicas-to-write");
		assertThat(this.shard.checkpoint().offset()).isEqualTo(new Offset("3"));
		assertThat(this.shard.worker().ended()).isCompleted();
	}

	/** No new owner has acquired it on the other side, but its owner there has. */
	@Test
	void lostCommitsAreReportedBeforeTheNewOwnerCommits(CapturedOutput output) {
		commitUpTo5BeforeTheStoreIsReplaced();
		replaceTheStoreByTheOtherMaster();
		this.shard.worker().forfeit(Forfeit.Cause.TAKEN_OVER);
		this.shard.run();

		assertThat(output).containsOnlyOnce(" ERROR ")
			.contains("up to offset 5 under token 100, are not in the store, which is at offset 2 under token 1");
	}

	@Test
	void ownerWithTheHigherTokenReportsTheOverwrittenHistory(CapturedOutput output) {
		commitUpTo5BeforeTheStoreIsReplaced();
		replaceTheStoreByTheOtherMaster();
		othersCommit(LOWER, 1, "3");
		this.shard.deliver(6, 6);

		assertThat(output).containsOnlyOnce(" ERROR ")
			.contains(
					"orders/1 has two histories: another instance has committed it up to offset 3 under token 50, and "
							+ "this one, which has not seen that, up to offset 5 under token 100. The latter token is higher, so "
							+ "the state of this instance, 1 entries at offset 6, overwrites the other one",
					"min-replicas-to-write");
		assertThat(this.shard.checkpoint().offset()).isEqualTo(new Offset("6"));
		this.shard.deliver(7, 9);
		this.shard.worker().writeBack();
		this.shard.run();
		assertThat(output).containsOnlyOnce(" ERROR ");
	}

	/** On the other side it has never moved. */
	@Test
	void overwrittenHistoryUnderAnEarlierTokenIsReported(CapturedOutput output) {
		commitUpTo5BeforeTheStoreIsReplaced();
		replaceTheStoreByTheOtherMaster();
		othersCommit(new Token(1), 1009, "4");
		this.shard.deliver(6, 6);

		assertThat(output).containsOnlyOnce(" ERROR ")
			.contains("another instance has committed it up to offset 4 under token 1,",
					"up to offset 5 under token 100");
	}

	@Test
	void overwrittenHistoryIsReportedAfterALostAnswer(CapturedOutput output) {
		commitUpTo5BeforeTheStoreIsReplaced();
		replaceTheStoreByTheOtherMaster();
		othersCommit(LOWER, 1, "3");
		this.shard.checkpoints().acquireNow(SHARD, OURS);
		this.shard.deliver(6, 6);

		assertThat(output).containsOnlyOnce(" ERROR ").contains("up to offset 3 under token 50");
	}

	@Test
	void lostWritesAreNotTwoHistories(CapturedOutput output) {
		commitUpTo5BeforeTheStoreIsReplaced();
		replaceTheStoreByTheOtherMaster();
		this.shard.deliver(6, 6);
		assertThat(output).contains("was written back at offset 6");

		this.shard.checkpoints().empty();
		this.shard.deliver(7, 7);
		assertThat(output).contains("was written back at offset 7").doesNotContain(TWO_HISTORIES, " ERROR ");
	}

	@Test
	void ownerWithoutCommitsIsNoSecondHistory(CapturedOutput output) {
		commitUpTo5BeforeTheStoreIsReplaced();
		replaceTheStoreByTheOtherMaster();
		this.shard.checkpoints().acquireNow(SHARD, LOWER);
		this.shard.deliver(6, 6);

		assertThat(output).contains("was written back at offset 6").doesNotContain(TWO_HISTORIES);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void orderlyHandoverIsOneHistory(boolean told, CapturedOutput output) {
		commitUpTo5BeforeTheStoreIsReplaced();
		othersCommit(HIGHER, 1, "7");
		if (told) {
			this.shard.worker().forfeit(Forfeit.Cause.TAKEN_OVER);
			this.shard.run();
		}
		else {
			this.shard.deliver(6, 6);
		}

		assertThat(this.shard.worker().ended()).isCompleted();
		assertThat(output).doesNotContain(TWO_HISTORIES, " ERROR ");
	}

	@Test
	void unreadableHistoryIsAWarning(CapturedOutput output) {
		commitUpTo5BeforeTheStoreIsReplaced();
		this.shard.checkpoints().setAway(true);
		this.shard.worker().forfeit(Forfeit.Cause.TAKEN_OVER);
		this.shard.run();

		assertThat(this.shard.worker().ended()).isCompleted();
		assertThat(output).contains("Cannot check whether the store still has the commits of orders/1 under token 100")
			.doesNotContain(" ERROR ");
	}

	static final class Counter {

		@ShardConsumer("orders")
		void handle(String payload, ShardState state) {
			state.increment("n", 1);
		}

	}

}
