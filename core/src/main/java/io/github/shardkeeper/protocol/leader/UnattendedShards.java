package io.github.shardkeeper.protocol.leader;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Shards;
import io.github.shardkeeper.protocol.GroupChanges.RestartingInstance;
import io.github.shardkeeper.protocol.GroupProblems.GroupProblem;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ListedShards;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * The shards without an owner, or with an owner that has to release them, when a leader
 * read the group. Reports later which of them have been unattended for too long; the
 * problems stay equal as long as these shards do. Confined to the coordinator's loop.
 */
public final class UnattendedShards {

	public static final UnattendedShards NONE = new UnattendedShards(List.of(), 0, new MonotonicTime(0));

	/** Time after which a topic without consumers counts as retired on purpose. */
	public static final Duration RETIRED_AFTER = Duration.ofMinutes(1);

	/**
	 * Time between the completion of a shard and the request of a list that shows it as
	 * open again: the system may need a while to show that the shard is closed.
	 */
	static final Duration REOPENED_AFTER = Duration.ofMinutes(1);

	private static final int MOST_NAMED = 10;

	private static final String RETIRED = "No instance of the group consumes the topic any more. Start an instance "
			+ "that does; or, if the topic is retired, remove its remaining entries with RetiredTopics.forget";

	private static final String REOPENED = "It was read to its end and completed, but its source lists it as open, so "
			+ "nobody consumes it. It was probably deleted and created again: consume it as another topic, or stop "
			+ "consuming the topic, forget it with RetiredTopics.forgetWithData, and consume it again";

	private final List<Candidate> candidates;

	private final long serverMillis;

	private final MonotonicTime seenAt;

