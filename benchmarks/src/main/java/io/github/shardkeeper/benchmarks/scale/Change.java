package io.github.shardkeeper.benchmarks.scale;

import java.util.Locale;
import java.util.concurrent.TimeUnit;

import io.github.shardkeeper.benchmarks.Contender;
import io.github.shardkeeper.benchmarks.RedisFigures;
import io.github.shardkeeper.benchmarks.Samples;

/**
 * A change of a group, and the time until every member had its new assignment. Confined
 * to its thread.
 */
final class Change {

	/** Kind of a change. */
	enum Kind implements Contender {

		JOIN("one more joins"),

		LEAVE("one leaves"),

		LEADER_LEAVES("the leader leaves"),

		CRASH("one crashes"),

		LEADER_CRASHES("the leader crashes"),

		FREEZE("one freezes");

		private final String text;

		Kind(String text) {
			this.text = text;
		}

		@Override
		public String text() {
			return this.text;
		}

	}

	private static final long PATIENCE_SECONDS = 60;

	/** Redis' clock and this process' are read one after the other. */
	private static final double CLOCKS_MILLIS = 10;

	private final Samples millis = new Samples();

	/** From the end of the lease, or of the session. */
	private final Samples millisFromEnd = new Samples();

	private final Samples moves = new Samples();

	Samples millis() {
		return this.millis;
	}

	Samples millisFromEnd() {
		return this.millisFromEnd;
	}

	Samples moves() {
		return this.moves;
	}

	/** Has it happen once; returns the milliseconds that it took. */
	double happen(Kind kind, Group group, RedisFigures redis) throws Exception {
		long movesBefore = group.board().moves();
		long begun = System.nanoTime();
		switch (kind) {
			case JOIN -> {
				group.join();
				ended(group, begun);
			}
			case LEAVE, LEADER_LEAVES -> {
				LightMember leaving = group.take(kind == Kind.LEADER_LEAVES);
				begun = System.nanoTime();
				var gone = leaving.leave();
				ended(group, begun);
				gone.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
				leaving.close();
			}
			case CRASH, LEADER_CRASHES, FREEZE -> lose(kind, group, redis);
		}
		this.moves.add(group.board().moves() - movesBefore);
		return this.millis.values().get(this.millis.values().size() - 1);
	}

	private void lose(Kind kind, Group group, RedisFigures redis) throws InterruptedException {
		LightMember lost = group.take(kind == Kind.LEADER_CRASHES);
		String id = lost.id().value();
		group.board().watch();
		long begun = System.nanoTime();
		if (kind == Kind.FREEZE) {
			lost.freeze();
			group.keepFrozen(lost);
		}
		else {
			lost.crash();
		}
		Double leaseEnd = redis.commands().zscore(group.baseKey() + ":sessions", id);
		double endMillis = leaseEnd;
		if (kind == Kind.FREEZE) {
			endMillis += LightMember.TIMEOUT.minus(LightMember.LEASE).toMillis();
		}
		double leftMillis = endMillis - System.currentTimeMillis();
		long readAt = System.nanoTime();
		long ended = ended(group, begun);
		verifyLate(kind, (group.board().firstTakenNanos() - readAt) / 1e6 - leftMillis);
		this.millisFromEnd.add((ended - readAt) / 1e6 - leftMillis);
	}

	/** Until then the lost member might have consumed its shards. */
	static void verifyLate(Kind kind, double millisFromEnd) {
		if (millisFromEnd < -CLOCKS_MILLIS) {
			throw new IllegalStateException(String.format(Locale.ROOT,
					"When %s, a shard was taken %.0f ms before the end of the lease or session", kind.text(),
					-millisFromEnd));
		}
	}

	private long ended(Group group, long begun) throws InterruptedException {
		long ended = group.board().awaitEven(group.shards(), PATIENCE_SECONDS);
		this.millis.add((ended - begun) / 1e6);
		return ended;
	}

}
