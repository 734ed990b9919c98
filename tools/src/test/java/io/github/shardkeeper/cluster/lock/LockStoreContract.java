package io.github.shardkeeper.cluster.lock;

import java.time.Duration;
import java.util.Map;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.cluster.ClusterContract;
import io.github.shardkeeper.cluster.lock.LockStore.Outcome;
import io.github.shardkeeper.cluster.lock.LockStore.Reply;
import io.github.shardkeeper.cluster.lock.LockStore.Request;
import io.github.shardkeeper.cluster.session.ViewStore;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Token;

import static org.assertj.core.api.Assertions.assertThat;

/** What each store of locks does. */
public abstract class LockStoreContract extends ClusterContract {

	private static final Duration NONE = Duration.ZERO;

	private static final Duration HOUR = Duration.ofHours(1);

	protected abstract LockStore locks();

	protected abstract ViewStore views();

	@Test
	protected final void freeLockIsGranted() {
		MemberId a = join("a");

		Reply reply = acquire(a, "one.1");

		assertThat(reply.outcome()).isEqualTo(Outcome.GRANTED);
		assertThat(reply.token()).isGreaterThan(Token.NONE);
		assertThat(reply.millis()).isEqualTo(-1);
		assertThat(locks().held(a)).containsEntry("l", "one.1");
	}

	@Test
	protected final void repeatedQuestionHasTheSameAnswer() {
		MemberId a = join("a");

		Reply reply = acquire(a, "one.1");

		assertThat(acquire(a, "one.1")).isEqualTo(reply);
	}

	@Test
	protected final void heldLockIsNotGrantedToAnotherTicket() {
		MemberId a = join("a");
		acquire(a, "one.1");

		assertThat(acquire(a, "one.2")).isEqualTo(Reply.held(-1));
		assertThat(acquire(join("b"), "two.1")).isEqualTo(Reply.held(-1));
		assertThat(locks().held(a)).doesNotContainEntry("l", "one.2");
	}

	@Test
	protected final void otherLockIsFree() {
		MemberId a = join("a");
		acquire(a, "one.1");

		assertThat(locks().acquire(new Request(a, "l2", "one.2", NONE, NONE, true)).outcome())
			.isEqualTo(Outcome.GRANTED);
	}

	@Test
	protected final void tokensGrow() {
		MemberId a = join("a");
		Token last = Token.NONE;
		for (int i = 0; i < 100; i++) {
			Token token = acquire(a, "one." + i).token();
			assertThat(token).isGreaterThan(last);
			last = token;
			assertThat(release(a, "one." + i)).isTrue();
		}
	}

	@Test
	protected final void onlyItsHolderReleasesIt() {
		MemberId a = join("a");
		MemberId b = join("b");
		acquire(a, "one.1");

		assertThat(release(a, "one.2")).isFalse();
		assertThat(release(b, "one.1")).isFalse();
		assertThat(locks().held(a)).containsEntry("l", "one.1");
		assertThat(release(a, "one.1")).isTrue();
		assertThat(release(a, "one.1")).isFalse();
	}

	@Test
	protected final void releaseGivesItToTheFirstThatWaitsAndTellsIt() {
		MemberId a = join("a");
		MemberId b = join("b");
		Token first = acquire(a, "one.1").token();
		acquire(b, "two.1");
		acquire(b, "two.2");

		release(a, "one.1");

		String[] message = received("two").split("\\|");
		assertThat(message).startsWith("lock", "l", "two.1").hasSize(5);
		assertThat(new Token(Long.parseLong(message[3]))).isGreaterThan(first);
		assertThat(message[4]).isEqualTo(b.value());
		assertThat(acquire(b, "two.1")).isEqualTo(Reply.granted(new Token(Long.parseLong(message[3])), -1));
		assertThat(acquire(b, "two.2").outcome()).isEqualTo(Outcome.HELD);
		assertThat(waitingAt("one")).isEmpty();
	}

	@Test
	protected final void locksAreGrantedInTheOrderOfAsking() {
		MemberId a = join("a");
		acquire(a, "one.0");
		for (int i = 1; i <= 25; i++) {
			acquire(a, "one." + i);
			// Keeps its place.
			acquire(a, "one.1");
		}

		for (int i = 0; i < 25; i++) {
			assertThat(release(a, "one." + i)).isTrue();
			assertThat(received("one")).startsWith("lock|l|one." + (i + 1) + "|");
		}
	}

	@Test
	protected final void whoDoesNotWaitOvertakesNobody() {
		MemberId a = join("a");
		MemberId b = join("b");
		acquire(a, "one.1");
		acquire(b, "two.1");
		acquire(b, "two.2");
		release(a, "one.1");

		assertThat(received("two")).startsWith("lock|l|two.1|");
		assertThat(locks().acquire(new Request(a, "l", "one.2", NONE, NONE, false)).outcome()).isEqualTo(Outcome.HELD);
	}

