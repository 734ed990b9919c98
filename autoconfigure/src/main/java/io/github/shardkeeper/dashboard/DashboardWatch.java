package io.github.shardkeeper.dashboard;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.loop.PhasedLifecycle;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Looks for changes of the group, once for all viewers of this instance, and only while
 * there are any. Viewers get a short summary, the last one only if they are slow.
 * Thread-safe.
 */
public final class DashboardWatch extends PhasedLifecycle {

	/** Maximum number of viewers of an instance at a time. Pages of others poll. */
	public static final int MOST_VIEWERS = 32;

	private static final Duration PAUSE = Duration.ofSeconds(1);

	private static final Duration HEARTBEAT = Duration.ofSeconds(10);

	/**
	 * Time after which a stream ends, and a page that is still there opens the next one.
	 * Nobody else stays: some proxies read on after their client has gone.
	 */
	static final Duration LONGEST_STREAM = Duration.ofMinutes(10);

	private final Loops loops;

	private final MonotonicClock clock;

	private final Supplier<String> summary;

	/** Guarded by this, as is all below. */
	private final Map<DashboardViewer, MonotonicTime> viewers = new LinkedHashMap<>();

	private Loops.@Nullable Loop loop;

	/** Confined to the loop, as the next one. */
	private @Nullable MonotonicTime heartbeatAt;

	private @Nullable MonotonicTime nextRead;

	/**
	 * Creates a watch.
	 * @param summary reads what viewers are told, one line of JSON; a change of it means
	 * that there is something to read
	 */
	public DashboardWatch(Loops loops, MonotonicClock clock, Supplier<String> summary) {
		// Stops before the web server, which waits for requests.
		super(DEFAULT_PHASE);
		this.loops = loops;
		this.clock = clock;
		this.summary = summary;
	}

	/**
	 * Adds a viewer; empty if there are too many, or the application stops.
	 * @param wake called on any thread, quickly, when the viewer has something to send
	 */
	Optional<DashboardViewer> join(Runnable wake) {
		Loops.Loop started;
		DashboardViewer viewer = new DashboardViewer(wake, this::leave);
		synchronized (this) {
			if (!hasRoom()) {
				return Optional.empty();
			}
			this.viewers.put(viewer, this.clock.now().plus(LONGEST_STREAM));
			if (this.loop == null) {
				this.loop = this.loops.start("shardkeeper-dashboard", this::step);
			}
			started = this.loop;
		}
		started.wake();
		return Optional.of(viewer);
	}

	synchronized boolean hasRoom() {
		return isRunning() && this.viewers.size() < MOST_VIEWERS;
	}

	private synchronized void leave(DashboardViewer viewer) {
		this.viewers.remove(viewer);
	}

	/** Returns the number of viewers. */
	public synchronized int viewers() {
		return this.viewers.size();
	}

	private @Nullable MonotonicTime step() {
		List<DashboardViewer> all;
		synchronized (this) {
			all = new ArrayList<>(this.viewers.keySet());
		}
		if (all.isEmpty()) {
			return null;
		}
		MonotonicTime now = this.clock.now();
		endOld(now);
		boolean first = all.stream().anyMatch((viewer) -> !viewer.hasSeenAny());
		MonotonicTime due = this.nextRead;
		if (first || due == null || !now.isBefore(due)) {
			String text = this.summary.get();
			all.forEach((viewer) -> viewer.offer(text));
			due = this.clock.now().plus(PAUSE);
			this.nextRead = due;
		}
		MonotonicTime heartbeat = this.heartbeatAt;
		if (heartbeat == null || !now.isBefore(heartbeat)) {
			all.forEach(DashboardViewer::heartbeat);
			this.heartbeatAt = now.plus(HEARTBEAT);
		}
		return due;
	}

	private void endOld(MonotonicTime now) {
		List<DashboardViewer> old = new ArrayList<>();
		synchronized (this) {
			this.viewers.forEach((viewer, end) -> {
				if (!now.isBefore(end)) {
					old.add(viewer);
				}
			});
		}
		old.forEach(DashboardViewer::end);
	}

	/** Ends all streams, so that a graceful shutdown need not wait for them. */
	@Override
	protected void doStop() {
		List<DashboardViewer> all;
		Loops.Loop running;
		synchronized (this) {
			all = new ArrayList<>(this.viewers.keySet());
			running = this.loop;
			this.loop = null;
		}
		all.forEach(DashboardViewer::end);
		if (running != null) {
			running.close();
		}
	}

}
