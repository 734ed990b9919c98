package io.github.shardkeeper.directive;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.directive.Directive.Kind;
import io.github.shardkeeper.directive.DirectiveStore.Change;
import io.github.shardkeeper.directive.DirectiveStore.Outcome;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.TopicShards;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Rules of {@link DirectiveStore}, the same for every store. */
public abstract class DirectiveStoreContract {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final Duration LEASE = Duration.ofMinutes(5);

	private static final MemberId ANN = MemberId.of("ann", "1");

	private static final MemberId BOB = MemberId.of("bob", "1");

	protected CoordinationStore store;

	protected DirectiveStore directives;

	/** Returns the store of a group that never existed before. */
	protected abstract CoordinationStore createStore();

	@BeforeEach
	protected final void openStore() {
		this.store = createStore();
		this.directives = this.store.directives();
		join(ANN);
	}

	@AfterEach
	protected final void closeStore() {
		this.store.close();
	}

	private void join(MemberId member) {
		this.store.joinGroup(member, new MemberDescription(new TreeMap<>(Map.of("visits", TopicShards.count(4))),
				ApplicationVersion.UNKNOWN), LEASE, LEASE);
	}

	private HeartbeatReply.Alive heartbeat(MemberId member) {
		return (HeartbeatReply.Alive) this.store.heartbeat(member, Seen.NOTHING, true, LoadReport.NONE);
	}

	private static Directive pause(String subject) {
		return Directive.of(Kind.PAUSE, subject, null, "anna", "broken records");
	}

	private static Directive pin(String shard, String to) {
		return Directive.of(Kind.PIN, shard, to, "anna", "");
	}

	@Test
	void nothingIsThereAtFirst() {
		assertThat(this.directives.read().all()).isEmpty();
		assertThat(this.directives.read().version()).isZero();
		assertThat(heartbeat(ANN).directives()).isZero();
	}

	@Test
	void directiveIsKeptWithTheTimeOfTheStore() {
		assertThat(this.directives.put(pause("visits/3"))).isEqualTo(new Change(Outcome.CHANGED, null));
		HeartbeatReply.Alive later = heartbeat(ANN);

		Directives read = this.directives.read();

		assertThat(read.problems()).isEmpty();
		assertThat(read.all()).singleElement().satisfies((kept) -> {
			assertThat(kept.wantsTheSame(pause("visits/3"))).isTrue();
			assertThat(kept.by()).isEqualTo("anna");
			assertThat(kept.reason()).isEqualTo("broken records");
			assertThat(kept.sinceMillis()).isPositive().isLessThanOrEqualTo(later.serverTimeMillis());
			assertThat(kept.version()).isEqualTo(read.version()).isEqualTo(later.directives());
		});
	}

	@Test
	void sameWishAgainChangesNothing() {
		this.directives.put(pause("visits"));
		Directives before = this.directives.read();

		Change again = this.directives.put(Directive.of(Kind.PAUSE, "visits", null, "otto", "other"));

		assertThat(again).isEqualTo(new Change(Outcome.UNCHANGED, before.all().get(0)));
		assertThat(this.directives.read().all()).isEqualTo(before.all());
		assertThat(this.directives.read().version()).isEqualTo(before.version());
	}

	@Test
	void laterWishReplacesAndAnswersWithTheEarlierOne() {
		this.directives.put(pin("visits/0", "ann"));
		Directives before = this.directives.read();

		Change replaced = this.directives.put(Directive.of(Kind.PIN, "visits/0", "bob", "otto", "more memory"));

		assertThat(replaced).isEqualTo(new Change(Outcome.CHANGED, before.all().get(0)));
		assertThat(this.directives.read().all()).singleElement().satisfies((kept) -> {
			assertThat(kept.to()).isEqualTo("bob");
			assertThat(kept.by()).isEqualTo("otto");
		});
		assertThat(this.directives.read().version()).isGreaterThan(before.version());
	}

