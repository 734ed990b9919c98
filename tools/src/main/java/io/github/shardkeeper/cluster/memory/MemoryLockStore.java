package io.github.shardkeeper.cluster.memory;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.cluster.lock.LockStore;
import io.github.shardkeeper.cluster.memory.MemoryCluster.Outbox;
import io.github.shardkeeper.coordination.memory.MemoryGroup;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Token;

/** The locks of a group in memory; the counterpart of {@code locks.lua}. Thread-safe. */
public final class MemoryLockStore implements LockStore {

	/** As on Redis. */
	private static final long CLAIM_PERIOD_PAUSE_MILLIS = 100;

	private final MemoryCluster cluster;

	/** Creates a store. */
	public MemoryLockStore(MemoryCluster cluster) {
		this.cluster = cluster;
	}

	@Override
	public Reply acquire(Request request) {
		return this.cluster.transition((group, outbox) -> locks(group).acquire(group, outbox, request));
	}

	@Override
	public boolean release(MemberId session, String lock, String ticket) {
		return this.cluster.transition((group, outbox) -> locks(group).release(group, outbox, session, lock, ticket));
	}

	@Override
	public Set<String> check(Map<String, String> waiting) {
		return this.cluster.transition((group, outbox) -> {
			Locks locks = locks(group);
			waiting.values().stream().distinct().forEach((lock) -> locks.grantNext(group, outbox, lock));
			Set<String> others = new TreeSet<>(waiting.keySet());
			others.removeIf((ticket) -> locks.waiting(waiting.getOrDefault(ticket, ""))
				.stream()
				.anyMatch((request) -> request.ticket().equals(ticket)));
			return others;
		});
	}

	@Override
	public Map<String, String> held(MemberId session) {
		return this.cluster.transition((group, outbox) -> {
			Map<String, String> held = new TreeMap<>();
			locks(group).held.forEach((lock, current) -> {
				if (session.equals(current.session())) {
					held.put(lock, current.ticket());
				}
			});
			return held;
		});
	}

	static String describe(MemoryGroup group, String lock) {
		Locks locks = locks(group);
		return "held: " + locks.held.get(lock) + ", waiting: " + locks.waiting(lock);
	}

	static int waiting(MemoryGroup group, String lock) {
		return locks(group).waiting(lock).size();
	}

	private static Locks locks(MemoryGroup group) {
		return group.attachment(Locks.class, Locks::new);
	}

	/**
	 * A lock that is held, or not free yet.
	 *
	 * @param session the holder's session, {@code null} if it was released
	 * @param freeAt the time at which it is free again, 0 for only when it is released
	 */
	private record Held(@Nullable MemberId session, String ticket, Token token, long notBefore, long freeAt) {

		boolean isBy(MemberId member, String by) {
			return member.equals(this.session) && this.ticket.equals(by);
		}

	}

	private static final class Locks implements ClusterAttachment {

		private final Map<String, Held> held = new TreeMap<>();

		/** By lock, in the order of asking. */
		private final Map<String, List<Request>> waiting = new HashMap<>();

		@Override
		public Locks copy() {
			Locks copy = new Locks();
			copy.held.putAll(this.held);
			copy.waiting.putAll(this.waiting);
			return copy;
		}

		Reply acquire(MemoryGroup group, Outbox outbox, Request request) {
			if (!group.hasLease(request.session())) {
				return Reply.NO_SESSION;
			}
			Held current = this.held.get(request.lock());
			if (current != null && current.isBy(request.session(), request.ticket())
					&& (current.freeAt() == 0 || current.freeAt() > group.nowMillis())) {
				return Reply.granted(current.token(),
						(current.freeAt() == 0) ? -1 : current.freeAt() - group.nowMillis());
			}
			if (group.isInClaimPeriod()) {
				return Reply.held(CLAIM_PERIOD_PAUSE_MILLIS);
			}
			long at = freeAt(group, current);
			if (at == 0) {
				Request first = firstWaiter(group, request.lock());
				if (first == null || first.ticket().equals(request.ticket())) {
					return Reply.granted(grant(group, request),
							request.atMost().isZero() ? -1 : request.atMost().toMillis());
				}
				grantNext(group, outbox, request.lock());
				at = -1;
			}
			List<Request> others = waiting(request.lock());
			if (request.waits() && others.stream().noneMatch((other) -> other.ticket().equals(request.ticket()))) {
				this.waiting.put(request.lock(), with(others, request));
			}
			return Reply.held((at > 0) ? at - group.nowMillis() : -1);
		}

