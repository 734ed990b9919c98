package io.github.shardkeeper.history;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.SmartLifecycle;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.shard.MoveCause;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Writes the moves that the leader finds, in the background, logs them, and passes them
 * on. Has no thread before the first move. While the store does not accept them, the last
 * moves are kept, up to a bound. Thread-safe.
 */
public final class MoveRecorder implements Consumer<List<ShardMove>>, SmartLifecycle, AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(MoveRecorder.class);

	private static final Duration RETRY_PAUSE = Duration.ofSeconds(5);

	/** A stop does not wait longer for the last moves. */
	private static final Duration LONGEST_STOP = Duration.ofSeconds(1);

	/** One step of the store stays short. */
	private static final int WRITTEN_AT_ONCE = 100;

	private static final int MOST_NAMED = 10;

	private final String group;

	private final @Nullable MoveHistory history;

	private final int mostPending;

	private final Loops loops;

	private final MonotonicClock clock;

	private final Consumer<ShardMove> listener;

	private final int phase;

	/** Guarded by this, as is all below. */
	private final Deque<ShardMove> toWrite = new ArrayDeque<>();

	private final Deque<ShardMove> toAnnounce = new ArrayDeque<>();

	private Loops.@Nullable Loop loop;

	private boolean closed;

	private boolean running;

	/** Whether the store has not taken the last moves. */
	private boolean refused;

	/** Confined to the loop: the last failure, which is logged once. */
	private @Nullable String failure;

	/**
	 * Creates a recorder.
	 * @param history the store; {@code null} to keep no history
	 * @param mostPending the maximum number of moves that wait for the store
	 * @param listener receives each move, on the recorder's loop
	 * @param phase the lifecycle phase; has to be earlier than the runner's, whose last
	 * shards move as it stops
	 */
	public MoveRecorder(String group, @Nullable MoveHistory history, int mostPending, Loops loops, MonotonicClock clock,
			Consumer<ShardMove> listener, int phase) {
		this.group = group;
		this.history = history;
		this.mostPending = mostPending;
		this.loops = loops;
		this.clock = clock;
		this.listener = listener;
		this.phase = phase;
	}

	/** Takes moves, the oldest first. Does not block. */
	@Override
	public void accept(List<ShardMove> moves) {
		Loops.Loop running;
		synchronized (this) {
			if (this.closed) {
				return;
			}
			add(this.toAnnounce, moves);
			if (this.history != null) {
				add(this.toWrite, moves);
			}
			if (this.loop == null) {
				this.loop = this.loops.start("shardkeeper-history", this::step);
			}
			running = this.loop;
		}
		running.wake();
	}

	private synchronized void refused(boolean now) {
		this.refused = now;
		notifyAll();
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
			List<ShardMove> batch = next();
			while (!batch.isEmpty()) {
				store.append(batch);
				written(batch.size());
				batch = next();
			}
			if (this.failure != null) {
				this.failure = null;
				logger.info("The history of moves of group '{}' is written again", this.group);
			}
			refused(false);
			return null;
		}
		catch (StoreUnavailableException ex) {
			refused(true);
			String text = String.valueOf(ex.getMessage());
			if (ex.isRefusal() && !text.equals(this.failure)) {
				this.failure = text;
				logger.warn("The history of moves of group '{}' cannot be written; the last {} moves are kept here, "
						+ "and written later. {}", this.group, this.mostPending, text);
			}
			return this.clock.now().plus(RETRY_PAUSE);
		}
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

	/** Logs one line for each cause. */
	private void log(List<ShardMove> moves) {
		Map<MoveCause, List<ShardMove>> byCause = new TreeMap<>();
		moves.forEach((move) -> byCause.computeIfAbsent(move.cause(), (cause) -> new ArrayList<>()).add(move));
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

	@Override
	public synchronized void start() {
		this.running = true;
	}

	/** Waits until the last moves are written, for at most a second. */
	@Override
	public void stop() {
		MonotonicTime deadline = this.clock.now().plus(LONGEST_STOP);
		try {
			synchronized (this) {
				this.running = false;
				long millis = LONGEST_STOP.toMillis();
				while (!this.toWrite.isEmpty() && !this.refused && millis > 0) {
					wait(millis);
					millis = this.clock.now().until(deadline).toMillis();
				}
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Override
	public synchronized boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return this.phase;
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
