package io.github.shardkeeper.handover;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

/**
 * The shards that nobody consumes, or whose owner is to give them up, as a leader saw
 * them: who looks later sees which of them have stood still for longer than they should.
 * What it says stays the same while they do. Not thread-safe: confined to the
 * coordinator's loop.
 */
public final class UnattendedShards {

	/** None. */
	public static final UnattendedShards NONE = new UnattendedShards(List.of(), 0, new MonotonicTime(0));

	/**
	 * A topic that no instance consumes for so long is taken for a retired one: nobody
	 * consumes it because somebody wants it so.
	 */
	public static final Duration RETIRED_AFTER = Duration.ofMinutes(1);

	private static final int MOST_NAMED = 10;

	private static final String RETIRED = "No instance of the group consumes the topic any more. If it is retired, "
			+ "remove its remaining entries with RetiredTopics.forget; otherwise start an instance that consumes it";

	private final List<Candidate> candidates;

	private final long serverMillis;

	private final MonotonicTime seenAt;

	/** When what is said of one of them changes, in order. */
	private final long[] changes;

	/** What was said when so many changes were over. */
	private List<GroupProblem> problems = List.of();

	private int problemsAfter;

	private UnattendedShards(List<Candidate> candidates, long serverMillis, MonotonicTime seenAt) {
		this.candidates = candidates;
		this.serverMillis = serverMillis;
		this.seenAt = seenAt;
		this.changes = candidates.stream()
			.flatMapToLong((candidate) -> Arrays.stream(new long[] { candidate.overdueAt(), candidate.retiredAt() }))
			.filter((millis) -> millis != Long.MAX_VALUE)
			.sorted()
			.toArray();
	}

	/**
	 * Tells which shards have stood still for too long. Costs nothing while these are the
	 * same.
	 * @param now the time
	 * @return a problem for each reason, and for each topic that seems to be retired
	 */
	public List<GroupProblem> problems(MonotonicTime now) {
		long nowMillis = millis(now);
		int after = 0;
		if (this.changes.length > 0 && this.changes[0] < nowMillis) {
			int place = Arrays.binarySearch(this.changes, nowMillis);
			after = (place < 0) ? -place - 1 : place;
		}
		if (after != this.problemsAfter) {
			this.problemsAfter = after;
			this.problems = problemsAt(nowMillis);
		}
		return this.problems;
	}

	private List<GroupProblem> problemsAt(long nowMillis) {
		SortedMap<String, Affected> unattended = new TreeMap<>();
		SortedMap<String, Affected> retired = new TreeMap<>();
		for (Candidate candidate : this.candidates) {
			if (candidate.isRetired(nowMillis)) {
				retired.computeIfAbsent(candidate.shard().topic(), (topic) -> new Affected()).add(candidate);
			}
			else if (candidate.isOverdue(nowMillis)) {
				unattended.computeIfAbsent(candidate.sentence(), (sentence) -> new Affected()).add(candidate);
			}
		}
		List<GroupProblem> found = new ArrayList<>();
		unattended.forEach(
				(sentence, affected) -> found.add(new GroupProblem(true, "unattended", sentence, affected.text())));
		retired.forEach((topic, affected) -> found
			.add(new GroupProblem(false, "retired", RETIRED, "'%s': %s".formatted(topic, affected.text()))));
		return List.copyOf(found);
	}

	/** The sentence for each of them. */
	SortedMap<ShardId, String> overdue(MonotonicTime now) {
		SortedMap<ShardId, String> overdue = new TreeMap<>();
		for (Candidate candidate : this.candidates) {
			if (candidate.isOverdue(millis(now)) && !candidate.isRetired(millis(now))) {
				overdue.put(candidate.shard(), candidate.sentence());
			}
		}
		return overdue;
	}

	private long millis(MonotonicTime now) {
		return this.serverMillis + this.seenAt.until(now).toMillis();
	}

	/**
	 * One that stands still.
	 *
	 * @param overdueAt after which it has stood still for too long
	 * @param retiredAt after which that counts as wanted, {@link Long#MAX_VALUE} for
	 * never
	 */
	private record Candidate(ShardId shard, long sinceMillis, long overdueAt, long retiredAt, String sentence) {

		boolean isOverdue(long nowMillis) {
			return nowMillis > this.overdueAt;
		}

		boolean isRetired(long nowMillis) {
			return nowMillis > this.retiredAt;
		}

	}

	/** The first ones by name, how many more, and since when. */
	private static final class Affected {

		private final List<String> first = new ArrayList<>();

