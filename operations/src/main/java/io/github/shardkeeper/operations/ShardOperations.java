package io.github.shardkeeper.operations;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.context.Lifecycle;

import io.github.shardkeeper.DeadLetterFilter;
import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.ShardPositions;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.coordination.CoordinationSettings;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.report.DeadLetterReport;
import io.github.shardkeeper.report.OperationReport;
import io.github.shardkeeper.report.WaitingKeyReport;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Names;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.TopicSources;

/**
 * Performs what people ask for through the endpoint: checks the request, performs it or
 * says what it would do, and records it. Works on every instance, also on one that
 * consumes nothing. Thread-safe. Methods block until the stores have answered, and throw
 * {@link OperationRefusedException} if the request is refused, and
 * {@link StoreUnavailableException} if a store does not answer or refuses; then part of
 * the operation may be done, and it can be repeated.
 */
public final class ShardOperations {

	private static final int MOST_NAMED = 10;

	private final CoordinationSettings settings;

	private final GroupReporter reporter;

	private final TopicSources sources;

	private final Set<String> broadcast;

	private final GroupSteering steering;

	private final SeekOperation seeks;

	private final @Nullable DeadLetterOperation letters;

	private final WaitingKeyOperation waiting;

	private final ConsumptionSwitch consumption;

	private final OperationAudit audit;

	/**
	 * Creates the operations.
	 * @param broadcast the topics that every instance consumes for itself
	 * @param checkpoints the checkpoints, those of broadcast topics included
	 * @param letters the dead letters; {@code null} if the store has none
	 * @param owners notifies the owners of shards, those of broadcast topics included
	 * @param consumption the consumption of this instance
	 * @param closing returns whether the application shuts down
	 */
	public ShardOperations(CoordinationSettings settings, GroupReporter reporter, TopicSources sources,
			Set<String> broadcast, GroupSteering steering, CheckpointStore checkpoints, ShardPositions positions,
			@Nullable DeadLetters letters, Consumer<Collection<ShardId>> owners, Lifecycle consumption,
			BooleanSupplier closing, OperationAudit audit) {
		this.settings = settings;
		this.reporter = reporter;
		this.sources = sources;
		this.broadcast = Set.copyOf(broadcast);
		this.steering = steering;
		this.seeks = new SeekOperation(positions, checkpoints, sources);
		this.letters = (letters != null) ? new DeadLetterOperation(letters) : null;
		this.waiting = new WaitingKeyOperation(checkpoints, owners);
		this.consumption = new ConsumptionSwitch(consumption, closing, settings.group());
		this.audit = audit;
	}

	/** Performs an operation on the group, or on one of its instances. */
	public OperationReport onGroup(OperationRequest request) {
		Action action = Action.of(request, Level.GROUP);
		return perform(action, request, new Subject(null, null));
	}

	/** Performs an operation on all shards of a topic. */
	public OperationReport onTopic(String topic, OperationRequest request) {
		Action action = Action.of(request, Level.TOPIC);
		requireName("topic", topic);
		return perform(action, request, new Subject(topic, null));
	}

	/** Performs an operation on a shard. */
	public OperationReport onShard(String topic, String shard, OperationRequest request) {
		Action action = Action.of(request, Level.SHARD);
		return perform(action, request, new Subject(topic, shard(topic, shard)));
	}

	/**
	 * Returns a page of the dead letters of a shard, oldest first.
	 * @param after {@code next} of the page before, {@code null} at first
	 * @param limit maximum number as text, {@code null} for the default
	 * @param showValues whether to show keys, payloads and texts of exceptions
	 */
	public DeadLetterReport.Page deadLetters(String topic, String shard, @Nullable String after, @Nullable String limit,
			boolean showValues) {
		ShardId id = shard(topic, shard);
		requireLetters(id);
		return letters().list(id, after, limit, showValues);
	}

	/**
	 * Returns a page of the keys of a shard that wait in its retry queue.
	 * @param after {@code next} of the page before, {@code null} at first
	 * @param limit maximum number as text, {@code null} for the default
	 * @param showValues whether to show keys and texts of exceptions
	 */
	public WaitingKeyReport.Page waiting(String topic, String shard, @Nullable String after, @Nullable String limit,
			boolean showValues) {
		return this.waiting.list(known(shard(topic, shard)), after, limit, showValues);
	}

