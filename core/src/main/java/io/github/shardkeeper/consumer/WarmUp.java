package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.CommitHistory.LastCommit;
import io.github.shardkeeper.checkpoint.Seeks;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;
import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.handler.HandlerSignature;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.output.OutputSettings;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.member.HoldingAction;
import io.github.shardkeeper.protocol.member.HoldingEvent;
import io.github.shardkeeper.protocol.member.ShardHoldings;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.record.BufferBudget;
import io.github.shardkeeper.worker.shard.ConsumerEvents;
import io.github.shardkeeper.worker.shard.ConsumerMeters;
import io.github.shardkeeper.worker.shard.ConsumerSettings;
import io.github.shardkeeper.worker.shard.WorkerContext;

/**
 * Runs the code between the ownership of a shard and its first record before the first
 * shard is assigned, so that this one does not wait until classes are loaded and
 * compiled: gets, consumes and gives up a shard that does not exist, with a store and a
 * reader that do nothing. Calls no code of the application. Confined to the thread that
 * runs it.
 */
final class WarmUp {

	private static final Logger logger = PrintableLogger.of(WarmUp.class);

	/** Internal switch, for measuring what the warm-up is worth. */
	private static final String SWITCH = "io.github.shardkeeper.warm-up";

	private static final ShardId SHARD = ShardId.of("warm-up", 0);

	private static final MemberId SELF = MemberId.of("warm-up", "1");

	private static final MemberId OTHER = MemberId.of("warm-up", "2");

	/** Number of calls after which a method is compiled. */
	private static final int ROUNDS = 200;

	/** Maximum duration; a join takes as long. */
	private static final Duration LONGEST = Duration.ofMillis(150);

	private final Queue<Runnable> turns = new ArrayDeque<>();

	private final EmptyBackend backend = new EmptyBackend();

	private boolean ended;

	/**
	 * Begins a warm-up on a thread of its own, beside the join. A failure has no
	 * consequences.
	 */
	static void begin(WorkerContext context, ConsumerSettings settings) {
		if (!"off".equals(System.getProperty(SWITCH))) {
			Thread thread = new Thread(() -> run(context, settings), "shardkeeper-warm-up");
			thread.setDaemon(true);
			try {
				thread.start();
			}
			catch (OutOfMemoryError ex) {
				logger.debug("There is no thread for the warm-up", ex);
			}
		}
	}

	/** Returns the number of rounds. */
	static int run(WorkerContext context, ConsumerSettings settings) {
		MonotonicTime end = context.clock().now().plus(LONGEST);
		int rounds = 0;
		try {
			while (rounds < ROUNDS && context.clock().now().isBefore(end)) {
				if (!new WarmUp().consume(context, settings)) {
					logger.debug("The warm-up did not end");
					break;
				}
				rounds++;
			}
		}
		catch (Exception | LinkageError ex) {
			logger.debug("The warm-up failed", ex);
		}
		return rounds;
	}

	/** Returns whether the shard was handled and released. */
	boolean consume(WorkerContext context, ConsumerSettings settings) throws NoSuchMethodException {
		CountingHandler bean = new CountingHandler();
		HandlerSignature signature = HandlerSignature.ofConsumer(
				CountingHandler.class.getMethod("handle", byte[].class, ShardContext.class, ShardState.class),
				CountingHandler.class);
		ShardHandler handler = new ShardHandler(SHARD.topic(), () -> bean, signature, List.of(), List.of(), List.of(),
				new JsonPayloadConverter(context.stateValues().mapper()), Duration.ZERO);
		ShardWorkers workers = new ShardWorkers(Map.of(SHARD.topic(), handler), context(context, settings),
				new SessionWatch(Optional::empty, ConsumerEvents.NONE), this.turns::add,
				new ConsumerStates((topic) -> true), Directives.NONE, null);
		ShardHoldings holdings = new ShardHoldings(HandoverRules.DEFAULT);
		MonotonicTime now = context.clock().now();
		report(holdings, Phase.REVOKING, OTHER, SELF, workers, now);
		report(holdings, Phase.OWNED, SELF, null, workers, now);
		takeTurns();
		this.backend.offer(new SourceRecord(new Offset("1"), "key", new byte[0], Instant.EPOCH));
		takeTurns();
		report(holdings, Phase.REVOKING, SELF, OTHER, workers, now);
		takeTurns();
		return this.ended && bean.handled == 1;
	}

