package io.github.shardkeeper.history;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.store.GroupDiagnostics;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.loop.PhasedLifecycle;
import io.github.shardkeeper.shard.MovePhase;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Writes what this instance knows of moves, in the background: the moves that it finds as
 * the leader, which it also logs and passes on, and the phases that it reaches as the
 * owner of a shard. Has no thread before the first of them. While the store does not
 * accept them, the last ones are kept, up to a bound. Thread-safe.
 */
public final class MoveRecorder extends PhasedLifecycle implements AutoCloseable {

	private static final Logger logger = PrintableLogger.of(MoveRecorder.class);

	private static final Duration RETRY_PAUSE = Duration.ofSeconds(5);

	/** A stop does not wait longer for the last moves. */
	private static final Duration LONGEST_STOP = Duration.ofSeconds(1);

	/** One step of the store stays short. */
	private static final int WRITTEN_AT_ONCE = 100;

	/** Shards whose phases are one entry of the store. */
	private static final int PHASES_AT_ONCE = 250;

	private static final int MOST_NAMED = 10;

	private final String group;

	private final @Nullable MoveHistory history;

	private final @Nullable UnseenMoves unseenMoves;

	private final int mostPending;

	private final Loops loops;

	private final MonotonicClock clock;

	private final Consumer<ShardMove> listener;

	/** Guarded by this, as is all below. */
	private final Deque<ShardMove> toWrite = new ArrayDeque<>();

	private final Deque<ShardMove> toAnnounce = new ArrayDeque<>();

	private final Deque<ShardMove> toExplain = new ArrayDeque<>();

	private final PendingPhases phases = new PendingPhases();

	/** Time of the next step, unless the loop is woken; {@code null} for none. */
	private @Nullable MonotonicTime nextStep;

	private Loops.@Nullable Loop loop;

	private boolean closed;

	/** Whether the store has not taken the last moves. */
	private boolean refused;

	/** Whether phases are being written, which are not pending meanwhile. */
	private boolean writesPhases;

	/** Confined to the loop: the last failure, which is logged once. */
	private @Nullable String failure;

	/**
	 * Creates a recorder.
	 * @param history the store; {@code null} to keep no history
	 * @param diagnostics the plans of earlier leaders
	 * @param mostPending the maximum number of moves that wait for the store
	 * @param listener receives each move, on the recorder's loop
	 * @param phase the lifecycle phase; has to be earlier than the runner's, whose last
	 * shards move as it stops
	 */
	public MoveRecorder(String group, @Nullable MoveHistory history, GroupDiagnostics diagnostics, int mostPending,
			Loops loops, MonotonicClock clock, Consumer<ShardMove> listener, int phase) {
		super(phase);
		this.group = group;
		this.history = history;
		this.unseenMoves = (history != null) ? new UnseenMoves(history, diagnostics) : null;
		this.mostPending = mostPending;
		this.loops = loops;
		this.clock = clock;
		this.listener = listener;
	}

	/** Takes moves, the oldest first. Does not block. */
	public void found(List<ShardMove> moves) {
		Loops.Loop woken;
		synchronized (this) {
			if (this.closed) {
				return;
			}
			if (this.unseenMoves != null) {
				List<ShardMove> seen = moves.stream().filter((move) -> !UnseenMoves.isUnseen(move)).toList();
				add(this.toWrite, seen);
				add(this.toAnnounce, seen);
				add(this.toExplain, moves.stream().filter(UnseenMoves::isUnseen).toList());
			}
			else {
				// Nobody knows whether another leader has announced the others.
				add(this.toAnnounce, moves.stream().filter((move) -> !move.isUncertain()).toList());
			}
			woken = wakeable();
		}
		woken.wake();
	}

	/**
	 * Takes a phase that this instance has reached as the owner of a shard. Does not
	 * block.
	 */
	public void reached(ShardId shard, Token token, MovePhase reached, MonotonicTime at) {
		Loops.Loop woken;
		synchronized (this) {
			MonotonicTime due = (this.history != null && !this.closed) ? this.phases.reached(shard, token, reached, at)
					: null;
			if (due == null || this.refused || this.nextStep != null && !due.isBefore(this.nextStep)) {
				return;
			}
			// Wakes it once for all phases that come until then.
			this.nextStep = due;
			woken = wakeable();
		}
		woken.wake();
	}

	/** Call it with the lock. */
	private Loops.Loop wakeable() {
		if (this.loop == null) {
			this.loop = this.loops.start("shardkeeper-history", this::step);
		}
		return this.loop;
	}

	private void add(Deque<ShardMove> pending, List<ShardMove> moves) {
		int first = Math.max(0, moves.size() - this.mostPending);
		pending.addAll(moves.subList(first, moves.size()));
		while (pending.size() > this.mostPending) {
			pending.remove();
		}
	}

