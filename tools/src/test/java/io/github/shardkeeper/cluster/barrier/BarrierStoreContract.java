package io.github.shardkeeper.cluster.barrier;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.cluster.ClusterContract;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Broken;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Busy;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Entered;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Lost;
import io.github.shardkeeper.cluster.barrier.BarrierStore.OtherParties;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Over;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Paused;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Reply;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Request;
import io.github.shardkeeper.cluster.barrier.BarrierStore.ViewChanged;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Waiting;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Withdrawn;
import io.github.shardkeeper.cluster.session.ViewStore;
import io.github.shardkeeper.shard.MemberId;

import static org.assertj.core.api.Assertions.assertThat;

/** What each store of double barriers does. */
public abstract class BarrierStoreContract extends ClusterContract {

	private static final String NAME = "nightly";

	protected abstract BarrierStore barriers();

	protected abstract ViewStore views();

	private Reply enter(MemberId party, int parties) {
		return barriers().enter(new Request(party, NAME, ticket(party, 1), parties, 0));
	}

	private Reply enterWithView(MemberId party, int parties, long view) {
		return barriers().enter(new Request(party, NAME, ticket(party, 1), parties, view));
	}

	private static String ticket(MemberId party, int number) {
		return "of-" + party.value().charAt(0) + "." + number;
	}

	private long entered(Reply reply) {
		assertThat(reply).isInstanceOf(Entered.class);
		return ((Entered) reply).round();
	}

	private Reply leaveRound(MemberId party, long round) {
		return barriers().leave(party, NAME, ticket(party, 1), round);
	}

	/** Reads the view as the others do when they hear that members have changed. */
	private long lookAtMembers(MemberId reader) {
		return views().read(reader, "one").number();
	}

	@Test
	protected final void allAreInWithTheLastParty() {
		MemberId a = join("a");
		MemberId b = join("b");
		MemberId c = join("c");

		assertThat(enter(a, 3)).isEqualTo(new Waiting(1, 3));
		assertThat(enter(b, 3)).isEqualTo(new Waiting(2, 3));
		long round = entered(enter(c, 3));

		assertThat(received("one")).isEqualTo("barrier|nightly|" + round + "|full");
		assertThat(entered(enter(a, 3))).isEqualTo(round);
		assertThat(entered(enter(b, 3))).isEqualTo(round);
	}

	@Test
	protected final void roundIsOverWhenAllHaveLeft() {
		MemberId a = join("a");
		MemberId b = join("b");
		enter(a, 2);
		long round = entered(enter(b, 2));

		assertThat(leaveRound(a, round)).isEqualTo(new Waiting(1, 2));
		assertThat(leaveRound(a, round)).isEqualTo(new Waiting(1, 2));
		assertThat(leaveRound(b, round)).isEqualTo(new Over());

		assertThat(received("two")).isEqualTo("barrier|nightly|" + round + "|full");
		assertThat(received("two")).isEqualTo("barrier|nightly|" + round + "|over");
		assertThat(leaveRound(a, round)).isEqualTo(new Over());
		assertThat(leaveRound(b, round)).as("asked again").isEqualTo(new Over());
	}

	@Test
	protected final void repeatedQuestionEntersOnce() {
		MemberId a = join("a");
		join("b");

		assertThat(enter(a, 2)).isEqualTo(new Waiting(1, 2));
		assertThat(enter(a, 2)).isEqualTo(new Waiting(1, 2));
	}

	@Test
	protected final void singlePartyIsInAtOnce() {
		MemberId a = join("a");

		long round = entered(enter(a, 1));

		assertThat(leaveRound(a, round)).isEqualTo(new Over());
		assertThat(entered(enter(a, 1))).isGreaterThan(round);
	}

	@Test
	protected final void oneMoreThanFitInWaitsForTheNextRound() {
		MemberId a = join("a");
		MemberId b = join("b");
		MemberId c = join("c");
		enter(a, 2);
		long round = entered(enter(b, 2));

		assertThat(enter(c, 2)).isEqualTo(new Busy(0, 2));
		leaveRound(a, round);
		assertThat(enter(c, 2)).isEqualTo(new Busy(1, 2));
		leaveRound(b, round);
		assertThat(enter(c, 2)).isEqualTo(new Waiting(1, 2));
		long next = entered(barriers().enter(new Request(a, NAME, ticket(a, 2), 2, 0)));

		assertThat(next).isGreaterThan(round);
		assertThat(leaveRound(b, round)).as("a late question").isEqualTo(new Over());
	}

