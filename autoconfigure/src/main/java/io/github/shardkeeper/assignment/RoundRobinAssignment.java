package io.github.shardkeeper.assignment;

import java.util.Arrays;
import java.util.Objects;

/**
 * Deals all shards of all topics like cards: to one member after the other, past those
 * that do not consume the topic. As Kafka's {@code RoundRobinAssignor}. Immutable.
 * <p>
 * Two members, two topics of three shards: <pre>
 * C0: t0/0 t0/2 t1/1
 * C1: t0/1 t1/0 t1/2
 * </pre>
 * <p>
 * Even to one shard where all consume all topics, and possibly far from it where they do
 * not: who is behind one that is passed over gets its cards. Each join or leave moves
 * nearly everything. Looks at subscriptions and pins only: not at who owns what,
 * capacity, weights, zones or versions. Pinned shards are taken out before.
 */
public final class RoundRobinAssignment implements AssignmentStrategy {

	@Override
	public Assignment assign(AssignmentRequest request) {
		Objects.requireNonNull(request, "request must not be null");
		RuleDraft draft = new RuleDraft(request);
		Dealer dealer = new Dealer(draft);
		draft.forEachTopic(dealer::deal);
		return draft.assignment();
	}

	/**
	 * Remembers whose turn it is. Confined to its thread.
	 */
	private static final class Dealer {

		private final RuleDraft draft;

		private int nextMember;

		Dealer(RuleDraft draft) {
			this.draft = draft;
		}

		void deal(int[] shards, int[] consumers) {
			int found = Arrays.binarySearch(consumers, this.nextMember);
			int turn = (found >= 0) ? found : -found - 1;
			for (int shard : shards) {
				turn = (turn < consumers.length) ? turn : 0;
				this.draft.give(shard, consumers[turn]);
				this.nextMember = consumers[turn] + 1;
				turn++;
			}
		}

	}

}
