package io.github.shardkeeper.operations;

import java.security.Principal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.context.Lifecycle;

import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.ShardPositions;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.operations.failure.DeadLetterPages;
import io.github.shardkeeper.operations.failure.DropOperation;
import io.github.shardkeeper.operations.failure.SendBackOperation;
import io.github.shardkeeper.operations.failure.WaitingKeyOperation;
import io.github.shardkeeper.operations.failure.WaitingKeys;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.operations.request.Operation;
import io.github.shardkeeper.operations.request.Operation.Level;
import io.github.shardkeeper.operations.request.OperationAudit;
import io.github.shardkeeper.operations.request.OperationRefusedException;
import io.github.shardkeeper.operations.request.OperationRequest;
import io.github.shardkeeper.operations.request.RequestedShards;
import io.github.shardkeeper.operations.request.ShardQuery;
import io.github.shardkeeper.operations.steering.DrainOperation;
import io.github.shardkeeper.operations.steering.OperatorCommands;
import io.github.shardkeeper.operations.steering.PauseOperation;
import io.github.shardkeeper.operations.steering.PlaceOperation;
import io.github.shardkeeper.operations.steering.RebalanceOperation;
import io.github.shardkeeper.operations.steering.ResumeOperation;
import io.github.shardkeeper.operations.steering.UndrainOperation;
import io.github.shardkeeper.operations.steering.UnpinOperation;
import io.github.shardkeeper.report.DeadLetterReport;
import io.github.shardkeeper.report.OperationReport;
import io.github.shardkeeper.report.WaitingKeyReport;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.SourceRegistry;

/**
 * Performs what people ask for through the endpoint: finds the {@link Operation} that a
 * request names, performs it or says what it would do, and records it. Works on every
 * instance, also on one that consumes nothing. Thread-safe. Methods block until the
 * stores have answered, and throw {@link OperationRefusedException} if the request is
 * refused, and {@link StoreUnavailableException} if a store does not reply or refuses;
 * then part of the operation may be done, and it can be repeated.
 */
public final class ShardOperations {

	private final CoordinationSettings settings;

	private final Set<String> broadcast;

	private final RequestedShards shards;

	private final DeadLetterPages letters;

	private final WaitingKeys waiting;

	private final List<Operation> operations;

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
	public ShardOperations(CoordinationSettings settings, GroupReporter reporter, SourceRegistry sources,
			Set<String> broadcast, ShardCoordinator coordinator, CoordinationStore store, CheckpointStore checkpoints,
			ShardPositions positions, @Nullable DeadLetters letters, Consumer<Collection<ShardId>> owners,
			Lifecycle consumption, BooleanSupplier closing, OperationAudit audit) {
		this.settings = settings;
		this.broadcast = Set.copyOf(broadcast);
		this.shards = new RequestedShards(sources);
		this.letters = new DeadLetterPages(letters, this.shards);
		this.waiting = new WaitingKeys(checkpoints, this.shards);
		this.audit = audit;
		ConsumptionSwitch instance = new ConsumptionSwitch(consumption, closing, settings.group());
		OperatorCommands group = new OperatorCommands(coordinator, store, broadcast);
		this.operations = List.of(new RebalanceOperation(group), new DrainOperation(group), new UndrainOperation(group),
				new ConsumptionOperation("leave", instance::leave, settings, reporter),
				new ConsumptionOperation("join", instance::join, settings, reporter), PlaceOperation.move(group),
				PlaceOperation.pin(group), new UnpinOperation(group), new PauseOperation(group),
				new ResumeOperation(group),
				new SeekOperation(positions, checkpoints, sources, this.shards, this.broadcast, reporter),
				new SendBackOperation(this.letters), new DropOperation(this.letters),
				WaitingKeyOperation.retry(this.waiting, owners), WaitingKeyOperation.sendBack(this.waiting, owners),
				WaitingKeyOperation.drop(this.waiting, owners));
	}

	/**
	 * Performs an operation on the group, or on one of its instances.
	 * @param caller the authenticated caller, {@code null} for none
	 * @param sent what was sent, by name; fields without a value count as not sent
	 */
	public OperationReport onGroup(@Nullable Principal caller, Map<String, ? extends @Nullable String> sent) {
		Operation operation = find(Level.GROUP, sent);
		return perform(operation, OperationRequest.parse(operation, null, null, caller, withValues(sent)));
	}