	@Test
	protected final void otherNumberOfPartiesIsRefused() {
		MemberId a = join("a");
		MemberId b = join("b");
		enter(a, 2);

		assertThat(enter(b, 3)).isEqualTo(new OtherParties(2, false));
		assertThat(enterWithView(b, 2, lookAtMembers(a))).isEqualTo(new OtherParties(2, false));
		entered(enter(b, 2));
	}

	@Test
	protected final void numberOfGonePartiesBindsNobody() {
		MemberId a = join("a");
		MemberId b = join("b");
		enter(a, 3);
		leave(a);

		assertThat(enter(b, 2)).isEqualTo(new Waiting(1, 2));
	}

	@Test
	protected final void roundIsNotFullWithAPartyThatIsGone() {
		MemberId a = join("a");
		MemberId b = join("b");
		MemberId c = join("c");
		enter(a, 2);
		leave(a);

		assertThat(enter(b, 2)).isEqualTo(new Waiting(1, 2));
		entered(enter(c, 2));
	}

	@Test
	protected final void partyThatIsGoneIsRemovedWithTheView() {
		MemberId a = join("a");
		MemberId b = join("b");
		MemberId c = join("c");
		enter(a, 3);
		enter(b, 3);
		leave(a);
		lookAtMembers(c);

		assertThat(enter(b, 3)).isEqualTo(new Waiting(1, 3));
	}

	@Test
	protected final void partyThatGivesUpIsNotIn() {
		MemberId a = join("a");
		MemberId b = join("b");
		MemberId c = join("c");
		enter(a, 2);

		assertThat(barriers().withdraw(a, NAME, ticket(a, 1), false)).isEqualTo(new Withdrawn());
		assertThat(barriers().withdraw(a, NAME, ticket(a, 1), false)).as("again").isEqualTo(new Withdrawn());

		assertThat(enter(b, 2)).isEqualTo(new Waiting(1, 2));
		entered(enter(c, 2));
	}

	@Test
	protected final void partyThatGivesUpTooLateIsIn() {
		MemberId a = join("a");
		MemberId b = join("b");
		enter(a, 2);
		long round = entered(enter(b, 2));

		assertThat(barriers().withdraw(a, NAME, ticket(a, 1), false)).isEqualTo(new Entered(round));
	}

	/** It has told its user that it is not in, and nobody else of it. */
	@Test
	protected final void partyThatHasGivenUpUnheardBreaksTheRound() {
		MemberId a = join("a");
		MemberId b = join("b");
		enter(a, 2);
		long round = entered(enter(b, 2));

		assertThat(barriers().withdraw(a, NAME, ticket(a, 1), true)).isEqualTo(new Withdrawn());

		assertThat(leaveRound(b, round)).isEqualTo(new Broken(List.of(a)));
	}

	@Test
	protected final void withdrawingAnotherTicketDoesNothing() {
		MemberId a = join("a");
		MemberId b = join("b");
		enter(a, 2);

		barriers().withdraw(a, NAME, ticket(a, 7), true);
		barriers().withdraw(b, NAME, ticket(a, 1), true);

		entered(enter(b, 2));
	}

	@Test
	protected final void laterTicketOfASessionReplacesTheOneItHasGivenUp() {
		MemberId a = join("a");
		MemberId b = join("b");
		enter(a, 2);

		assertThat(barriers().enter(new Request(a, NAME, ticket(a, 2), 2, 0))).isEqualTo(new Waiting(1, 2));
		barriers().withdraw(a, NAME, ticket(a, 1), true);

		entered(enter(b, 2));
	}

	@Test
	protected final void partyThatDiesWhileItWorksBreaksTheRound() {
		MemberId a = join("a");
		MemberId b = join("b");
		MemberId c = join("c");
		enter(a, 3);
		enter(b, 3);
		long round = entered(enter(c, 3));
		leave(b);
		lookAtMembers(a);

		assertThat(received("one")).isEqualTo("barrier|nightly|" + round + "|full");
		assertThat(received("one")).startsWith("view|");
		assertThat(received("one")).isEqualTo("barrier|nightly|" + round + "|broken");
		assertThat(leaveRound(a, round)).isEqualTo(new Broken(List.of(b)));
		assertThat(enter(join("d"), 3)).as("while c works").isEqualTo(new Busy(1, 3));
		assertThat(leaveRound(c, round)).isEqualTo(new Broken(List.of(b)));
		assertThat(leaveRound(a, round)).as("asked again").isEqualTo(new Broken(List.of(b)));
		assertThat(enter(a, 3)).as("the next round").isEqualTo(new Waiting(1, 3));
	}

