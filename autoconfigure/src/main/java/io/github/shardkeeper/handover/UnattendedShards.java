package io.github.shardkeeper.handover;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.ShardId;

/**
 * The shards that have no owner, or leave theirs, as a leader saw them: who looks later
 * sees which of them have stood still for longer than they should. Immutable.
 */
public final class UnattendedShards {

	/** None. */
	public static final UnattendedShards NONE = new UnattendedShards(List.of(), 0, new MonotonicTime(0));

	private final List<Candidate> candidates;

	private final long serverMillis;

	private final MonotonicTime seenAt;

	private UnattendedShards(List<Candidate> candidates, long serverMillis, MonotonicTime seenAt) {
		this.candidates = candidates;
		this.serverMillis = serverMillis;
		this.seenAt = seenAt;
	}

	/**
	 * Tells which shards have stood still for too long.
	 * @param now the time
	 * @return a sentence for each of them
	 */
	public SortedMap<ShardId, String> overdue(MonotonicTime now) {
		long nowMillis = this.serverMillis + this.seenAt.until(now).toMillis();
		SortedMap<ShardId, String> overdue = new TreeMap<>();
		for (Candidate candidate : this.candidates) {
			long forMillis = nowMillis - candidate.sinceMillis;
			if (forMillis > candidate.patienceMillis) {
				overdue.put(candidate.shard, candidate.sentence.formatted(forMillis / 1000));
			}
		}
		return overdue;
	}

	/** The sentence has a place for the seconds. */
	private record Candidate(ShardId shard, long sinceMillis, long patienceMillis, String sentence) {

	}

	/** Finds them in a leader's picture. */
	static final class Finder {

		private final GroupPicture picture;

		private final long patienceMillis;

		private final long handoverMillis;

		private final ToLongFunction<ShardId> arrivals;

		private final Set<String> consumed = new HashSet<>();

		private final Set<String> left = new HashSet<>();

		/**
		 * Creates a finder.
		 * @param picture the group
		 * @param patience how long a shard may have no owner
		 * @param handoverTimeout how long an owner may take to give a shard up
		 * @param arrivals since when a shard that never had an owner could have had one,
		 * in the store's time
		 */
		Finder(GroupPicture picture, Duration patience, Duration handoverTimeout, ToLongFunction<ShardId> arrivals) {
			this.picture = picture;
			this.patienceMillis = patience.toMillis();
			this.handoverMillis = handoverTimeout.toMillis();
			this.arrivals = arrivals;
			picture.members()
				.forEach((member) -> (member.leaving() ? this.left : this.consumed)
					.addAll(member.description().topicShards().keySet()));
		}

		UnattendedShards find(long serverMillis, MonotonicTime seenAt) {
			List<Candidate> candidates = new ArrayList<>();
			for (int shard = 0; shard < this.picture.shards().size(); shard++) {
				Candidate candidate = (this.picture.owner(shard) == GroupPicture.UNSETTLED)
						? candidate(this.picture.shards().get(shard), this.picture.ownership(shard)) : null;
				if (candidate != null) {
					candidates.add(candidate);
				}
			}
			this.picture.inCircles()
				.forEach((shard, parents) -> candidates
					.add(new Candidate(shard, this.arrivals.applyAsLong(shard), this.patienceMillis,
							"Nobody has owned it for %d s, and nobody will: it waits for its parents "
									+ String.join(", ", parents)
									+ ", and what the source says of parents goes round in a circle")));
			return new UnattendedShards(List.copyOf(candidates), serverMillis, seenAt);
		}

		private @Nullable Candidate candidate(ShardId shard, @Nullable Ownership ownership) {
			if (ownership == null) {
				return new Candidate(shard, this.arrivals.applyAsLong(shard), this.patienceMillis,
						"Nobody has owned it for %d s: " + obstacle(shard));
			}
			return switch (ownership.phase()) {
				case FREE -> new Candidate(shard, ownership.sinceMillis(), this.patienceMillis,
						"Nobody has owned it for %d s: " + obstacle(shard));
				case QUIET -> new Candidate(shard, ownership.untilMillis(), this.patienceMillis,
						"Its quiet period has been over for %d s, but nobody owns it: " + obstacle(shard));
				case REVOKING -> new Candidate(shard, ownership.sinceMillis(), this.handoverMillis, ownership.owner()
						+ " was asked %d s ago to give it up, and has not; the log and health of that instance say why");
				case OWNED, COMPLETED -> null;
			};
		}

		private String obstacle(ShardId shard) {
			if (this.consumed.contains(shard.topic())) {
				return "it could not be assigned yet";
			}
			return this.left.contains(shard.topic()) ? "all instances that consume its topic are leaving"
					: "no instance of the group consumes its topic";
		}

	}

}
