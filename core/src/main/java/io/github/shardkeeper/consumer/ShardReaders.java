package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.loop.ProblemLog;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardReadControl;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.ShardReader.RecordSink;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.failure.ShardProblem;

/**
 * One reader for each source. Each is polled by a loop of its own, so that a source that
 * cannot be reached does not delay the others. Thread-safe.
 */
final class ShardReaders implements ShardReadControl, AutoCloseable {

	private static final Logger logger = PrintableLogger.of(ShardReaders.class);

	private static final String LOOP = "shardkeeper-reader";

	private static final String START_LOOP = "shardkeeper-start";

	private static final Duration PAUSE_AFTER_FAILURE = Duration.ofMillis(250);

	/** By the name of the source. */
	private final Map<String, PolledReader> readers = new ConcurrentSkipListMap<>();

	private final Function<String, String> sourceName;

	private final ShardStarts.Positions positions;

	private final MonotonicClock clock;

	/** Guarded by itself. */
	private final List<Loops.Loop> loops = new ArrayList<>();

	/**
	 * Opens the readers. They are not polled before {@link #startLoops}.
	 * @param sources the sources by name
	 * @param sourceName returns the name of the source of a topic
	 * @param positions the start positions of shards without an offset
	 */
	ShardReaders(Map<String, ShardSource> sources, Function<String, String> sourceName, ShardStarts.Positions positions,
			MonotonicClock clock) {
		this.sourceName = sourceName;
		this.positions = positions;
		this.clock = clock;
		try {
			sources.forEach((name, source) -> this.readers.put(name,
					new PolledReader(source.openReader(), (sources.size() == 1) ? "" : " of source '" + name + "'")));
		}
		catch (RuntimeException | Error ex) {
			close();
			throw ex;
		}
	}

	/**
	 * Opens the readers of those sources that have none yet, and polls them. Call it
	 * after {@link #startLoops}, by one thread at a time and not during {@link #close}.
	 */
	void add(Loops running, Map<String, ShardSource> sources) {
		sources.forEach((name, source) -> {
			if (!this.readers.containsKey(name)) {
				PolledReader reader = new PolledReader(source.openReader(), " of source '" + name + "'");
				this.readers.put(name, reader);
				poll(running, false, reader, "-" + name);
			}
		});
	}

	/**
	 * Starts to poll.
	 * @param foreground whether the loops keep the process running
	 */
	void startLoops(Loops running, boolean foreground) {
		this.readers
			.forEach((name, reader) -> poll(running, foreground, reader, (this.readers.size() == 1) ? "" : "-" + name));
	}

	private void poll(Loops running, boolean foreground, PolledReader reader, String suffix) {
		String loop = LOOP + suffix;
		add(foreground ? running.startForeground(loop, reader::poll) : running.start(loop, reader::poll));
		reader.startLoop = () -> add(running.start(START_LOOP + suffix, reader.starts::run));
	}

	private Loops.Loop add(Loops.Loop loop) {
		synchronized (this.loops) {
			this.loops.add(loop);
		}
		return loop;
	}

	@Override
	public void start(ShardId shard, @Nullable Offset after, RecordSink sink) {
		PolledReader reader = of(shard.topic());
		if (after != null || this.positions.isFirst(shard.topic())) {
			reader.reader.start(shard, after, sink);
		}
		else {
			reader.startLater(shard, sink);
		}
	}

	@Override
	public void stop(ShardId shard) {
		of(shard.topic()).stop(shard);
	}

	@Override
	public void resume(ShardId shard) {
		of(shard.topic()).reader.resume(shard);
	}

	@Override
	public void committed(ShardId shard, Offset offset) {
		of(shard.topic()).committed(shard, offset);
	}

	private PolledReader of(String topic) {
		PolledReader reader = this.readers.get(this.sourceName.apply(topic));
		if (reader == null) {
			throw new IllegalArgumentException("Topic '%s' is not consumed here".formatted(topic));
		}
		return reader;
	}

	@Override
	public Map<ShardId, String> problems() {
		Map<ShardId, String> problems = new HashMap<>();
		this.readers.values().forEach((reader) -> reader.addProblems(problems));
		return problems;
	}