	@Test
	protected final void partyThatDiesWhileOthersWaitToLeaveBreaksTheRound() {
		MemberId a = join("a");
		MemberId b = join("b");
		MemberId c = join("c");
		enter(a, 3);
		enter(b, 3);
		long round = entered(enter(c, 3));
		leaveRound(a, round);
		leaveRound(b, round);
		leave(c);
		assertThat(leaveRound(a, round)).as("not noticed yet").isEqualTo(new Waiting(2, 3));

		lookAtMembers(a);

		assertThat(leaveRound(a, round)).isEqualTo(new Broken(List.of(c)));
		assertThat(leaveRound(b, round)).isEqualTo(new Broken(List.of(c)));
	}

	@Test
	protected final void partyThatDiesAfterItHasLeftBreaksNothing() {
		MemberId a = join("a");
		MemberId b = join("b");
		enter(a, 2);
		long round = entered(enter(b, 2));
		leaveRound(a, round);
		leave(a);
		lookAtMembers(b);

		assertThat(leaveRound(b, round)).isEqualTo(new Over());
	}

	@Test
	protected final void roundWithoutAnyLivingPartyMakesRoom() {
		MemberId a = join("a");
		MemberId b = join("b");
		MemberId c = join("c");
		enter(a, 2);
		entered(enter(b, 2));
		leave(a);
		leave(b);
		lookAtMembers(c);

		assertThat(enter(c, 2)).isEqualTo(new Waiting(1, 2));
	}

	@Test
	protected final void allComeWithTheSameView() {
		MemberId a = join("a");
		MemberId b = join("b");
		long view = lookAtMembers(a);

		assertThat(enterWithView(a, 2, view)).isEqualTo(new Waiting(1, 2));
		long round = entered(enterWithView(b, 2, view));

		assertThat(leaveRound(a, round)).isEqualTo(new Waiting(1, 2));
		assertThat(leaveRound(b, round)).isEqualTo(new Over());
	}

	@Test
	protected final void partyWithAnotherViewIsTold() {
		MemberId a = join("a");
		MemberId b = join("b");
		long view = lookAtMembers(a);

		assertThat(enterWithView(a, 2, view - 1)).as("late").isEqualTo(new ViewChanged(view));
		assertThat(enterWithView(b, 2, view + 1)).as("early").isEqualTo(new ViewChanged(view));
	}

	@Test
	protected final void newMemberEndsARoundThatWaitsForTheOthers() {
		MemberId a = join("a");
		MemberId b = join("b");
		long view = lookAtMembers(a);
		enterWithView(a, 2, view);
		MemberId c = join("c");

		long next = lookAtMembers(c);

		assertThat(received("one")).isEqualTo("view|" + view);
		assertThat(received("one")).isEqualTo("view|" + next);
		assertThat(received("one")).isEqualTo("barrier|nightly|0|view");
		assertThat(enterWithView(a, 2, view)).isEqualTo(new ViewChanged(next));
		assertThat(enterWithView(b, 2, view)).isEqualTo(new ViewChanged(next));
		assertThat(enterWithView(c, 3, next)).isEqualTo(new Waiting(1, 3));
	}

	@Test
	protected final void deathEndsARoundThatWaitsForTheOthers() {
		MemberId a = join("a");
		MemberId b = join("b");
		MemberId c = join("c");
		long view = lookAtMembers(a);
		enterWithView(a, 3, view);
		enterWithView(b, 3, view);
		leave(b);
		assertThat(enterWithView(c, 3, view)).as("not noticed yet, but not full").isEqualTo(new Waiting(2, 3));

		long next = lookAtMembers(c);

		assertThat(enterWithView(a, 3, view)).isEqualTo(new ViewChanged(next));
		assertThat(enterWithView(c, 2, next)).isEqualTo(new Waiting(1, 2));
	}

	@Test
	protected final void newMemberDoesNotBreakARoundUnderWay() {
		MemberId a = join("a");
		long view = lookAtMembers(a);
		long round = entered(enterWithView(a, 1, view));
		MemberId b = join("b");
		lookAtMembers(b);

		assertThat(leaveRound(a, round)).isEqualTo(new Over());
	}

