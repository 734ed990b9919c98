package io.github.shardkeeper.cluster.memory;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.cluster.ClusterSignal;
import io.github.shardkeeper.cluster.memory.MemoryCluster.Outbox;
import io.github.shardkeeper.cluster.signal.SignalStore;
import io.github.shardkeeper.coordination.memory.MemoryGroup;
import io.github.shardkeeper.shard.MemberId;

/**
 * The signals of a group in memory; the counterpart of {@code signals.lua}. Thread-safe.
 */
public final class MemorySignalStore implements SignalStore {

	/** Names may be made up while no member comes or goes. */
	private static final int FORGET_EVERY = 256;

	private final MemoryCluster cluster;

	/** Creates a store. */
	public MemorySignalStore(MemoryCluster cluster) {
		this.cluster = cluster;
	}

	@Override
	public long send(String name, String payload, Duration retention, String address) {
		return this.cluster.transition((group, outbox) -> {
			long number = group.nextToken().value();
			MemoryViewStore.views(group).signals = number;
			Instant now = Instant.ofEpochMilli(group.nowMillis());
			signals(group).latest.put(name, new Stored(new ClusterSignal(name, number, now, payload),
					group.nowMillis() + retention.toMillis(), address));
			if (signals(group).latest.size() % FORGET_EVERY == 0) {
				signals(group).forgetSignals(group);
			}
			outbox.tellAll("signal|" + name + "|" + number);
			return number;
		});
	}

	@Override
	public @Nullable Map<String, Latest> acknowledge(MemberId session, Map<String, Listening> listening) {
		Optional<Map<String, Latest>> latest = this.cluster.transition((group, outbox) -> {
			if (!group.isMember(session)) {
				return Optional.empty();
			}
			Map<String, Latest> found = new TreeMap<>();
			listening.forEach((name, last) -> {
				ClusterSignal signal = signals(group).acknowledge(group, outbox, session, name, last);
				if (signal != null) {
					found.put(name, Latest.of(signal));
				}
			});
			return Optional.of(found);
		});
		return latest.orElse(null);
	}

	@Override
	public Map<MemberId, Handled> acknowledgements(String name) {
		return this.cluster.transition((group, outbox) -> {
			Map<MemberId, Handled> listeners = new TreeMap<>(signals(group).listeners(name));
			listeners.keySet().removeIf((session) -> !group.isMember(session));
			return listeners;
		});
	}

	private static Signals signals(MemoryGroup group) {
		return group.attachment(Signals.class, Signals::new);
	}

	private record Stored(ClusterSignal signal, long retainedUntil, String address) {

	}

	private static final class Signals implements ClusterAttachment {

		/** By name. */
		private final Map<String, Stored> latest = new TreeMap<>();

		/** By name; maps are never changed, so that copies can share them. */
		private final Map<String, Map<MemberId, Handled>> acks = new TreeMap<>();

		@Override
		public Signals copy() {
			Signals copy = new Signals();
			copy.latest.putAll(this.latest);
			copy.acks.putAll(this.acks);
			return copy;
		}

		Map<MemberId, Handled> listeners(String name) {
			return this.acks.getOrDefault(name, Map.of());
		}

		@Nullable ClusterSignal acknowledge(MemoryGroup group, Outbox outbox, MemberId session, String name,
				Listening listening) {
			Stored stored = this.latest.get(name);
			long number = (stored != null) ? stored.signal().number() : 0;
			Handled known = listeners(name).get(session);
			Handled handled = (known != null) ? listening.handled() : begin(group, stored, listening);
			if (known == null || handled.number() > known.number()) {
				Map<MemberId, Handled> changed = new TreeMap<>(listeners(name));
				changed.put(session, handled);
				this.acks.put(name, changed);
				if (stored != null && handled.outcome() != Outcome.LISTENS && handled.number() == number) {
					outbox.tell(stored.address(), String.join("|", "signaled", name, Long.toString(number),
							session.value(), handled.outcome().name(), handled.message()));
				}
			}
			long done = Math.max(handled.number(), (known != null) ? known.number() : 0);
			return (stored != null && number > done) ? stored.signal() : null;
		}

		/** Returns the first entry of a session: what is over counts as done. */
		private static Handled begin(MemoryGroup group, @Nullable Stored stored, Listening listening) {
			Handled last = listening.handled();
			if (stored == null) {
				return (last.number() > 0) ? last
						: new Handled(MemoryViewStore.views(group).signals, Outcome.LISTENS, "");
			}
			long age = group.nowMillis() - stored.signal().sentAt().toEpochMilli();
			boolean over = stored.retainedUntil() <= group.nowMillis() || age > listening.maxAge().toMillis();
			return (over && stored.signal().number() > last.number())
					? new Handled(stored.signal().number(), Outcome.LISTENS, "") : last;
		}

		@Override
		public void freeGoneMembers(MemoryGroup group, Outbox outbox) {
			this.acks.replaceAll((name, listeners) -> {
				Map<MemberId, Handled> left = new TreeMap<>(listeners);
				left.keySet().removeIf((session) -> !group.isMember(session));
				return left;
			});
			this.acks.values().removeIf(Map::isEmpty);
			forgetSignals(group);
		}

		/** Forgets those that are over and that all who listen have handled. */
		void forgetSignals(MemoryGroup group) {
			this.latest.values()
				.removeIf((stored) -> stored.retainedUntil() <= group.nowMillis()
						&& listeners(stored.signal().name()).values()
							.stream()
							.allMatch((handled) -> handled.number() >= stored.signal().number()));
		}

	}

}
