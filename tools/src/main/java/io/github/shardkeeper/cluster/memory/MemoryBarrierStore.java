package io.github.shardkeeper.cluster.memory;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.cluster.barrier.BarrierStore;
import io.github.shardkeeper.cluster.memory.MemoryCluster.Outbox;
import io.github.shardkeeper.coordination.memory.MemoryGroup;
import io.github.shardkeeper.shard.MemberId;

/**
 * The double barriers of a group in memory; the counterpart of {@code barriers.lua}.
 * Thread-safe.
 */
public final class MemoryBarrierStore implements BarrierStore {

	/** As on Redis, as are the two below. */
	private static final long PAUSE_MILLIS = 100;

	private static final long ENDS_KEPT_MILLIS = 3_600_000;

	private static final int MOST_ENDS_KEPT = 10_000;

	private final MemoryCluster cluster;

	/** Creates a store. */
	public MemoryBarrierStore(MemoryCluster cluster) {
		this.cluster = cluster;
	}

	@Override
	public Reply enter(Request request) {
		return this.cluster.transition((group, outbox) -> barriers(group).enter(group, outbox, request));
	}

	@Override
	public Reply withdraw(MemberId session, String barrier, String ticket, boolean force) {
		return this.cluster
			.transition((group, outbox) -> barriers(group).withdraw(group, outbox, session, barrier, ticket, force));
	}

	@Override
	public Reply leave(MemberId session, String barrier, String ticket, long round) {
		return this.cluster
			.transition((group, outbox) -> barriers(group).leave(group, outbox, session, barrier, ticket, round));
	}

	/** A session counts its tickets. */
	private static long number(String ticket) {
		return Long.parseLong(ticket.substring(ticket.lastIndexOf('.') + 1));
	}

	private static Barriers barriers(MemoryGroup group) {
		return group.attachment(Barriers.class, Barriers::new);
	}

	/** A party in a round. */
	private record Party(MemberId session, String ticket, boolean left) {

	}

	/**
	 * A round.
	 *
	 * @param number its number; 0 while parties enter
	 * @param view the number of the view; 0 for none
	 * @param missing sessions that have gone without leaving; some break the round
	 */
	private record Round(long number, int size, long view, List<MemberId> missing, List<Party> parties) {

		boolean isFull() {
			return this.number != 0;
		}

		@Nullable Party party(MemberId session) {
			return this.parties.stream().filter((party) -> party.session().equals(session)).findFirst().orElse(null);
		}

		int left() {
			return (int) this.parties.stream().filter(Party::left).count();
		}

		Round without(Party party) {
			List<Party> others = this.parties.stream().filter((other) -> !other.equals(party)).toList();
			return new Round(this.number, this.size, this.view, this.missing, others);
		}

		Round with(Party party) {
			List<Party> all = new ArrayList<>(this.parties);
			all.add(party);
			return new Round(this.number, this.size, this.view, this.missing, List.copyOf(all));
		}

		Round whereHasLeft(Party party) {
			return new Round(this.number, this.size, this.view, this.missing,
					this.parties.stream()
						.map((each) -> each.equals(party) ? new Party(each.session(), each.ticket(), true) : each)
						.toList());
		}

		/** Without a party that has not left, which breaks a full round. */
		Round missing(Party party) {
			if (!isFull()) {
				return without(party);
			}
			List<MemberId> all = new ArrayList<>(this.missing);
			all.add(party.session());
			return new Round(this.number, this.size, this.view, List.copyOf(all), without(party).parties());
		}

		/** Without those that the group does not know any more. */
		Round withoutGone(MemoryGroup group) {
			Round rest = this;
			for (Party party : this.parties) {
				if (!party.left() && !group.isMember(party.session())) {
					rest = rest.missing(party);
				}
			}
			return rest;
		}

	}

	/** How a round has ended; without anybody missing, it was complete. */
	private record End(List<MemberId> missing, long atMillis) {

		Reply reply() {
			return this.missing.isEmpty() ? new Over() : new Broken(this.missing);
		}

	}

	private static final class Barriers implements ClusterAttachment {

		private final Map<String, Round> rounds = new TreeMap<>();

		/** By number of the round, in the order of ending. */
		private final Map<Long, End> ends = new LinkedHashMap<>();

		@Override
		public Barriers copy() {
			Barriers copy = new Barriers();
			copy.rounds.putAll(this.rounds);
			copy.ends.putAll(this.ends);
			return copy;
		}