	/** Times at which the problem of a shard begins or changes, sorted. */
	private final long[] changes;

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
	 * {@return a problem for each reason, and for each topic that seems to be retired}
	 * Costs nothing while the overdue shards are the same.
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
	 * An unattended shard.
	 *
	 * @param retiredAt time after which its topic counts as retired;
	 * {@link Long#MAX_VALUE} for never
	 */
	private record Candidate(ShardId shard, long sinceMillis, long overdueAt, long retiredAt, String sentence) {

		boolean isOverdue(long nowMillis) {
			return nowMillis > this.overdueAt;
		}

		boolean isRetired(long nowMillis) {
			return nowMillis > this.retiredAt;
		}

	}

	/**
	 * Shards with the same problem: the first ones by name, the number of all, and the
	 * start.
	 */
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

	/**
	 * Finds unattended shards in a leader's picture. Remembers what the store does not
	 * record: the arrival of shards, and the time since which an owner is not a member.
	 */
	static final class Finder {

		private final long patienceMillis;

		private final long handoverMillis;

		/** Shards that arrived during this leadership. */
		private final Map<ShardId, Long> arrivals = new HashMap<>();

		private Shards seen = Shards.NONE;

		private boolean begun;

		private long leadsSinceMillis;

		/**
		 * Owners that are not members: for a moment each one that has ended and had many
		 * shards.
		 */
		private final Map<MemberId, Long> strangers = new HashMap<>();

		private Map<String, ListedShards> listed = Map.of();

		private final Set<String> consumed = new HashSet<>();

		private final Set<String> left = new HashSet<>();

		/**
		 * Creates a finder.
		 * @param patience the time that a shard may have no owner
		 */
		Finder(Duration patience, Duration handoverTimeout) {
			this.patienceMillis = patience.toMillis();
			this.handoverMillis = handoverTimeout.toMillis();
		}

		/** Starts a leadership: the shards that it finds count as old. */
		void elected(long storeMillis) {
			this.arrivals.clear();
			this.seen = Shards.NONE;
			this.begun = false;
			this.leadsSinceMillis = storeMillis;
			this.strangers.clear();
		}

		/** Takes the last lists of open shards. */
		void listed(Map<String, ListedShards> open) {
			this.listed = open;
		}

		/** Finds the unattended shards. Both times are of the same moment. */
		UnattendedShards find(GroupPicture picture, long storeMillis, MonotonicTime now) {
			noteArrivals(picture.shards(), storeMillis);
			noteStrangers(picture, storeMillis);
			this.consumed.clear();
			this.left.clear();
			picture.members()
				.forEach((member) -> (member.leaving() ? this.left : this.consumed)
					.addAll(member.description().topicShards().keySet()));
			List<Candidate> candidates = new ArrayList<>();
			for (int shard = 0; shard < picture.shards().size(); shard++) {
				Ownership ownership = picture.ownership(shard);
				String kept = RestartingInstance.keptFor(ownership);
				Candidate candidate = (ownership != null && kept != null) ? kept(ownership, kept, picture)
						: candidate(picture.shards().get(shard), ownership);
				if (candidate != null) {
					candidates.add(candidate);
				}
			}
			picture.inCycles().forEach((shard, parents) -> {
				long since = arrivedMillis(shard);
				candidates.add(new Candidate(shard, since, since + this.patienceMillis, Long.MAX_VALUE,
						"Nobody owns it, and nobody can: it waits for its parents " + String.join(", ", parents)
								+ ", but the parents that the source reports form a cycle"));
			});
			this.listed.forEach((topic, open) -> addReopened(topic, open, picture,
					storeMillis - open.requestedAt().until(now).toMillis(), candidates));
			return new UnattendedShards(List.copyOf(candidates), storeMillis, now);
		}

		/** Adds completed shards that a later list shows as open. */
		private void addReopened(String topic, ListedShards open, GroupPicture picture, long listedMillis,
				List<Candidate> candidates) {
			for (String id : open.ids()) {
				ShardId shard = new ShardId(topic, id);
				Long completedMillis = picture.completedMillis(shard);
				if (completedMillis != null && listedMillis >= completedMillis + REOPENED_AFTER.toMillis()) {
					candidates.add(new Candidate(shard, completedMillis, completedMillis, Long.MAX_VALUE, REOPENED));
				}
			}
		}

		/** Notes new shards. Costs nothing while the shards are the same. */
		private void noteArrivals(Shards shards, long storeMillis) {
			if (shards == this.seen) {
				return;
			}
			if (this.begun) {
				for (ShardId shard : shards.asList()) {
					if (this.seen.indexOf(shard) < 0) {
						this.arrivals.putIfAbsent(shard, storeMillis);
					}
				}
			}
			this.arrivals.keySet().removeIf((shard) -> shards.indexOf(shard) < 0);
			this.begun = true;
			this.seen = shards;
		}

		private void noteStrangers(GroupPicture picture, long storeMillis) {
			Set<MemberId> owners = new HashSet<>(picture.currentOwners());
			picture.members().forEach((member) -> owners.remove(member.id()));
			this.strangers.keySet().retainAll(owners);
			owners.forEach((owner) -> this.strangers.putIfAbsent(owner, storeMillis));
		}

		/** Returns since when a shard that never had an owner could have had one. */
		private long arrivedMillis(ShardId shard) {
			return this.arrivals.getOrDefault(shard, this.leadsSinceMillis);
		}

		private @Nullable Candidate candidate(ShardId shard, @Nullable Ownership ownership) {
			if (ownership == null) {
				return withoutOwner(shard, arrivedMillis(shard), "Nobody owns it: ");
			}
			MemberId owner = ownership.owner();
			Long strangerSince = (owner != null) ? this.strangers.get(owner) : null;
			if (strangerSince != null) {
				return new Candidate(shard, strangerSince, strangerSince + this.patienceMillis, Long.MAX_VALUE,
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

		/** While it is kept, nobody consumes it because somebody wants that. */
		private Candidate kept(Ownership ownership, String instance, GroupPicture picture) {
			long leavingMillis = picture.roster().awaits(instance) ? this.handoverMillis : 0;
			long keptMillis = Math.max(ownership.sinceMillis() + leavingMillis, picture.keptUntilMillis(instance));
			return withoutOwner(ownership.shard(), Math.max(keptMillis, ownership.untilMillis()),
					"It is no longer kept for the restart of " + instance + ", but nobody owns it: ");
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
