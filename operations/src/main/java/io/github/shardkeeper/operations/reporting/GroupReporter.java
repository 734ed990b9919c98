package io.github.shardkeeper.operations.reporting;

import java.lang.ref.SoftReference;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.GroupDiagnostics.Kind;
import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.operations.request.ShardQuery;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.GroupChanges.RestartingInstance;
import io.github.shardkeeper.protocol.MemberProblems;
import io.github.shardkeeper.protocol.MoveReason;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.report.BroadcastReport;
import io.github.shardkeeper.report.GroupReport;
import io.github.shardkeeper.report.LagReport;
import io.github.shardkeeper.report.MemberReport;
import io.github.shardkeeper.report.MoveReport;
import io.github.shardkeeper.report.PauseReport;
import io.github.shardkeeper.report.RestartingInstanceReport;
import io.github.shardkeeper.report.RunReport;
import io.github.shardkeeper.report.ShardDetails;
import io.github.shardkeeper.report.ShardReport;
import io.github.shardkeeper.report.TimersReport;
import io.github.shardkeeper.report.TopicReport;
import io.github.shardkeeper.schedule.RunPosition;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.OutboxReport;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.text.PrintableText;
import io.github.shardkeeper.time.MonotonicClock;

/**
 * Creates reports of a group from the stores on demand: they are current on every
 * instance and cost nothing between calls. Offsets are read only for the shards of the
 * requested page. Thread-safe.
 */
public final class GroupReporter {

	private static final int MOST_NAMED = 10;

	private static final int NEXT_TIMERS = 10;

	private final ShardCoordinator coordinator;

	private final CoordinationStore coordinationStore;

	private final CheckpointStore checkpointStore;

	private final @Nullable DeadLetterStore deadLetters;

	private final SourceRegistry sources;

	private final Supplier<Map<ShardId, String>> problems;

	private final Function<ShardId, @Nullable OutboxReport> outboxes;

	private final Function<ShardId, List<MoveReport>> moves;

	private final BroadcastReporter broadcast;

	private final MonotonicClock clock;

	/** Last picture of the group. It may be large, and is needed again only if asked. */
	private volatile SoftReference<@Nullable GroupSnapshot> known = new SoftReference<>(null);

	/**
	 * Creates a reporter.
	 * @param deadLetters the dead letters; {@code null} if the store has none
	 * @param problems the problems of this instance's shards
	 * @param outboxes what waits in the outbox of a shard of this instance; {@code null}
	 * if the shard is not of this instance, or has never sent anything
	 * @param moves the last moves of a shard, the newest first
	 * @param broadcast reports the topics that this instance consumes for itself
	 */
	public GroupReporter(ShardCoordinator coordinator, CoordinationStore coordinationStore,
			CheckpointStore checkpointStore, @Nullable DeadLetterStore deadLetters, SourceRegistry sources,
			Supplier<Map<ShardId, String>> problems, Function<ShardId, @Nullable OutboxReport> outboxes,
			Function<ShardId, List<MoveReport>> moves, BroadcastReporter broadcast, MonotonicClock clock) {
		this.coordinator = coordinator;
		this.coordinationStore = coordinationStore;
		this.checkpointStore = checkpointStore;
		this.deadLetters = deadLetters;
		this.sources = sources;
		this.problems = problems;
		this.outboxes = outboxes;
		this.moves = moves;
		this.broadcast = broadcast;
		this.clock = clock;
	}

	/** Returns the report with the first page of all shards. */
	public GroupReport report() {
		return report(ShardQuery.FIRST_PAGE);
	}

	/**
	 * Returns the report; only the reason if the store does not reply.
	 * @throws IllegalArgumentException if the query names an unknown topic or member
	 */
	public GroupReport report(ShardQuery query) {
		try {
			Reading group = read();
			requireKnown(query, group.picture);
			return report(query, group, group.members(), group.topics(), this.broadcast.reports(query.deadLetters()));
		}
		catch (StoreUnavailableException ex) {
			return new GroupReport(this.coordinator.settings().group(), this.coordinator.settings().instance(), self(),
					this.coordinator.isConnected(), null, 0, 0, List.of(), List.of(), List.of(),
					this.broadcast.reports(false), this.coordinator.groupProblems(), 0, List.of(), null, null,
					ex.getMessage());
		}
	}