		boolean release(MemoryGroup group, Outbox outbox, MemberId session, String lock, String ticket) {
			forget(lock, ticket);
			Held current = this.held.get(lock);
			if (current == null || !current.isBy(session, ticket)) {
				grantNext(group, outbox, lock);
				return false;
			}
			free(group, lock, current);
			grantNext(group, outbox, lock);
			return true;
		}

		/** Lists are never changed, so that copies can share them. */
		private static List<Request> with(List<Request> some, Request another) {
			return Stream.concat(some.stream(), Stream.of(another)).toList();
		}

		private List<Request> waiting(String lock) {
			return this.waiting.getOrDefault(lock, List.of());
		}

		private void forget(String lock, String ticket) {
			List<Request> left = waiting(lock).stream().filter((other) -> !other.ticket().equals(ticket)).toList();
			if (left.isEmpty()) {
				this.waiting.remove(lock);
			}
			else {
				this.waiting.put(lock, left);
			}
		}

		private static long freeAt(MemoryGroup group, @Nullable Held current) {
			if (current == null) {
				return 0;
			}
			long at = current.notBefore();
			if (current.session() != null && group.isMember(current.session())) {
				if (current.freeAt() == 0) {
					return -1;
				}
				at = Math.max(at, current.freeAt());
			}
			return (at > group.nowMillis()) ? at : 0;
		}

		private @Nullable Request firstWaiter(MemoryGroup group, String lock) {
			return waiting(lock).stream()
				.filter((request) -> group.hasLease(request.session()))
				.findFirst()
				.orElse(null);
		}

		private Token grant(MemoryGroup group, Request request) {
			forget(request.lock(), request.ticket());
			Token token = group.nextToken();
			this.held.put(request.lock(),
					new Held(request.session(), request.ticket(), token,
							group.nowMillis() + request.atLeast().toMillis(),
							request.atMost().isZero() ? 0 : group.nowMillis() + request.atMost().toMillis()));
			return token;
		}

		void grantNext(MemoryGroup group, Outbox outbox, String lock) {
			Request first = group.isInClaimPeriod() ? null : firstWaiter(group, lock);
			if (first == null) {
				return;
			}
			String address = first.ticket().substring(0, first.ticket().indexOf('.'));
			long at = freeAt(group, this.held.get(lock));
			if (at == 0) {
				Token token = grant(group, first);
				outbox.tell(address,
						String.join("|", "lock", lock, first.ticket(), token.toString(), first.session().value()));
			}
			else if (at > 0) {
				outbox.tell(address,
						String.join("|", "lockfree", lock, first.ticket(), Long.toString(at - group.nowMillis())));
			}
		}

		private void free(MemoryGroup group, String lock, Held current) {
			if (current.notBefore() > group.nowMillis()) {
				this.held.put(lock, new Held(null, "", current.token(), current.notBefore(), 0));
			}
			else {
				this.held.remove(lock);
			}
		}

		@Override
		public void freeGoneMembers(MemoryGroup group, Outbox outbox) {
			this.waiting.values()
				.stream()
				.flatMap(List::stream)
				.filter((request) -> !group.isMember(request.session()))
				.toList()
				.forEach((request) -> forget(request.lock(), request.ticket()));
			new TreeMap<>(this.held).forEach((lock, current) -> {
				if (current.session() == null || !group.isMember(current.session())) {
					free(group, lock, current);
					grantNext(group, outbox, lock);
				}
			});
		}

	}

}