	private @Nullable MonotonicTime step() {
		announce();
		MoveHistory store = this.history;
		if (store == null) {
			return null;
		}
		try {
			explain();
			announce();
			List<ShardMove> batch = next();
			while (!batch.isEmpty()) {
				store.append(batch);
				written(batch.size());
				batch = next();
			}
			boolean more = true;
			while (more) {
				more = writePhases(store);
			}
			if (this.failure != null) {
				this.failure = null;
				logger.info("The history of moves of group '{}' is written again", this.group);
			}
			return stepped(false, null);
		}
		catch (StoreUnavailableException ex) {
			String text = String.valueOf(ex.getMessage());
			if (ex.isRefusal() && !text.equals(this.failure)) {
				this.failure = text;
				logger.warn("The history of moves of group '{}' cannot be written; the last {} moves are kept here, "
						+ "and written later. {}", this.group, this.mostPending, text);
			}
			return stepped(true, this.clock.now().plus(RETRY_PAUSE));
		}
	}

	private synchronized @Nullable MonotonicTime stepped(boolean failed, @Nullable MonotonicTime retryAt) {
		this.refused = failed;
		this.nextStep = (retryAt != null) ? retryAt : this.phases.nextDue();
		notifyAll();
		return this.nextStep;
	}

	/** Finds out what happened in moves that no leader has seen begin. */
	private void explain() {
		List<ShardMove> unseen;
		synchronized (this) {
			unseen = List.copyOf(this.toExplain);
		}
		if (unseen.isEmpty() || this.unseenMoves == null) {
			return;
		}
		List<ShardMove> explained = this.unseenMoves.explain(unseen);
		synchronized (this) {
			this.toExplain.removeAll(unseen);
			add(this.toWrite, explained);
			add(this.toAnnounce, explained);
		}
	}

	/** Writes phases that are due; returns whether there were any. */
	private boolean writePhases(MoveHistory store) {
		Map<PendingPhases.Key, PendingPhases.Pending> taken;
		synchronized (this) {
			if (!isRunning() && !this.phases.isEmpty()) {
				this.phases.hurry(this.clock.now());
			}
			taken = this.phases.take(this.clock.now(), PHASES_AT_ONCE);
			this.writesPhases = !taken.isEmpty();
		}
		if (taken.isEmpty()) {
			return false;
		}
		boolean written = false;
		try {
			store.appendPhases(PendingPhases.ages(taken, this.clock.now()));
			written = true;
		}
		finally {
			synchronized (this) {
				this.writesPhases = false;
				if (!written) {
					this.phases.restore(taken);
				}
			}
		}
		return true;
	}

	/** Returns the next moves to write, which stay until they are written. */
	private synchronized List<ShardMove> next() {
		return this.toWrite.stream().limit(WRITTEN_AT_ONCE).toList();
	}

	private synchronized void written(int number) {
		for (int i = 0; i < number && !this.toWrite.isEmpty(); i++) {
			this.toWrite.remove();
		}
		notifyAll();
	}

	private void announce() {
		List<ShardMove> moves;
		synchronized (this) {
			moves = new ArrayList<>(this.toAnnounce);
			this.toAnnounce.clear();
		}
		if (moves.isEmpty()) {
			return;
		}
		log(moves);
		moves.forEach(this.listener);
	}

	/** Logs one line for each cause, and for each person who asked. */
	private void log(List<ShardMove> moves) {
		Map<String, List<ShardMove>> byCause = new LinkedHashMap<>();
		moves.forEach(
				(move) -> byCause
					.computeIfAbsent(move.cause() + ((move.by() != null) ? " by " + move.by() : ""),
							(cause) -> new ArrayList<>())
					.add(move));
		byCause.forEach((cause, some) -> {
			StringJoiner text = new StringJoiner(", ");
			some.stream().limit(MOST_NAMED).forEach((move) -> text.add(described(move)));
			if (some.size() > MOST_NAMED) {
				text.add("and " + (some.size() - MOST_NAMED) + " more");
			}
			logger.info("Group '{}', {}: {}", this.group, cause, text);
		});
	}

	private static String described(ShardMove move) {
		return move.shard() + " " + ((move.from() != null) ? move.from() + " -> " : "-> ")
				+ ((move.to() != null) ? move.to() : "nobody") + " (token " + move.token() + ", "
				+ Math.max(0, move.assignedMillis() - move.plannedMillis()) + " ms)";
	}

	/** Waits until the last moves and phases are written, for at most a second. */
	@Override
	protected void doStop() {
		MonotonicTime deadline = this.clock.now().plus(LONGEST_STOP);
		Loops.Loop woken;
		synchronized (this) {
			woken = this.phases.isEmpty() ? null : this.loop;
		}
		if (woken != null) {
			woken.wake();
		}
		try {
			synchronized (this) {
				long millis = LONGEST_STOP.toMillis();
				while (isPending() && !this.refused && millis > 0) {
					wait(millis);
					millis = this.clock.now().until(deadline).toMillis();
				}
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private boolean isPending() {
		return this.writesPhases || !this.toWrite.isEmpty() || !this.toExplain.isEmpty() || !this.phases.isEmpty();
	}

	/** Ends the loop. */
	@Override
	public void close() {
		Loops.Loop running;
		synchronized (this) {
			this.closed = true;
			running = this.loop;
		}
		if (running != null) {
			running.close();
		}
	}

}