	/**
	 * Returns the report for a topic only, with the members that consume it; empty if the
	 * group does not know the topic.
	 * @throws IllegalArgumentException if the query names an unknown member
	 * @throws StoreUnavailableException if the store does not reply
	 */
	public Optional<GroupReport> report(String topic, ShardQuery query) {
		Reading group = read();
		List<TopicReport> found = group.topics().stream().filter((report) -> report.topic().equals(topic)).toList();
		if (found.isEmpty()) {
			return Optional.empty();
		}
		ShardQuery ofTopic = query.of(topic);
		requireKnown(ofTopic, group.picture);
		List<MemberReport> members = group.members()
			.stream()
			.filter((member) -> member.topics().containsKey(topic))
			.toList();
		return Optional.of(report(ofTopic, group, members, found, List.of()));
	}

	/**
	 * Returns everything about a shard; empty if it has never had an owner in the group.
	 * @throws StoreUnavailableException if the store does not reply
	 */
	public Optional<ShardDetails> shard(ShardId shard) {
		Reading group = read();
		Ownership ownership = group.picture.shards().get(shard);
		return (ownership != null) ? Optional.of(details(ownership, group)) : Optional.empty();
	}

	/** Returns members and shards as they are now. */
	public GroupSnapshot picture() {
		GroupSnapshot picture = GroupSnapshot.read(this.coordinationStore, this.known.get(), this.clock.now());
		this.known = new SoftReference<>(picture);
		return picture;
	}

	private Reading read() {
		GroupSnapshot picture = picture();
		SharedProblems shared = SharedProblems.read(this.coordinationStore.diagnostics(), picture);
		Map<ShardId, String> found = new HashMap<>(shared.texts());
		String instance = this.coordinator.settings().instance();
		this.problems.get().forEach((shard, text) -> {
			Ownership ownership = picture.shards().get(shard);
			MemberId owner = (ownership != null) ? ownership.owner() : null;
			// Those of this instance are newer than what it has shared.
			if (ownership != null && (owner == null || owner.instance().equals(instance))) {
				found.put(shard, printable(text));
			}
		});
		return new Reading(picture, found, shared.incomplete(), directives());
	}

	private @Nullable String self() {
		return this.coordinator.member().map(MemberId::value).orElse(null);
	}

	private static void requireKnown(ShardQuery query, GroupSnapshot group) {
		String topic = query.topic();
		if (topic != null && group.shards().values().stream().noneMatch((known) -> known.shard().topic().equals(topic))
				&& group.members()
					.stream()
					.noneMatch((member) -> member.description().topicShards().containsKey(topic))) {
			throw new IllegalArgumentException("The group has no topic '%s'".formatted(topic));
		}
		// A former member may still own shards.
		if (query.member() != null && group.members().stream().noneMatch((member) -> query.isMember(member.id()))
				&& group.shards()
					.values()
					.stream()
					.noneMatch((known) -> query.isMember(known.owner()) || query.isMember(known.target()))) {
			throw new IllegalArgumentException("The group has no member '%s'; its members are %s%s".formatted(
					query.member(),
					group.members().stream().map((member) -> member.id().value()).sorted().limit(MOST_NAMED).toList(),
					(group.members().size() > MOST_NAMED) ? " and " + (group.members().size() - MOST_NAMED) + " more"
							: ""));
		}
	}