		private int count;

		private long sinceMillis = Long.MAX_VALUE;

		void add(Candidate candidate) {
			this.count++;
			this.sinceMillis = Math.min(this.sinceMillis, candidate.sinceMillis());
			if (this.first.size() < MOST_NAMED) {
				this.first.add(candidate.shard().toString());
			}
		}

		String text() {
			String more = (this.count > this.first.size()) ? " and " + (this.count - this.first.size()) + " more" : "";
			return String.join(", ", this.first) + more + ", since "
					+ Instant.ofEpochMilli(this.sinceMillis).truncatedTo(ChronoUnit.SECONDS);
		}

	}

	/** Finds them in a leader's picture. */
	static final class Finder {

		private final GroupPicture picture;

		private final long patienceMillis;

		private final long handoverMillis;

		private final ToLongFunction<ShardId> arrivals;

		private final Strangers strangers;

		private final Set<String> consumed = new HashSet<>();

		private final Set<String> left = new HashSet<>();

		/**
		 * Creates a finder.
		 * @param picture the group
		 * @param patience how long a shard may have no owner
		 * @param handoverTimeout how long an owner may take to give a shard up
		 * @param arrivals since when a shard that never had an owner could have had one,
		 * in the store's time
		 * @param strangers since when an owner is no member, in the store's time
		 */
		Finder(GroupPicture picture, Duration patience, Duration handoverTimeout, ToLongFunction<ShardId> arrivals,
				Strangers strangers) {
			this.picture = picture;
			this.patienceMillis = patience.toMillis();
			this.handoverMillis = handoverTimeout.toMillis();
			this.arrivals = arrivals;
			this.strangers = strangers;
			picture.members()
				.forEach((member) -> (member.leaving() ? this.left : this.consumed)
					.addAll(member.description().topicShards().keySet()));
		}

		UnattendedShards find(long serverMillis, MonotonicTime seenAt) {
			List<Candidate> candidates = new ArrayList<>();
			for (int shard = 0; shard < this.picture.shards().size(); shard++) {
				Candidate candidate = candidate(this.picture.shards().get(shard), this.picture.ownership(shard));
				if (candidate != null) {
					candidates.add(candidate);
				}
			}
			this.picture.inCircles().forEach((shard, parents) -> {
				long since = this.arrivals.applyAsLong(shard);
				candidates.add(new Candidate(shard, since, since + this.patienceMillis, Long.MAX_VALUE,
						"Nobody owns it, and nobody can: it waits for its parents " + String.join(", ", parents)
								+ ", but the parents that the source reports form a cycle"));
			});
			return new UnattendedShards(List.copyOf(candidates), serverMillis, seenAt);
		}

		private @Nullable Candidate candidate(ShardId shard, @Nullable Ownership ownership) {
			if (ownership == null) {
				return withoutOwner(shard, this.arrivals.applyAsLong(shard), "Nobody owns it: ");
			}
			MemberId owner = ownership.owner();
			if (owner != null && this.strangers.contain(owner)) {
				long since = this.strangers.sinceMillis(owner);
				return new Candidate(shard, since, since + this.patienceMillis, Long.MAX_VALUE,
						"Its owner " + owner + " is not a member of the group, so nobody consumes it");
			}
			return switch (ownership.phase()) {
				case FREE -> withoutOwner(shard, ownership.sinceMillis(), "Nobody owns it: ");
				case QUIET ->
					withoutOwner(shard, ownership.untilMillis(), "Its quiet period is over, but nobody owns it: ");
				case REVOKING -> new Candidate(shard, ownership.sinceMillis(),
						ownership.sinceMillis() + this.handoverMillis, Long.MAX_VALUE,
						owner + " was asked to release it and has not; the log and health of that instance say why");
				case OWNED, COMPLETED -> null;
			};
		}

		private Candidate withoutOwner(ShardId shard, long sinceMillis, String sentence) {
			long overdueAt = sinceMillis + this.patienceMillis;
			if (this.consumed.contains(shard.topic())) {
				return new Candidate(shard, sinceMillis, overdueAt, Long.MAX_VALUE,
						sentence + "it could not be assigned yet");
			}
			if (this.left.contains(shard.topic())) {
				return new Candidate(shard, sinceMillis, overdueAt, Long.MAX_VALUE,
						sentence + "all instances that consume its topic are leaving");
			}
			return new Candidate(shard, sinceMillis, overdueAt, sinceMillis + RETIRED_AFTER.toMillis(),
					sentence + "no instance of the group consumes its topic");
		}

	}

}