	private ShardId known(ShardId shard) {
		SortedSet<ShardId> known = knownShards(shard.topic());
		if (!known.contains(shard)) {
			throw unknownShard(shard, known);
		}
		return shard;
	}

	private OperationReport perform(Action action, OperationRequest request, Subject subject) {
		request.requireOnly(action.fields);
		List<String> effects;
		String target;
		try {
			target = target(action, request, subject);
			effects = effects(action, request, subject);
		}
		catch (StoreUnavailableException ex) {
			if (!request.dryRun() && !ex.isRefusal()) {
				record(action, request, subject, List.of("It failed, and part of it may be done. " + ex.getMessage()));
			}
			throw ex;
		}
		catch (IllegalArgumentException ex) {
			// Also from beans that replace those of Shardkeeper.
			throw OperationRefusedException.malformed(String.valueOf(ex.getMessage()));
		}
		catch (ShardkeeperConfigurationException ex) {
			throw OperationRefusedException.conflict(String.valueOf(ex.getMessage()));
		}
		List<String> told = new ArrayList<>(effects);
		if (subject.topic() != null && this.broadcast.contains(subject.topic())) {
			told.add("'%s' is a broadcast topic: this concerns the instance %s only".formatted(subject.topic(),
					this.settings.instance()));
		}
		if (!request.dryRun()) {
			record(action, request, subject, told);
		}
		return new OperationReport(action.text, target, request.by(), request.dryRun(), !request.dryRun(), told, null);
	}

	private void record(Action action, OperationRequest request, Subject subject, List<String> effects) {
		String instance = request.fields().get("instance");
		this.audit.record(
				new OperationAudit.Operation(action.text, subject.topic(), subject.shard(),
						(instance != null) ? instance : request.fields().get("to"), request.by(), request.reason()),
				effects);
	}

	private String target(Action action, OperationRequest request, Subject subject) {
		if (subject.shard() != null) {
			return subject.shard().toString();
		}
		if (subject.topic() != null) {
			return subject.topic();
		}
		return action.fields.contains("instance") ? instance("instance", request) : this.settings.group();
	}

	private List<String> effects(Action action, OperationRequest request, Subject subject) {
		return switch (action) {
			case LEAVE -> {
				requireThisInstance(request);
				yield List.of(this.consumption.leave(request.dryRun()));
			}
			case JOIN -> {
				requireThisInstance(request);
				yield List.of(this.consumption.join(request.dryRun()));
			}
			case SEEK -> seek(request, subject);
			case SEND_BACK -> letters().sendBack(filter(subject, request), request);
			case DROP -> letters().drop(filter(subject, request), request);
			case RETRY_WAITING -> this.waiting.retry(known(subject.requiredShard()), request);
			case SEND_BACK_WAITING -> this.waiting.sendBack(known(subject.requiredShard()), request);
			case DROP_WAITING -> this.waiting.drop(known(subject.requiredShard()), request);
			default -> steer(action, request, subject);
		};
	}

	private List<String> steer(Action action, OperationRequest request, Subject subject) {
		if (subject.topic() != null && this.broadcast.contains(subject.topic())) {
			throw OperationRefusedException.conflict(
					"'%s' is a broadcast topic: every instance consumes all its shards for itself, so '%s' is not possible"
						.formatted(subject.topic(), action.text));
		}
		String by = request.by().equals(OperationAudit.UNKNOWN_CALLER) ? "" : request.by();
		String reason = request.reason();
		GroupSteering.Ask ask = new GroupSteering.Ask(by, (reason != null) ? reason : "", request.dryRun());
		ShardId shard = subject.shard();
		GroupSteering.Result result = switch (action) {
			case REBALANCE -> this.steering.rebalance(ask);
			case DRAIN -> this.steering.drain(instance("instance", request), ask);
			case UNDRAIN -> this.steering.undrain(instance("instance", request), ask);
			case MOVE -> this.steering.move(subject.requiredShard(), instance("to", request), ask);
			case PIN -> this.steering.pin(subject.requiredShard(), instance("to", request), ask);
			case UNPIN -> this.steering.unpin(subject.requiredShard(), ask);
			case PAUSE ->
				(shard != null) ? this.steering.pause(shard, ask) : this.steering.pause(subject.requiredTopic(), ask);
			case RESUME ->
				(shard != null) ? this.steering.resume(shard, ask) : this.steering.resume(subject.requiredTopic(), ask);
			default -> throw new IllegalStateException("Not an operation of the group: " + action);
		};
		String refused = String.valueOf(result.refused());
		return switch (result.status()) {
			case DONE, DRY_RUN -> result.effects();
			case REFUSED -> throw OperationRefusedException.conflict(refused);
			case UNKNOWN -> throw OperationRefusedException.unknown(refused);
		};
	}