	private GroupReport report(ShardQuery query, Reading group, List<MemberReport> members, List<TopicReport> topics,
			List<BroadcastReport> broadcastTopics) {
		GroupSnapshot picture = group.picture;
		List<Ownership> page = new ArrayList<>();
		int matching = 0;
		boolean more = false;
		for (Ownership ownership : picture.shards().values()) {
			ShardId shard = ownership.shard();
			if (!query.matches(ownership, group.problems.containsKey(shard))) {
				continue;
			}
			matching++;
			if (query.after() == null || shard.compareTo(query.after()) > 0) {
				more = page.size() == query.limit();
				if (!more) {
					page.add(ownership);
				}
			}
		}
		Reasons reasons = reasons(page);
		String next = (more && !page.isEmpty()) ? page.get(page.size() - 1).shard().toString() : null;
		return new GroupReport(this.coordinator.settings().group(), this.coordinator.settings().instance(), self(),
				this.coordinator.isConnected(), text(picture.leader()), picture.epoch(), picture.generation(), members,
				group.away(), topics, broadcastTopics, this.coordinator.groupProblems(), matching,
				shards(page, group, reasons, query.deadLetters()), next,
				(group.incomplete != null) ? group.incomplete : reasons.incomplete, null);
	}

	/** Reads why shards are where they are, or are going. */
	private Reasons reasons(List<Ownership> page) {
		Map<ShardId, String> sentences = new HashMap<>();
		String incomplete = null;
		try {
			Map<String, String> stored = this.coordinationStore.diagnostics()
				.read(Kind.REASONS, page.stream().map((ownership) -> ownership.shard().toString()).toList());
			page.forEach((ownership) -> MoveReason.parse(stored.getOrDefault(ownership.shard().toString(), ""))
				// An older reason is left if the last one could not be written.
				.filter((reason) -> reason.owner().equals(ownership.destination()))
				.ifPresent((reason) -> sentences.put(ownership.shard(), reason.sentence(ownership.shard()))));
		}
		catch (StoreUnavailableException ex) {
			incomplete = "The reasons of moves are not known: " + printable(String.valueOf(ex.getMessage()));
		}
		page.forEach((ownership) -> {
			String instance = RestartingInstance.keptFor(ownership);
			if (instance != null) {
				sentences.put(ownership.shard(), "Nobody consumes it: it is kept for the restart of " + instance);
			}
		});
		page.forEach((ownership) -> this.coordinator.why(ownership.shard())
			.ifPresent((why) -> sentences.putIfAbsent(ownership.shard(), printable(why))));
		return new Reasons(sentences, incomplete);
	}

	private List<ShardReport> shards(List<Ownership> page, Reading group, Reasons reasons, boolean countsLetters) {
		Map<ShardId, String> unreadable = new HashMap<>();
		Map<ShardId, Offset> offsets = page.isEmpty() ? Map.of()
				: this.checkpointStore.offsets(page.stream().map(Ownership::shard).toList(),
						(shard, failure) -> unreadable.put(shard,
								"Its offset cannot be read. " + printable(String.valueOf(failure.getMessage()))));
		Map<ShardId, Long> letters = countsLetters ? deadLetters(page) : Map.of();
		return page.stream().map((ownership) -> {
			ShardId shard = ownership.shard();
			return shard(ownership, offsets.get(shard), group.problems.getOrDefault(shard, unreadable.get(shard)),
					reasons.sentences.get(shard), group.directives, letters.get(shard));
		}).toList();
	}

	/**
	 * Counts dead letters; none if the store refuses, which the report on a shard says.
	 */
	private Map<ShardId, Long> deadLetters(List<Ownership> page) {
		DeadLetterStore store = this.deadLetters;
		if (store == null || page.isEmpty()) {
			return Map.of();
		}
		try {
			return store.countDeadLetters(page.stream().map(Ownership::shard).toList());
		}
		catch (StoreUnavailableException ex) {
			if (!ex.isRefusal()) {
				throw ex;
			}
			return Map.of();
		}
	}

	/** Returns what operators want; what is followed here if the store has garbage. */
	private Directives directives() {
		try {
			return this.coordinationStore.directives().read();
		}
		catch (StoreUnavailableException ex) {
			if (!ex.isRefusal()) {
				throw ex;
			}
			return this.coordinator.directives();
		}
	}

	private static @Nullable PauseReport pause(@Nullable Directive pause) {
		return (pause != null) ? new PauseReport(textOrNull(pause.by()), Instant.ofEpochMilli(pause.sinceMillis()),
				textOrNull(pause.reason())) : null;
	}