	/** Has the shard reported as a heartbeat's reply would. */
	private static void report(ShardHoldings holdings, Phase phase, MemberId owner, @Nullable MemberId target,
			ShardWorkers workers, MonotonicTime now) {
		Ownership ownership = new Ownership(SHARD, phase, new Token(1), owner, target, 1, 0, 0);
		for (HoldingAction action : holdings.handle(new HoldingEvent.OwnershipChanged(ownership, SELF), now)
			.actions()) {
			if (action instanceof HoldingAction.Prepare prepare) {
				workers.prepare(prepare.shard(), SELF);
			}
			else if (action instanceof HoldingAction.Start start) {
				workers.start(start.shard(), start.token(), SELF);
			}
			else if (action instanceof HoldingAction.Drain drain) {
				workers.drain(drain.shard());
			}
		}
	}

	private void takeTurns() {
		for (Runnable turn = this.turns.poll(); turn != null; turn = this.turns.poll()) {
			turn.run();
		}
	}

	private WorkerContext context(WorkerContext context, ConsumerSettings settings) {
		return new WorkerContext(context.group(),
				new WorkerContext.Stores(this.backend, this.backend, OutputSettings.NONE),
				new WorkerContext.Runtime(context.clock(), context.wallClock(), this.turns::add, context.timer()),
				new WorkerContext.Topics((topic) -> settings, new BufferBudget(Long.MAX_VALUE), context.stateCache(),
						context.stateValues()),
				new WorkerContext.Observers(ConsumerMeters.NONE, ConsumerEvents.NONE,
						(shard, token, fence, completed) -> this.ended = true, context.measuresWork()),
				Lease.unlimited());
	}

	static final class CountingHandler {

		private int handled;

		@ShardConsumer("warm-up")
		public void handle(byte @Nullable [] payload, ShardContext context, ShardState state) {
			state.put("handled", ++this.handled);
		}

	}

	/** Empty store, and reader of the records that it is offered. */
	private static final class EmptyBackend implements CheckpointStore, ShardReader {

		private @Nullable RecordSink sink;

		void offer(SourceRecord record) {
			if (this.sink != null) {
				this.sink.offer(List.of(record));
			}
		}

		@Override
		public CompletableFuture<Acquisition> acquire(ShardId shard, Token token) {
			return CompletableFuture.completedFuture(new Acquisition.Acquired(new Checkpoint(null, Map.of()),
					Seeks.NONE, 0, new LastCommit(Token.NONE, 0), 0));
		}

		@Override
		public CompletableFuture<CommitReply> commit(ShardId shard, Token token, Commit commit) {
			return CompletableFuture.completedFuture(CommitReply.COMMITTED);
		}

		@Override
		public DueRecords due(ShardId shard, int limit, long bytes, Set<Offset> except) {
			throw new UnsupportedOperationException();
		}

		@Override
		public CompletionReply complete(ShardId shard, Token token, long acknowledged, long acquisition) {
			throw new UnsupportedOperationException();
		}

		@Override
		public Checkpoint read(ShardId shard) {
			throw new UnsupportedOperationException();
		}

		@Override
		public Map<ShardId, Offset> offsets(Collection<ShardId> shards) {
			return Map.of();
		}

		@Override
		public @Nullable SeekRequest seek(ShardId shard, Offset after, boolean clearsState) {
			return null;
		}

		@Override
		public Map<ShardId, Seeks> seeks(Collection<ShardId> shards) {
			return Map.of();
		}

		@Override
		public Instant consumedSince(String topic, @Nullable Instant known) {
			return Instant.EPOCH;
		}

		@Override
		public void start(ShardId shard, @Nullable Offset after, RecordSink reads) {
			this.sink = reads;
		}

		@Override
		public void stop(ShardId shard) {
			this.sink = null;
		}

		@Override
		public void resume(ShardId shard) {
			// Never pauses.
		}

		@Override
		public boolean poll() {
			return true;
		}

		@Override
		public Map<ShardId, String> problems() {
			return Map.of();
		}

		@Override
		public void close() {
			// Nothing is open.
		}

	}

}