	private List<String> seek(OperationRequest request, Subject subject) {
		String topic = subject.requiredTopic();
		SortedSet<ShardId> known = knownShards(topic);
		ShardId shard = (subject.shard() != null) ? known(subject.shard()) : null;
		SortedSet<ShardId> completed = new TreeSet<>();
		if (!this.broadcast.contains(topic)) {
			this.reporter.picture().shards().values().forEach((ownership) -> {
				if (ownership.phase() == Phase.COMPLETED && known.contains(ownership.shard())) {
					completed.add(ownership.shard());
				}
			});
		}
		return this.seeks.perform(topic, shard, known, completed, request);
	}

	private SortedSet<ShardId> knownShards(String topic) {
		requireTopic(topic);
		return new ShardLookup(this.sources, "A request").of(topic);
	}

	private DeadLetterFilter filter(Subject subject, OperationRequest request) {
		ShardId shard = subject.shard();
		if (shard != null) {
			requireLetters(shard);
			return DeadLetterFilter.shard(shard);
		}
		String topic = subject.requiredTopic();
		requireTopic(topic);
		String id = request.fields().get("id");
		if (id != null && id.startsWith(topic + "/")) {
			String[] parts = id.split("/");
			requireLetters(shard(topic, (parts.length > 1) ? parts[1] : ""));
		}
		return DeadLetterFilter.topic(topic);
	}

	/** Checks that a shard exists, or has left dead letters behind. */
	private void requireLetters(ShardId shard) {
		SortedSet<ShardId> known = knownShards(shard.topic());
		if (!known.contains(shard) && !letters().hasAny(shard)) {
			throw unknownShard(shard, known);
		}
	}

	private void requireTopic(String topic) {
		if (!this.sources.names().contains(topic)) {
			throw OperationRefusedException
				.unknown("This instance has no topic '%s'; its topics are %s. Ask an instance that has it"
					.formatted(topic, named(this.sources.names())));
		}
	}

	private static OperationRefusedException unknownShard(ShardId shard, SortedSet<ShardId> known) {
		return OperationRefusedException.unknown("There is no shard %s; the topic has %s".formatted(shard,
				known.isEmpty() ? "none" : known.first() + " to " + known.last()));
	}

	private DeadLetterOperation letters() {
		if (this.letters == null) {
			throw OperationRefusedException.conflict("The store of this application keeps no dead letters");
		}
		return this.letters;
	}

	/** Returns the instance that a field names by its id or that of its member. */
	private static String instance(String field, OperationRequest request) {
		String text = request.required(field, "host-17");
		try {
			return Names.isValid(text) ? text : new MemberId(text).instance();
		}
		catch (IllegalArgumentException ex) {
			throw OperationRequest.malformed(field, text, "the id of an instance or of a member");
		}
	}

	private SortedSet<String> instances() {
		return this.reporter.picture()
			.members()
			.stream()
			.map((member) -> member.id().instance())
			.collect(Collectors.toCollection(TreeSet::new));
	}