	private static @Nullable String textOrNull(String text) {
		return text.isEmpty() ? null : text;
	}

	private static @Nullable String pinnedTo(ShardId shard, Directives directives) {
		Directive pin = directives.pinOf(shard);
		return (pin != null) ? pin.to() : null;
	}

	private static ShardReport shard(Ownership ownership, @Nullable Offset offset, @Nullable String problem,
			@Nullable String why, Directives directives, @Nullable Long deadLetters) {
		ShardId shard = ownership.shard();
		RunPosition runs = RunPosition.of(offset);
		return new ShardReport(shard.topic(), shard.id(), ownership.phase().name(), text(ownership.owner()),
				text(ownership.target()), ownership.token().value(),
				(offset != null && runs == null) ? printable(offset.value()) : null,
				Instant.ofEpochMilli(ownership.sinceMillis()), problem, why, (runs != null)
						? new RunReport(runs.next(), runs.started(), runs.failed(), runs.last(), runs.ended()) : null,
				pause(directives.pauseOf(shard)), pinnedTo(shard, directives), deadLetters);
	}

	private ShardDetails details(Ownership ownership, Reading group) {
		ShardId shard = ownership.shard();
		SortedMap<String, String> unreadable = new TreeMap<>();
		if (group.incomplete != null && !group.problems.containsKey(shard)) {
			unreadable.put("problem", group.incomplete);
		}
		Reasons reasons = reasons(List.of(ownership));
		if (reasons.incomplete != null) {
			unreadable.put("why", reasons.incomplete);
		}
		Offset offset = attempt("offset", unreadable, () -> this.checkpointStore.offsets(List.of(shard)).get(shard));
		DeadLetterStore letters = this.deadLetters;
		Offset position = (RunPosition.of(offset) == null) ? offset : null;
		Long stored = (letters != null)
				? attempt("deadLetters", unreadable, () -> letters.countDeadLetters(List.of(shard)).get(shard)) : null;
		return new ShardDetails(this.coordinator.settings().group(),
				shard(ownership, offset, group.problems.get(shard), reasons.sentences.get(shard), group.directives,
						stored),
				(position != null) ? attempt("lag", unreadable, () -> lag(shard, position)) : null, stored,
				(letters != null)
						? attempt("retries", unreadable, () -> letters.countRetries(List.of(shard)).get(shard)) : null,
				attempt("outbox", unreadable, () -> outbox(ownership)),
				attempt("timers", unreadable, () -> timers(shard)),
				attempt("stateEntries", unreadable, () -> this.checkpointStore.countStateEntries(shard)),
				attempt("moves", unreadable, () -> this.moves.apply(shard)), unreadable);
	}

	/** Returns what a call returns, or notes why it cannot be read. */
	private static <T> @Nullable T attempt(String part, Map<String, String> unreadable,
			Supplier<? extends @Nullable T> read) {
		try {
			return read.get();
		}
		catch (StoreUnavailableException | IllegalArgumentException ex) {
			unreadable.put(part, printable(String.valueOf(ex.getMessage())));
			return null;
		}
	}

	/** Reads it from the store only if this instance does not know more. */
	private @Nullable OutboxReport outbox(Ownership ownership) {
		ShardId shard = ownership.shard();
		OutboxReport own = isOwn(ownership) ? this.outboxes.apply(shard) : null;
		if (own != null) {
			return own;
		}
		Long records = this.checkpointStore.countOutbox(shard);
		return (records != null) ? new OutboxReport(records, null, null) : null;
	}

	private @Nullable TimersReport timers(ShardId shard) {
		Long waiting = this.checkpointStore.countTimers(shard);
		return (waiting == null || waiting == 0) ? null
				: new TimersReport(waiting,
						this.checkpointStore.timers(shard, null, NEXT_TIMERS)
							.stream()
							.map((timer) -> new TimersReport.Next(printable(timer.id().key()),
									printable(timer.id().name()), timer.due()))
							.toList());
	}

	private boolean isOwn(Ownership ownership) {
		MemberId owner = ownership.owner();
		return owner != null && owner.instance().equals(this.coordinator.settings().instance());
	}