	@Test
	protected final void silentPartyStaysIn() {
		MemberId silent = join("silent");
		MemberId b = join("b");
		enter(silent, 2);
		fallSilent(silent);
		lookAtMembers(b);

		long round = entered(enter(b, 2));

		assertThat(leaveRound(b, round)).isEqualTo(new Waiting(1, 2));
		beat(silent);
		assertThat(entered(enter(silent, 2))).isEqualTo(round);
		assertThat(leaveRound(silent, round)).isEqualTo(new Over());
	}

	@Test
	protected final void nobodyEntersWithoutALease() {
		MemberId silent = join("silent");
		fallSilent(silent);

		assertThat(enter(silent, 1)).isInstanceOf(Paused.class);
		assertThat(enter(MemberId.of("stranger", "1"), 1)).isInstanceOf(Paused.class);
		beat(silent);
		entered(enter(silent, 1));
	}

	@Test
	protected final void sessionThatIsOverCannotLeave() {
		MemberId a = join("a");
		MemberId b = join("b");
		enter(a, 2);
		long round = entered(enter(b, 2));
		leave(a);

		assertThat(leaveRound(a, round)).isInstanceOf(Paused.class);
		lookAtMembers(b);
		assertThat(leaveRound(b, round)).isEqualTo(new Broken(List.of(a)));
	}

	@Test
	protected final void unknownRoundIsLost() {
		MemberId a = join("a");

		assertThat(leaveRound(a, 17)).isEqualTo(new Lost());
	}

	@Test
	protected final void lostRoundIsReportedToThoseWhoLeaveIt() {
		MemberId a = join("a");
		MemberId b = join("b");
		Object snapshot = server().snapshot();
		enter(a, 2);
		long round = entered(enter(b, 2));
		server().loseWritesSince(snapshot);

		assertThat(leaveRound(a, round)).isEqualTo(new Lost());
		assertThat(leaveRound(b, round)).isEqualTo(new Lost());
	}

	/** The entry of a is older than the round that a works in. */
	@Test
	protected final void roundThatWasFilledWithAPartyOfALostRoundIsBroken() {
		MemberId a = join("a");
		MemberId b = join("b");
		MemberId c = join("c");
		enter(a, 2);
		Object snapshot = server().snapshot();
		long lost = entered(enter(b, 2));
		server().loseWritesSince(snapshot);
		advance(Duration.ofMillis(1));
		long round = entered(enter(c, 2));

		assertThat(round).isGreaterThan(lost);
		assertThat(leaveRound(a, lost)).isEqualTo(new Lost());
		assertThat(leaveRound(b, lost)).isEqualTo(new Lost());
		assertThat(leaveRound(c, round)).isEqualTo(new Broken(List.of(a)));
	}

	@Test
	protected final void lostLeavingIsRepeated() {
		MemberId a = join("a");
		MemberId b = join("b");
		enter(a, 2);
		long round = entered(enter(b, 2));
		Object snapshot = server().snapshot();
		leaveRound(a, round);
		server().loseWritesSince(snapshot);

		assertThat(leaveRound(b, round)).isEqualTo(new Waiting(1, 2));
		assertThat(leaveRound(a, round)).isEqualTo(new Over());
		assertThat(leaveRound(b, round)).isEqualTo(new Over());
	}

	@Test
	protected final void nobodyEntersWhileMembersMayClaimWhatTheyHeld() {
		server().empty();
		MemberId a = join("a");
		assertThat(enter(a, 1)).isInstanceOf(Paused.class);

		endClaims(a);

		entered(enter(a, 1));
	}

	@Test
	protected final void barriersAreIndependent() {
		MemberId a = join("a");
		MemberId b = join("b");
		enter(a, 2);

		assertThat(barriers().enter(new Request(b, NAME + ".2", ticket(b, 1), 2, 0))).isEqualTo(new Waiting(1, 2));
		assertThat(enter(b, 2)).isInstanceOf(Entered.class);
	}

	@Test
	protected final void hundredRoundsInARow() {
		MemberId a = join("a");
		MemberId b = join("b");
		MemberId c = join("c");
		long last = 0;
		for (int i = 0; i < 100; i++) {
			enter(a, 3);
			enter(b, 3);
			long round = entered(enter(c, 3));
			assertThat(round).isGreaterThan(last);
			assertThat(leaveRound(c, round)).isEqualTo(new Waiting(1, 3));
			assertThat(leaveRound(a, round)).isEqualTo(new Waiting(2, 3));
			assertThat(leaveRound(b, round)).isEqualTo(new Over());
			last = round;
		}
	}

}
