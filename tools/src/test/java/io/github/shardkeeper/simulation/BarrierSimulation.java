package io.github.shardkeeper.simulation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.cluster.ClusterView.Member;
import io.github.shardkeeper.cluster.ClusterView.View;
import io.github.shardkeeper.cluster.barrier.BarrierStore;
import io.github.shardkeeper.cluster.barrier.BarrierUser;
import io.github.shardkeeper.cluster.barrier.BarrierUser.State;
import io.github.shardkeeper.cluster.memory.MemoryBarrierStore;
import io.github.shardkeeper.shard.MemberId;

/**
 * A simulation of double barriers: instances enter one with their view, work, and leave
 * it, again and again. All that are in a round have the same view, and an instance that
 * leaves it without a failure knows that all members of the view have done their work.
 * After the last fault every instance completes two more rounds.
 */
final class BarrierSimulation extends ToolSimulation {

	private final BarrierStore barriers = new MemoryBarrierStore(this.cluster);

	private final List<Party> parties = new ArrayList<>();

	/** By round: the view of those in it. */
	private final Map<Long, Long> views = new HashMap<>();

	/** By round: who has done its work. */
	private final Map<Long, Set<MemberId>> done = new HashMap<>();

	private int completed;

	private int failed;

	BarrierSimulation(long seed, VirtualTime time) {
		super(seed, time);
	}

	int completed() {
		return this.completed;
	}

	int failed() {
		return this.failed;
	}

	@Override
	void begin(Instance instance) {
		Party party = new Party(instance,
				new BarrierUser(instance.session, instance.reach(BarrierStore.class, this.barriers)));
		this.parties.add(party);
		party.next();
	}

	@Override
	List<?> waiting() {
		return this.parties.stream()
			.filter((party) -> members().contains(party.instance) && party.roundsAfterTheEnd < 2)
			.toList();
	}

	@Override
	String describe() {
		return "completed " + this.completed + ", failed " + this.failed;
	}

	private final class Party {

		private final Instance instance;

		private final BarrierUser barriers;

		private BarrierUser.@Nullable Round round;

		private boolean leaving;

		private boolean busy;

		private int roundsAfterTheEnd;

		Party(Instance instance, BarrierUser barriers) {
			this.instance = instance;
			this.barriers = barriers;
		}

		void next() {
			View view = this.instance.session.view();
			if (view.index().isEmpty() || view.self() == null || !this.instance.session.continues(view.self())) {
				this.instance.later(100, this::next);
				return;
			}
			this.leaving = false;
			this.round = this.barriers.enter("round", view, () -> this.instance.later(0, this::step));
			step();
		}

		private void step() {
			BarrierUser.Round current = this.round;
			if (current == null || this.busy) {
				return;
			}
			this.busy = true;
			State state;
			try {
				state = this.leaving ? current.leaving() : current.entering();
				if (state == State.WAITING && !this.leaving && BarrierSimulation.this.random.nextInt(60) == 0) {
					state = current.giveUp() ? State.DONE : State.FAILED;
				}
			}
			finally {
				this.busy = false;
			}
			if (state == State.WAITING) {
				if (current.isWoken()) {
					this.instance.later(0, this::step);
				}
				else if (current.attemptAt() != null) {
					this.instance.later(this.instance.millisUntil(current.attemptAt()), this::step);
				}
				return;
			}
			if (state == State.DONE && !this.leaving) {
				entered(current);
				return;
			}
			this.round = null;
			if (state == State.DONE) {
				completed(current);
			}
			else {
				BarrierSimulation.this.failed++;
			}
			this.instance.later(BarrierSimulation.this.random.nextInt(300), this::next);
		}

		private void entered(BarrierUser.Round current) {
			Long before = BarrierSimulation.this.views.putIfAbsent(current.number(), current.view().number());
			if (before != null && before != current.view().number()) {
				BarrierSimulation.this.time.fail(new AssertionError("%s is in round %d with view %d, others with %d"
					.formatted(this, current.number(), current.view().number(), before)));
			}
			this.round = null;
			int millis = (BarrierSimulation.this.random.nextInt(10) == 0) ? BarrierSimulation.this.random.nextInt(4000)
					: BarrierSimulation.this.random.nextInt(300);
			this.instance.later(millis, () -> {
				BarrierSimulation.this.done.computeIfAbsent(current.number(), (absent) -> new HashSet<>())
					.add(current.view().self());
				this.leaving = true;
				this.round = current;
				current.leave();
				step();
			});
		}

		private void completed(BarrierUser.Round current) {
			BarrierSimulation.this.completed++;
			Set<MemberId> have = BarrierSimulation.this.done.getOrDefault(current.number(), Set.of());
			List<MemberId> missing = current.view()
				.members()
				.stream()
				.map(Member::id)
				.filter((id) -> !have.contains(id))
				.toList();
			if (!missing.isEmpty()) {
				BarrierSimulation.this.time.fail(new AssertionError("%s has completed round %d of view %d without %s"
					.formatted(this, current.number(), current.view().number(), missing)));
			}
			if (BarrierSimulation.this.ending) {
				this.roundsAfterTheEnd++;
			}
		}

		@Override
		public String toString() {
			return this.instance + ((this.round == null) ? " works" : this.leaving ? " leaves" : " enters");
		}

	}

}