	private @Nullable LagReport lag(ShardId shard, Offset offset) {
		return ConsumptionSampler.lag(this.sources, shard, offset);
	}

	private static @Nullable String text(ApplicationVersion version) {
		return version.equals(ApplicationVersion.UNKNOWN) ? null : version.value();
	}

	private static @Nullable String text(@Nullable MemberId member) {
		return (member != null) ? member.value() : null;
	}

	private static String printable(String text) {
		return PrintableText.of(text, MemberProblems.LONGEST_PROBLEM);
	}

	/**
	 * Why shards are where they are.
	 *
	 * @param incomplete why some are missing; {@code null} if none are
	 */
	private record Reasons(Map<ShardId, String> sentences, @Nullable String incomplete) {

	}

	/**
	 * The group at the time of a call, with the problems of its shards.
	 *
	 * @param incomplete why some problems are missing; {@code null} if none are
	 */
	private record Reading(GroupSnapshot picture, Map<ShardId, String> problems, @Nullable String incomplete,
			Directives directives) {

		List<MemberReport> members() {
			Map<MemberId, Integer> loads = new HashMap<>();
			this.picture.shards().values().forEach((ownership) -> {
				MemberId owner = ownership.owner();
				if (owner != null) {
					loads.merge(owner, 1, Integer::sum);
				}
			});
			return this.picture.members()
				.stream()
				.map((member) -> report(member, loads.getOrDefault(member.id(), 0)))
				.sorted((one, other) -> one.id().compareTo(other.id()))
				.toList();
		}

		List<RestartingInstanceReport> away() {
			Map<String, Integer> kept = new HashMap<>();
			this.picture.shards().values().forEach((ownership) -> {
				String instance = RestartingInstance.keptFor(ownership);
				if (instance != null) {
					kept.merge(instance, 1, Integer::sum);
				}
			});
			return this.picture.away()
				.stream()
				.map((away) -> new RestartingInstanceReport(away.instance(), text(away.description().version()),
						Instant.ofEpochMilli(away.sinceMillis()), Instant.ofEpochMilli(away.untilMillis()),
						kept.getOrDefault(away.instance(), 0)))
				.toList();
		}

		private MemberReport report(GroupMember member, int shards) {
			MemberId id = member.id();
			SortedMap<String, Integer> sizes = new TreeMap<>();
			member.description().topicShards().forEach((topic, known) -> sizes.put(topic, known.size()));
			return new MemberReport(id.value(), id.instance(), text(member.description().version()),
					member.description().capacity(), member.description().zone(), id.equals(this.picture.leader()),
					member.leaving(), this.directives.drained().contains(id.instance()),
					silentSince(this.picture.silent().get(id)), sizes, shards);
		}

		private static @Nullable Instant silentSince(@Nullable Long leaseEnd) {
			return (leaseEnd != null) ? Instant.ofEpochMilli(leaseEnd) : null;
		}

		/** Includes topics that members consume and that have had no shard yet. */
		List<TopicReport> topics() {
			SortedMap<String, SortedMap<String, Integer>> states = new TreeMap<>();
			this.picture.members()
				.forEach((member) -> member.description()
					.topicShards()
					.keySet()
					.forEach((topic) -> states.putIfAbsent(topic, new TreeMap<>())));
			this.picture.shards()
				.values()
				.forEach((ownership) -> states.computeIfAbsent(ownership.shard().topic(), (topic) -> new TreeMap<>())
					.merge(ownership.phase().name(), 1, Integer::sum));
			Map<String, Integer> withProblem = new HashMap<>();
			this.problems.keySet().forEach((shard) -> withProblem.merge(shard.topic(), 1, Integer::sum));
			return states.entrySet()
				.stream()
				.map((entry) -> new TopicReport(entry.getKey(),
						entry.getValue().values().stream().mapToInt(Integer::intValue).sum(), entry.getValue(),
						withProblem.getOrDefault(entry.getKey(), 0),
						pause(this.directives.find(Directive.Kind.PAUSE, entry.getKey()))))
				.toList();
		}

	}

}