	/** Checks that the instance that is asked is the one that the request names. */
	private void requireThisInstance(OperationRequest request) {
		String instance = instance("instance", request);
		if (instance.equals(this.settings.instance())) {
			return;
		}
		Collection<String> known = instances();
		if (!known.contains(instance)) {
			throw OperationRefusedException
				.unknown("The group has no instance '%s'; its instances are %s".formatted(instance, named(known)));
		}
		throw OperationRefusedException.conflict(
				"This is instance '%s', and '%s' has to be asked itself: send the request to its own address, or use 'drain', which every instance accepts"
					.formatted(this.settings.instance(), instance));
	}

	private static String named(Collection<String> all) {
		String first = new TreeSet<>(all).stream().limit(MOST_NAMED).collect(Collectors.joining(", "));
		return (all.size() > MOST_NAMED) ? "%s and %d more".formatted(first, all.size() - MOST_NAMED)
				: all.isEmpty() ? "none" : first;
	}

	private static void requireName(String what, String name) {
		if (!Names.isValid(name)) {
			throw OperationRefusedException
				.malformed("'%s' is no %s. %s".formatted(ShardQuery.quoted(name), what, Names.RULE));
		}
	}

	private static ShardId shard(String topic, String shard) {
		requireName("topic", topic);
		requireName("id of a shard", shard);
		return new ShardId(topic, shard);
	}

	/** What a request concerns. */
	private enum Level {

		GROUP, TOPIC, SHARD

	}

	/** Actions with their names and fields. */
	private enum Action {

		REBALANCE("rebalance", EnumSet.of(Level.GROUP), List.of()),
		DRAIN("drain", EnumSet.of(Level.GROUP), List.of("instance")),
		UNDRAIN("undrain", EnumSet.of(Level.GROUP), List.of("instance")),
		LEAVE("leave", EnumSet.of(Level.GROUP), List.of("instance")),
		JOIN("join", EnumSet.of(Level.GROUP), List.of("instance")),
		MOVE("move", EnumSet.of(Level.SHARD), List.of("to")), PIN("pin", EnumSet.of(Level.SHARD), List.of("to")),
		UNPIN("unpin", EnumSet.of(Level.SHARD), List.of()),
		PAUSE("pause", EnumSet.of(Level.TOPIC, Level.SHARD), List.of()),
		RESUME("resume", EnumSet.of(Level.TOPIC, Level.SHARD), List.of()),
		SEEK("seek", EnumSet.of(Level.TOPIC, Level.SHARD), SeekOperation.FIELDS),
		SEND_BACK("send-back", EnumSet.of(Level.TOPIC, Level.SHARD), DeadLetterOperation.FIELDS),
		DROP("drop", EnumSet.of(Level.TOPIC, Level.SHARD), DeadLetterOperation.FIELDS),
		RETRY_WAITING("retry-waiting", EnumSet.of(Level.SHARD), WaitingKeyOperation.FIELDS),
		SEND_BACK_WAITING("send-back-waiting", EnumSet.of(Level.SHARD), WaitingKeyOperation.FIELDS),
		DROP_WAITING("drop-waiting", EnumSet.of(Level.SHARD), WaitingKeyOperation.FIELDS);

		private final String text;

		private final Set<Level> levels;

		private final List<String> fields;

		Action(String text, Set<Level> levels, List<String> fields) {
			this.text = text;
			this.levels = levels;
			this.fields = fields;
		}

		static Action of(OperationRequest request, Level level) {
			List<Action> possible = Arrays.stream(values()).filter((action) -> action.levels.contains(level)).toList();
			return possible.stream()
				.filter((action) -> action.text.equals(request.action()))
				.findFirst()
				.orElseThrow(() -> OperationRefusedException
					.malformed("'action' is '%s', but must be one of %s".formatted(ShardQuery.quoted(request.action()),
							possible.stream().map((action) -> action.text).collect(Collectors.joining(", ")))));
		}

	}

	/** Topic and shard of a request; {@code null} if it concerns neither. */
	private record Subject(@Nullable String topic, @Nullable ShardId shard) {

		ShardId requiredShard() {
			if (this.shard == null) {
				throw new IllegalStateException("This action needs a shard");
			}
			return this.shard;
		}

		String requiredTopic() {
			if (this.topic == null) {
				throw new IllegalStateException("An action on the group has no topic");
			}
			return this.topic;
		}

	}

}