	@Test
	protected final void whoGivesUpGetsNothing() {
		MemberId a = join("a");
		acquire(a, "one.1");
		acquire(a, "one.2");
		acquire(a, "one.3");

		assertThat(release(a, "one.2")).isFalse();
		release(a, "one.1");

		assertThat(received("one")).startsWith("lock|l|one.3|");
	}

	@Test
	protected final void whoDoesNotWaitIsNotRemembered() {
		MemberId a = join("a");
		acquire(a, "one.1");

		assertThat(locks().acquire(new Request(a, "l", "one.2", NONE, NONE, false))).isEqualTo(Reply.held(-1));
		release(a, "one.1");

		assertThat(acquire(a, "one.3").outcome()).isEqualTo(Outcome.GRANTED);
		assertThat(waitingAt("one")).isEmpty();
	}

	@Test
	protected final void sessionWithoutALeaseGetsNoLock() {
		MemberId silent = join("silent");
		fallSilent(silent);

		assertThat(acquire(silent, "one.1")).isEqualTo(Reply.NO_SESSION);
		assertThat(acquire(MemberId.of("stranger", "1"), "one.1")).isEqualTo(Reply.NO_SESSION);
		beat(silent);
		assertThat(acquire(silent, "one.1").outcome()).isEqualTo(Outcome.GRANTED);
	}

	@Test
	protected final void silentHolderKeepsItsLock() {
		MemberId silent = join("silent");
		MemberId a = join("a");
		acquire(silent, "one.1");
		fallSilent(silent);

		assertThat(acquire(a, "two.1").outcome()).isEqualTo(Outcome.HELD);
	}

	@Test
	protected final void silentSessionIsPassedOverAndKeepsItsPlace() {
		MemberId a = join("a");
		MemberId silent = join("silent");
		acquire(a, "one.1");
		acquire(silent, "one.2");
		acquire(a, "two.1");
		fallSilent(silent);

		release(a, "one.1");

		assertThat(received("two")).startsWith("lock|l|two.1|");
		beat(silent);
		release(a, "two.1");
		assertThat(received("one")).startsWith("lock|l|one.2|");
	}

	@Test
	protected final void lockOfASessionThatIsOverIsFree() {
		MemberId a = join("a");
		MemberId b = join("b");
		Token lost = acquire(a, "one.1").token();
		leave(a);

		assertThat(locks().held(a)).containsEntry("l", "one.1");
		Reply reply = acquire(b, "two.1");

		assertThat(reply.outcome()).isEqualTo(Outcome.GRANTED);
		assertThat(reply.token()).isGreaterThan(lost);
		assertThat(release(a, "one.1")).isFalse();
	}

	@Test
	protected final void firstReaderOfTheViewGivesLocksOfGoneMembersToThoseThatWait() {
		MemberId a = join("a");
		MemberId b = join("b");
		MemberId c = join("c");
		acquire(a, "one.1");
		acquire(c, "one.2");
		acquire(b, "two.1");
		views().read(b, "one");
		assertThat(received("two")).startsWith("view|");
		leave(a);
		leave(c);

		views().read(b, "one");

		assertThat(received("two")).startsWith("view|");
		assertThat(received("two")).startsWith("lock|l|two.1|");
		release(b, "two.1");
		assertThat(acquire(b, "two.2").outcome()).isEqualTo(Outcome.GRANTED);
	}

	@Test
	protected final void lockIsFreeAfterItsMostTime() {
		MemberId a = join("a");
		MemberId b = join("b");
		Token first = locks().acquire(new Request(a, "l", "one.1", NONE, SHORT, true)).token();

		acquire(b, "two.1");
		advance(SHORT.plusMillis(1));

		Reply reply = acquire(b, "two.1");
		assertThat(reply.outcome()).isEqualTo(Outcome.GRANTED);
		assertThat(reply.token()).isGreaterThan(first);
		assertThat(release(a, "one.1")).isFalse();
		assertThat(locks().held(b)).containsEntry("l", "two.1");
	}

	@Test
	protected final void lockIsNotFreeBeforeItsMostTime() {
		MemberId a = join("a");
		MemberId b = join("b");
		locks().acquire(new Request(a, "l", "one.1", NONE, HOUR, true));

		Reply held = acquire(b, "two.1");

		assertThat(held.outcome()).isEqualTo(Outcome.HELD);
		assertThat(held.millis()).isBetween(HOUR.toMillis() - 60_000, HOUR.toMillis());
	}

	@Test
	protected final void grantSaysWhenItEnds() {
		MemberId a = join("a");

		assertThat(locks().acquire(new Request(a, "l", "one.1", NONE, HOUR, true)).millis()).isEqualTo(HOUR.toMillis());
		assertThat(locks().acquire(new Request(a, "l", "one.1", NONE, HOUR, true)).millis())
			.isBetween(HOUR.toMillis() - 60_000, HOUR.toMillis());
	}