	/** Performs an operation on all shards of a topic. */
	public OperationReport onTopic(String topic, @Nullable Principal caller,
			Map<String, ? extends @Nullable String> sent) {
		Operation operation = find(Level.TOPIC, sent);
		RequestedShards.requireName("topic", topic);
		return perform(operation, OperationRequest.parse(operation, topic, null, caller, withValues(sent)));
	}

	/** Performs an operation on a shard. */
	public OperationReport onShard(String topic, String shard, @Nullable Principal caller,
			Map<String, ? extends @Nullable String> sent) {
		Operation operation = find(Level.SHARD, sent);
		ShardId id = RequestedShards.shard(topic, shard);
		return perform(operation, OperationRequest.parse(operation, topic, id, caller, withValues(sent)));
	}

	/**
	 * Returns a page of the dead letters of a shard, oldest first.
	 * @param after {@code next} of the page before, {@code null} at first
	 * @param limit maximum number as text, {@code null} for the default
	 * @param showValues whether to show keys, payloads and texts of exceptions
	 */
	public DeadLetterReport.Page deadLetters(String topic, String shard, @Nullable String after, @Nullable String limit,
			boolean showValues) {
		return this.letters.list(RequestedShards.shard(topic, shard), after, limit, showValues);
	}

	/**
	 * Returns a page of the keys of a shard that wait in its retry queue.
	 * @param after {@code next} of the page before, {@code null} at first
	 * @param limit maximum number as text, {@code null} for the default
	 * @param showValues whether to show keys and texts of exceptions
	 */
	public WaitingKeyReport.Page waiting(String topic, String shard, @Nullable String after, @Nullable String limit,
			boolean showValues) {
		return this.waiting.list(RequestedShards.shard(topic, shard), after, limit, showValues);
	}

	/**
	 * Returns the operation that a request names, if all its fields exist at its level.
	 */
	private Operation find(Level level, Map<String, ? extends @Nullable String> sent) {
		List<Operation> possible = this.operations.stream().filter((operation) -> operation.isOn(level)).toList();
		Set<String> fields = new TreeSet<>(OperationRequest.COMMON);
		fields.add(OperationRequest.OPERATION);
		possible.forEach((operation) -> fields.addAll(operation.fields()));
		for (String name : sent.keySet()) {
			// Also without a value: 'dryrun' must not turn a dry run into an operation.
			if (!fields.contains(name)) {
				throw OperationRefusedException
					.malformed("There is no field '%s'; these exist: %s".formatted(ShardQuery.quoted(name), fields));
			}
		}
		String name = sent.get(OperationRequest.OPERATION);
		if (name == null || name.isBlank()) {
			throw OperationRefusedException.malformed("Send the name of an operation as 'action'");
		}
		return possible.stream()
			.filter((operation) -> operation.name().equals(name.strip()))
			.findFirst()
			.orElseThrow(() -> OperationRefusedException
				.malformed("'action' is '%s', but must be one of %s".formatted(ShardQuery.quoted(name.strip()),
						possible.stream().map(Operation::name).collect(Collectors.joining(", ")))));
	}

	private static Map<String, String> withValues(Map<String, ? extends @Nullable String> sent) {
		Map<String, String> fields = new TreeMap<>();
		sent.forEach((name, value) -> {
			if (value != null) {
				fields.put(name, value);
			}
		});
		return fields;
	}

	private OperationReport perform(Operation operation, OperationRequest request) {
		String topic = request.topic();
		List<String> effects;
		String target;
		try {
			target = target(operation, request);
			effects = operation.perform(request);
		}
		catch (StoreUnavailableException ex) {
			if (!request.dryRun() && !ex.isRefusal()) {
				record(operation, request, List.of("It failed, and part of it may be done. " + ex.getMessage()));
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
		if (topic != null && this.broadcast.contains(topic)) {
			told.add("'%s' is a broadcast topic: this concerns the instance %s only".formatted(topic,
					this.settings.instance()));
		}
		if (!request.dryRun()) {
			record(operation, request, told);
		}
		return new OperationReport(operation.name(), target, request.by(), request.dryRun(), !request.dryRun(), told,
				null);
	}

	private String target(Operation operation, OperationRequest request) {
		if (request.topic() != null) {
			return request.subject();
		}
		return operation.fields().contains("instance") ? request.instance("instance") : this.settings.group();
	}

	private void record(Operation operation, OperationRequest request, List<String> effects) {
		this.audit.record(new OperationAudit.Operation(request.operation(), request.topic(), request.shard(),
				request.fields().get(operation.instanceField()), request.by(), request.reason()), effects);
	}

}
