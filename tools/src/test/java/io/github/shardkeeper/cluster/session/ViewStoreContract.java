package io.github.shardkeeper.cluster.session;

import java.time.Duration;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.cluster.ClusterContract;
import io.github.shardkeeper.cluster.ClusterView.Member;
import io.github.shardkeeper.cluster.session.ViewStore.Reply;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;

import static org.assertj.core.api.Assertions.assertThat;

/** What each store of a view does. */
public abstract class ViewStoreContract extends ClusterContract {

	protected abstract ViewStore views();

	@Test
	protected final void viewHasTheMembersInTheOrderOfTheirIds() {
		MemberId b = join("b");
		MemberId a = join("a");

		Reply view = views().read(a, "one");

		assertThat(view.known()).isTrue();
		assertThat(view.members()).containsExactly(new Member(a, new ApplicationVersion("1.4"), 2, "zone-of-a"),
				new Member(b, new ApplicationVersion("1.4"), 2, "zone-of-b"));
	}

	@Test
	protected final void allMembersReadTheSameNumber() {
		MemberId a = join("a");
		MemberId b = join("b");

		Reply view = views().read(a, "one");

		assertThat(views().read(b, "one")).isEqualTo(view);
		assertThat(views().read(a, "one")).isEqualTo(view);
	}

	@Test
	protected final void numberGrowsWhenMembersComeAndGo() {
		MemberId a = join("a");
		long alone = views().read(a, "one").number();
		MemberId b = join("b");
		Reply two = views().read(a, "one");
		leave(b);
		Reply aloneAgain = views().read(a, "one");

		assertThat(two.number()).isGreaterThan(alone);
		assertThat(two.members()).hasSize(2);
		assertThat(aloneAgain.number()).isGreaterThan(two.number());
		assertThat(aloneAgain.members()).hasSize(1);
	}

	@Test
	protected final void numberStaysWhenADescriptionChanges() {
		MemberId a = join("a");
		Reply before = views().read(a, "one");

		group().updateDescription(a, new MemberDescription(new TreeMap<>(), new ApplicationVersion("2")));

		assertThat(views().read(a, "one").number()).isEqualTo(before.number());
	}

	@Test
	protected final void firstReaderTellsTheOthers() {
		MemberId a = join("a");
		long number = views().read(a, "one").number();

		assertThat(received("one")).isEqualTo("view|" + number);
		assertThat(received("two")).isEqualTo("view|" + number);
		views().read(a, "one");
		MemberId b = join("b");
		long next = views().read(b, "one").number();
		assertThat(received("one")).isEqualTo("view|" + next);
	}

	@Test
	protected final void memberThatLeavesIsNotInTheView() {
		MemberId a = join("a");
		MemberId b = join("b");
		Reply before = views().read(a, "one");

		group().announceLeave(b);

		Reply after = views().read(b, "one");
		assertThat(after.known()).isTrue();
		assertThat(after.number()).isGreaterThan(before.number());
		assertThat(after.members()).extracting(Member::id).containsExactly(a);
	}

	@Test
	protected final void silentMemberStaysInTheView() {
		MemberId a = join("a");
		MemberId silent = join("silent");
		Reply before = views().read(a, "one");

		fallSilent(silent);

		assertThat(views().read(a, "one")).isEqualTo(before);
		assertThat(before.members()).extracting(Member::id).contains(silent);
	}

	@Test
	protected final void unknownSessionReadsNothing() {
		join("a");

		assertThat(views().read(MemberId.of("stranger", "1"), "one")).isEqualTo(Reply.UNKNOWN);
	}

	@Test
	protected final void numberIsHigherAfterALossOfWrites() {
		MemberId a = join("a");
		Object snapshot = server().snapshot();
		join("b");
		long lost = views().read(a, "one").number();
		server().loseWritesSince(snapshot);
		// A failover takes time.
		advance(Duration.ofMillis(1));
		join("c");

		assertThat(views().read(a, "one").number()).isGreaterThan(lost);
	}

	@Test
	protected final void numberIsHigherAfterTheStoreWasEmptied() {
		long before = views().read(join("a"), "one").number();

		server().empty();
		advance(Duration.ofMillis(1));

		assertThat(views().read(join("b"), "one").number()).isGreaterThan(before);
	}

	@Test
	protected final void readerLearnsWhetherItsSubscriptionIsSeen() {
		MemberId a = join("a");

		assertThat(views().read(a, "one").subscribed()).isTrue();
		assertThat(views().read(a, "nowhere").subscribed()).isFalse();
	}

}