		Reply enter(MemoryGroup group, Outbox outbox, Request request) {
			if (!group.hasLease(request.session())) {
				return new Paused(PAUSE_MILLIS);
			}
			String name = request.barrier();
			Round round = this.rounds.get(name);
			Party party = (round != null) ? round.party(request.session()) : null;
			boolean known = party != null && party.ticket().equals(request.ticket());
			if (round != null && round.isFull() && known) {
				return new Entered(round.number());
			}
			if (group.isInClaimPeriod()) {
				return new Paused(PAUSE_MILLIS);
			}
			long view = MemoryViewStore.views(group).number();
			if (round != null && !round.isFull() && round.view() != 0 && round.view() != view) {
				this.rounds.remove(name);
				tell(outbox, name, round, "view");
				round = null;
				party = null;
				known = false;
			}
			if (request.view() != 0 && request.view() != view) {
				return new ViewChanged(view);
			}
			if (round != null && party != null && !known && number(request.ticket()) < number(party.ticket())) {
				// Nobody waits for this question any more: it was on its way while its
				// session has entered again.
				return new Busy(round.left(), round.size());
			}
			if (round != null && round.isFull()) {
				if (party != null && !known && !party.left()) {
					// Given up, but a question of it has come later, and the round has
					// begun with it.
					remove(group, outbox, name, round, party);
				}
				return new Busy(round.left(), round.size());
			}
			if (round != null && party != null && !known) {
				// Given up, and the store has not heard of it yet.
				round = round.without(party);
			}
			if (round != null && (round.size() != request.parties() || round.view() != request.view())) {
				round = round.withoutGone(group);
				save(group, outbox, name, round);
				if (!round.parties().isEmpty()) {
					return new OtherParties(round.size(), round.view() != 0);
				}
				round = null;
			}
			if (round == null) {
				round = new Round(0, request.parties(), request.view(), List.of(), List.of());
			}
			if (!known) {
				round = round.with(new Party(request.session(), request.ticket(), false));
			}
			if (round.parties().size() >= round.size()) {
				round = round.withoutGone(group);
			}
			if (round.parties().size() >= round.size()) {
				round = new Round(group.nextToken().value(), round.size(), round.view(), List.of(), round.parties());
				save(group, outbox, name, round);
				tell(outbox, name, round, "full");
				return new Entered(round.number());
			}
			save(group, outbox, name, round);
			return new Waiting(round.parties().size(), round.size());
		}

		Reply withdraw(MemoryGroup group, Outbox outbox, MemberId session, String name, String ticket, boolean force) {
			Round round = this.rounds.get(name);
			Party party = (round != null) ? round.party(session) : null;
			if (round == null || party == null || !party.ticket().equals(ticket)) {
				return new Withdrawn();
			}
			if (round.isFull() && !force) {
				return new Entered(round.number());
			}
			if (!party.left()) {
				remove(group, outbox, name, round, party);
			}
			return new Withdrawn();
		}

		private void remove(MemoryGroup group, Outbox outbox, String name, Round round, Party party) {
			Round rest = round.missing(party);
			save(group, outbox, name, rest);
			if (rest.isFull()) {
				tell(outbox, name, rest, "broken");
			}
		}

		Reply leave(MemoryGroup group, Outbox outbox, MemberId session, String name, String ticket, long number) {
			End end = this.ends.get(number);
			if (end != null) {
				return end.reply();
			}
			if (!group.isMember(session)) {
				return new Paused(PAUSE_MILLIS);
			}
			Round round = this.rounds.get(name);
			Party party = (round != null) ? round.party(session) : null;
			if (round == null || party == null || !party.ticket().equals(ticket)) {
				return new Lost();
			}
			if (round.number() != number) {
				// What others see of it is older than the round.
				remove(group, outbox, name, round, party);
				return new Lost();
			}
			if (!party.left()) {
				round = round.whereHasLeft(party);
				save(group, outbox, name, round);
			}
			if (!round.missing().isEmpty()) {
				return new Broken(round.missing());
			}
			return (round.left() == round.parties().size()) ? new Over() : new Waiting(round.left(), round.size());
		}

		/** Keeps a round, or ends it if nobody is in it any more. */
		private void save(MemoryGroup group, Outbox outbox, String name, Round round) {
			if (round.left() < round.parties().size()) {
				this.rounds.put(name, round);
				return;
			}
			this.rounds.remove(name);
			if (round.isFull()) {
				this.ends.put(round.number(), new End(round.missing(), group.nowMillis()));
				this.ends.values().removeIf((end) -> end.atMillis() <= group.nowMillis() - ENDS_KEPT_MILLIS);
				if (this.ends.size() > MOST_ENDS_KEPT) {
					this.ends.remove(this.ends.keySet().iterator().next());
				}
				tell(outbox, name, round, "over");
			}
		}

		private static void tell(Outbox outbox, String name, Round round, String what) {
			outbox.tellAll(String.join("|", "barrier", name, Long.toString(round.number()), what));
		}

		@Override
		public void freeGoneMembers(MemoryGroup group, Outbox outbox) {
			long view = MemoryViewStore.views(group).number();
			new TreeMap<>(this.rounds).forEach((name, round) -> {
				if (!round.isFull() && round.view() != 0 && round.view() != view) {
					this.rounds.remove(name);
					tell(outbox, name, round, "view");
					return;
				}
				Round rest = round.withoutGone(group);
				if (!rest.equals(round)) {
					save(group, outbox, name, rest);
					if (rest.isFull()) {
						tell(outbox, name, rest, "broken");
					}
				}
			});
		}

	}

}
