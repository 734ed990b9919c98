package io.github.shardkeeper.simulation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.directive.Directive.Kind;
import io.github.shardkeeper.directive.DirectiveStore;
import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.shard.ShardId;

/** Acts of an operator during a simulation, and what they lead to in the end. */
final class Acts {

	private static final int KINDS = 8;

	private final Simulation simulation;

	private final SimulatedGroup group;

	private final RandomGenerator random;

	Acts(Simulation simulation, SimulatedGroup group, RandomGenerator random) {
		this.simulation = simulation;
		this.group = group;
		this.random = random;
	}

	/** Does one of them. */
	void next() {
		List<ShardId> shards = List.copyOf(this.group.topic().ends().keySet());
		ShardId shard = shards.get(this.random.nextInt(shards.size()));
		List<SimulatedInstance> members = this.group.members();
		String instance = members.isEmpty() ? "i0" : members.get(this.random.nextInt(members.size())).toString();
		switch (this.random.nextInt(KINDS)) {
			case 0 -> put("pause", Kind.PAUSE, shard.toString(), null);
			case 1 -> put("pause of the topic", Kind.PAUSE, shard.topic(), null);
			case 2 -> put("pin", Kind.PIN, shard.toString(), instance);
			case 3 -> put("drain", Kind.DRAIN, instance, null);
			case 4 -> put("move", Kind.MOVE, shard.toString(), instance);
			case 5 -> put("rebalance", Kind.REBALANCE, "", null);
			default -> clearOne();
		}
	}

	private void put(String name, Kind kind, String subject, @Nullable String to) {
		this.simulation.fault(name, Duration.ZERO);
		if (!this.group.stored().members().isEmpty()) {
			store().put(Directive.of(kind, subject, to, "the simulation", ""));
		}
	}

	private void clearOne() {
		List<Directive> all = store().read().all();
		if (!all.isEmpty()) {
			Directive one = all.get(this.random.nextInt(all.size()));
			this.simulation.fault("clearing of a " + one.kind(), Duration.ZERO);
			store().clear(one.kind(), one.subject());
		}
	}

	/** Resumes what would keep children from being consumed, and perhaps everything. */
	void last() {
		if (!resumeParents() && this.random.nextBoolean()) {
			resumeAll();
		}
	}

	/** Also a failover may have brought a pause back. */
	private boolean resumeParents() {
		boolean closed = this.group.topic().ends().keySet().stream().anyMatch(this.group.topic()::isClosed);
		if (closed) {
			resumeAll();
		}
		return closed;
	}

	private void resumeAll() {
		store().read().of(Kind.PAUSE).forEach((pause) -> store().clear(Kind.PAUSE, pause.subject()));
	}

	private DirectiveStore store() {
		return this.group.directives();
	}

	boolean isPaused(ShardId shard) {
		return store().read().pauseOf(shard) != null;
	}

	boolean decideOwners() {
		Directives now = store().read();
		return !now.of(Kind.PIN).isEmpty() || !now.drained().isEmpty();
	}

	/** Returns what is not as an operator wants it, {@code null} if all is. */
	@Nullable String unrest() {
		resumeParents();
		Directives now = store().read();
		if (!now.requests().isEmpty()) {
			return "not followed: " + now.requests();
		}
		List<String> members = this.group.members().stream().map(SimulatedInstance::toString).toList();
		List<String> taking = new ArrayList<>(members);
		taking.removeAll(now.drained());
		for (Ownership ownership : this.group.stored().ownerships()) {
			if (ownership.phase() == Phase.COMPLETED) {
				continue;
			}
			String owner = (ownership.owner() != null) ? ownership.owner().instance() : "";
			if (!taking.isEmpty() && now.drained().contains(owner)) {
				return ownership + " is with a drained instance";
			}
			Directive pin = now.pinOf(ownership.shard());
			if (pin != null && taking.contains(pin.to()) && !owner.equals(pin.to())) {
				return ownership + " is pinned to " + pin.to();
			}
		}
		return null;
	}

	/** Appends a record to each paused shard; returns these shards. */
	List<ShardId> feedPaused() {
		List<ShardId> paused = this.group.topic().ends().keySet().stream().filter(this::isPaused).toList();
		paused.forEach(this.group.topic()::append);
		return paused;
	}

	/** Requires that no call has begun for these shards since a time. */
	void requireUntouched(List<ShardId> paused, long since) {
		paused.forEach((shard) -> {
			Checker.Call last = this.group.checker().last(shard);
			if (last != null && last.since() > since) {
				throw new AssertionError("Called although the shard is paused: " + last);
			}
		});
	}

}