	@Test
	void clearedDirectiveIsGoneOnce() {
		this.directives.put(pause("visits"));
		this.directives.put(pause("visits/1"));
		Directives before = this.directives.read();

		Change cleared = this.directives.clear(Kind.PAUSE, "visits");
		Directives after = this.directives.read();

		assertThat(cleared).isEqualTo(new Change(Outcome.CHANGED, before.find(Kind.PAUSE, "visits")));
		assertThat(after.all()).extracting(Directive::subject).containsExactly("visits/1");
		assertThat(after.version()).isGreaterThan(before.version());
		assertThat(this.directives.clear(Kind.PAUSE, "visits")).isEqualTo(new Change(Outcome.UNCHANGED, null));
		assertThat(this.directives.read().version()).isEqualTo(after.version());
	}

	@Test
	void allMembersAreNotifiedOfAChange() {
		join(BOB);
		AtomicInteger ann = new AtomicInteger();
		AtomicInteger bob = new AtomicInteger();
		try (CoordinationStore.Subscription one = this.store.subscribe(ANN, ann::incrementAndGet);
				CoordinationStore.Subscription other = this.store.subscribe(BOB, bob::incrementAndGet)) {
			assertThat(one.isOpen() && other.isOpen()).isTrue();
			this.directives.put(pause("visits"));
			await().atMost(PATIENCE).until(() -> ann.get() == 1 && bob.get() == 1);
			this.directives.clear(Kind.PAUSE, "visits");
			await().atMost(PATIENCE).until(() -> ann.get() == 2 && bob.get() == 2);
		}
	}

	@Test
	void leaderCompletesRequestsThatNobodyHasReplaced() {
		HeartbeatReply.Alive leader = heartbeat(ANN);
		assertThat(leader.leader()).isEqualTo(ANN);
		this.directives.put(Directive.of(Kind.REBALANCE, "", null, "anna", ""));
		this.directives.put(Directive.of(Kind.MOVE, "visits/0", "ann", "anna", ""));
		Directives read = this.directives.read();
		this.directives.put(Directive.of(Kind.MOVE, "visits/0", "bob", "otto", ""));

		assertThat(this.directives.complete(ANN, leader.epoch(), read.requests())).isTrue();

		Directives left = this.directives.read();
		assertThat(left.all()).extracting(Directive::to).containsExactly("bob");
		assertThat(left.version()).isGreaterThan(read.version());
		assertThat(this.directives.complete(ANN, leader.epoch(), read.requests())).isTrue();
		assertThat(this.directives.read().version()).isEqualTo(left.version());
	}

	@Test
	void onlyTheLeaderCompletesRequests() {
		HeartbeatReply.Alive leader = heartbeat(ANN);
		join(BOB);
		this.directives.put(Directive.of(Kind.REBALANCE, "", null, "anna", ""));
		List<Directive> requests = this.directives.read().requests();

		assertThat(this.directives.complete(BOB, leader.epoch(), requests)).isFalse();
		assertThat(this.directives.complete(ANN, leader.epoch() + 1, requests)).isFalse();

		assertThat(this.directives.read().requests()).isEqualTo(requests);
	}

	@Test
	void numberIsBounded() {
		for (int i = 0; i < DirectiveStore.MOST; i++) {
			this.directives.put(pause("visits/" + i));
		}

		assertThat(this.directives.put(pause("visits"))).isEqualTo(new Change(Outcome.FULL, null));
		assertThat(this.directives.put(pause("visits/0")).outcome()).isEqualTo(Outcome.UNCHANGED);
		this.directives.clear(Kind.PAUSE, "visits/0");
		assertThat(this.directives.put(pause("visits")).outcome()).isEqualTo(Outcome.CHANGED);
	}

	@Test
	void textsOfPeopleAreOneLineAndBounded() {
		String hostile = "a\tb\nc<b>\u202e" + "x".repeat(5_000);
		this.directives.put(Directive.of(Kind.DRAIN, "ann", null, hostile, hostile));

		assertThat(this.directives.read().problems()).isEmpty();
		assertThat(this.directives.read().drained()).containsExactly("ann");
		assertThat(this.directives.read().all()).singleElement().satisfies((kept) -> {
			assertThat(kept.by()).startsWith("a b c<b> x").hasSizeLessThanOrEqualTo(Directive.MOST_BY);
			assertThat(kept.reason()).doesNotContain("\n", "\t", "\u202e").hasSize(Directive.MOST_REASON);
		});
	}

}