	/**
	 * Returns why the source of a topic cannot be read, {@code null} if it can, or is not
	 * read any more: a call of an earlier run may still be running.
	 */
	@Nullable ShardProblem problem(String topic) {
		PolledReader reader = this.readers.get(this.sourceName.apply(topic));
		FailedPolls failed = (reader != null) ? reader.failed : null;
		if (failed == null) {
			return null;
		}
		String text = "Records cannot be read: " + failed.problem;
		return failed.refused ? ShardProblem.alarm(text)
				: ShardProblem.outage(text, failed.since.until(this.clock.now()));
	}

	@Override
	public void close() {
		this.readers.values().forEach((reader) -> reader.startLoop = null);
		List<Loops.Loop> running;
		synchronized (this.loops) {
			running = List.copyOf(this.loops);
		}
		running.forEach(Loops.Loop::close);
		this.readers.values().forEach((reader) -> reader.reader.close());
	}

	/** A reader and the result of its last poll. */
	private final class PolledReader {

		private final ShardReader reader;

		private final ShardStarts starts;

		/** Starts the loop of the starts; {@code null} before the loops are started. */
		private volatile @Nullable Supplier<Loops.Loop> startLoop;

		/** Only if a shard has to wait for its start; guarded by the starts. */
		private Loops.@Nullable Loop starting;

		/** For the log: which source, if there are several. */
		private final String suffix;

		private final ProblemLog log = new ProblemLog();

		/** {@code null} if records can be read. */
		private volatile @Nullable FailedPolls failed;

		private final AtomicBoolean reported = new AtomicBoolean();

		PolledReader(ShardReader reader, String suffix) {
			this.reader = reader;
			this.starts = new ShardStarts(reader, ShardReaders.this.positions, ShardReaders.this.clock);
			this.suffix = suffix;
		}

		void startLater(ShardId shard, RecordSink sink) {
			this.starts.add(shard, sink);
			synchronized (this.starts) {
				Supplier<Loops.Loop> loop = this.startLoop;
				if (this.starting == null && loop != null) {
					this.starting = loop.get();
				}
				else if (this.starting != null) {
					this.starting.wake();
				}
			}
		}

		void stop(ShardId shard) {
			this.starts.cancel(shard);
			this.reader.stop(shard);
		}

		/** The checkpoint is committed, whatever the source does with that news. */
		void committed(ShardId shard, Offset offset) {
			try {
				this.reader.committed(shard, offset);
			}
			catch (RuntimeException ex) {
				reportFirst("committed", ex);
			}
		}

		/** Health and endpoint reply, even if one source does not. */
		void addProblems(Map<ShardId, String> problems) {
			this.starts.addProblems(problems);
			try {
				problems.putAll(this.reader.problems());
			}
			catch (RuntimeException ex) {
				reportFirst("problems", ex);
			}
		}

		private void reportFirst(String method, RuntimeException failure) {
			if (this.reported.compareAndSet(false, true)) {
				logger.warn("{}.{} must not throw; consumption goes on, and further failures are not logged",
						this.reader.getClass().getName(), method, failure);
			}
		}

		MonotonicTime poll() throws InterruptedException {
			try {
				if (this.reader.poll() && this.log.resolved()) {
					this.failed = null;
					logger.info("Records{} can be read again", this.suffix);
				}
				return ShardReaders.this.clock.now();
			}
			catch (StoreUnavailableException ex) {
				if (this.log.isNew(String.valueOf(ex.getMessage()))) {
					logger.warn("Cannot read records{}; retrying. {}", this.suffix, ex.getMessage());
				}
				MonotonicTime now = ShardReaders.this.clock.now();
				FailedPolls before = this.failed;
				this.failed = new FailedPolls(String.valueOf(ex.getMessage()), ex.isRefusal(),
						(before != null) ? before.since : now);
				return now.plus(PAUSE_AFTER_FAILURE);
			}
		}

	}

	/**
	 * Polls that have failed in a row.
	 *
	 * @param refused whether the source replies, and refuses the last one
	 */
	private record FailedPolls(String problem, boolean refused, MonotonicTime since) {

	}

}