	@Test
	protected final void lockIsNotFreeBeforeItsLeastTime() {
		MemberId a = join("a");
		MemberId b = join("b");
		locks().acquire(new Request(a, "l", "one.1", HOUR, NONE, true));
		assertThat(acquire(b, "two.1")).isEqualTo(Reply.held(-1));
		assertThat(release(a, "one.1")).isTrue();

		String[] message = received("two").split("\\|");
		assertThat(message).startsWith("lockfree", "l", "two.1").hasSize(4);
		assertThat(Long.parseLong(message[3])).isBetween(HOUR.toMillis() - 60_000, HOUR.toMillis());
		assertThat(acquire(a, "one.2").outcome()).isEqualTo(Outcome.HELD);
	}

	@Test
	protected final void lockIsFreeAfterItsLeastTime() {
		MemberId a = join("a");
		MemberId b = join("b");
		locks().acquire(new Request(a, "l", "one.1", SHORT, NONE, true));
		assertThat(acquire(b, "two.1")).isEqualTo(Reply.held(-1));
		assertThat(release(a, "one.1")).isTrue();

		advance(SHORT.plusMillis(1));

		assertThat(acquire(b, "two.1").outcome()).isEqualTo(Outcome.GRANTED);
	}

	@Test
	protected final void leastTimeHoldsAlsoIfTheHolderIsGone() {
		MemberId a = join("a");
		MemberId b = join("b");
		locks().acquire(new Request(a, "l", "one.1", HOUR, NONE, true));
		leave(a);
		views().read(b, "one");

		Reply reply = acquire(b, "two.1");

		assertThat(reply.outcome()).isEqualTo(Outcome.HELD);
		assertThat(reply.millis()).isBetween(1L, HOUR.toMillis());
	}

	@Test
	protected final void nothingIsGrantedWhileMembersMayStillHoldWhatWasLost() {
		MemberId a = join("a");
		acquire(a, "one.1");
		server().empty();
		MemberId b = join("b");

		Reply reply = acquire(b, "two.1");

		assertThat(reply.outcome()).isEqualTo(Outcome.HELD);
		assertThat(reply.millis()).isPositive();
		endClaims(b);
		assertThat(acquire(b, "two.1").outcome()).isEqualTo(Outcome.GRANTED);
		assertThat(locks().held(a)).doesNotContainEntry("l", "one.1");
	}

	@Test
	protected final void tokensGrowAlsoAfterALossOfWrites() {
		MemberId a = join("a");
		Object snapshot = server().snapshot();
		Token lost = acquire(a, "one.1").token();
		server().loseWritesSince(snapshot);
		// A failover takes time.
		advance(Duration.ofMillis(1));

		assertThat(locks().held(a)).doesNotContainEntry("l", "one.1");
		assertThat(acquire(a, "one.2").token()).isGreaterThan(lost);
	}

	@Test
	protected final void lostReleaseIsRepeated() {
		MemberId a = join("a");
		acquire(a, "one.1");
		Object snapshot = server().snapshot();
		release(a, "one.1");
		server().loseWritesSince(snapshot);

		assertThat(release(a, "one.1")).isTrue();
	}

	@Test
	protected final void nobodyWaitsForAFreeLock() {
		MemberId a = join("a");
		acquire(a, "one.1");
		acquire(a, "one.2");
		Object snapshot = server().snapshot();
		release(a, "one.1");
		received("one");
		release(a, "one.2");
		// The message is sent again.
		server().loseWritesSince(snapshot);
		release(a, "one.1");
		assertThat(received("one")).startsWith("lock|l|one.2|");

		acquire(a, "one.3");
		assertThat(locks().check(Map.of("one.2", "l", "one.3", "l", "one.9", "free"))).as("do not wait")
			.containsExactlyInAnyOrder("one.2", "one.9");

		assertThat(locks().held(a)).containsEntry("l", "one.2");
		assertThat(waitingAt("one")).isEmpty();
	}

	@Test
	protected final void heldLocksAreThoseOfTheSession() {
		MemberId a = join("a");
		MemberId b = join("b");
		acquire(a, "one.1");
		acquire(b, "two.1");
		locks().acquire(new Request(a, "l2", "one.2", NONE, HOUR, true));

		assertThat(locks().held(a)).containsOnly(Map.entry("l", "one.1"), Map.entry("l2", "one.2"));
		assertThat(locks().held(b)).isEmpty();
	}

	private Reply acquire(MemberId session, String ticket) {
		return locks().acquire(new Request(session, "l", ticket, NONE, NONE, true));
	}

	private boolean release(MemberId session, String ticket) {
		return locks().release(session, "l", ticket);
	}

}
