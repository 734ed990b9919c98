package io.github.shardkeeper.coordination.leader;

import java.time.Duration;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.ShardCatalog;
import io.github.shardkeeper.coordination.member.AssignmentSettings;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Calls of the assignment strategy, one at a time. A built-in strategy runs on the
 * coordinator's loop unless the group is large. Otherwise, and for code of the
 * application, the thread {@code shardkeeper-assignment} runs it, so that the leader's
 * lease never ends during a call. A call that times out is interrupted; while it ignores
 * that, every request fails. Confined to the coordinator's loop, except {@link #close}.
 */
final class StrategyCalls implements AutoCloseable {

	/** With more shards, a built-in strategy may take some 100 ms. */
	private static final int MOST_SHARDS_ON_THE_LOOP = 20_000;

	/** Far more than a built-in strategy takes. */
	private static final Duration BUILT_IN_TIMEOUT = Duration.ofMinutes(1);

	private final AssignmentSettings settings;

	private final ShardTraitsCache traits;

	private final MonotonicClock clock;

	private final BiConsumer<AssignmentRequest, Reply> listener;

	/** Wakes the loop, which calls {@link #run}. */
	private final Runnable wake;

	private volatile @Nullable Call current;

	/** Next request, which came during the call for an older one. */
	private @Nullable AssignmentRequest waiting;

	StrategyCalls(AssignmentSettings settings, MonotonicClock clock, BiConsumer<AssignmentRequest, Reply> listener,
			Runnable wake) {
		this.settings = settings;
		this.traits = new ShardTraitsCache(settings.catalog());
		this.clock = clock;
		this.listener = listener;
		this.wake = wake;
	}

	/** Computes an assignment. May call the listener before it returns. */
	void begin(AssignmentRequest request) {
		Call running = this.current;
		boolean isQuick = !this.settings.foreign() && request.shards().size() <= MOST_SHARDS_ON_THE_LOOP;
		if (isQuick && running == null) {
			this.listener.accept(request, compute(request));
		}
		else if (running == null) {
			start(request);
		}
		else if (running.isOverdue) {
			this.listener.accept(request, stuck(running));
		}
		else {
			this.waiting = request;
		}
	}

	/** Takes the reply of the call, or interrupts the call after its timeout. */
	void run() {
		Call call = this.current;
		if (call == null) {
			return;
		}
		Reply reply = call.reply();
		if (reply != null) {
			this.current = null;
			AssignmentRequest next = this.waiting;
			this.waiting = null;
			if (!call.isOverdue) {
				this.listener.accept(call.request, reply);
			}
			if (next != null) {
				start(next);
			}
		}
		else if (!call.isOverdue && !this.clock.now().isBefore(call.deadline)) {
			call.isOverdue = true;
			// Told of whoever is interrupted.
			Failed late = late();
			call.thread.interrupt();
			this.listener.accept(call.request, late);
			AssignmentRequest next = this.waiting;
			this.waiting = null;
			if (next != null) {
				this.listener.accept(next, late);
			}
		}
	}

	/** Returns the time of the next {@link #run}, {@code null} for none. */
	@Nullable MonotonicTime wakeAt() {
		Call call = this.current;
		return (call != null && !call.isOverdue) ? call.deadline : null;
	}

	/** Interrupts the call without waiting for its end. */
	@Override
	public void close() {
		Call call = this.current;
		if (call != null) {
			call.thread.interrupt();
		}
	}

	private void start(AssignmentRequest request) {
		Call call = new Call(request, this.clock.now().plus(timeout()));
		try {
			call.thread.start();
			this.current = call;
		}
		catch (Throwable ex) {
			this.listener.accept(request, new Failed("thread",
					"No thread is available for the assignment strategy '%s': %s".formatted(this.settings.name(), ex),
					ex));
		}
	}

	private Duration timeout() {
		return this.settings.foreign() ? this.settings.timeout() : BUILT_IN_TIMEOUT;
	}

	private Reply compute(AssignmentRequest plain) {
		MonotonicTime begun = this.clock.now();
		try {
			AssignmentRequest request = this.traits.addTo(plain);
			Assignment assignment = this.settings.strategy().assign(request);
			if (assignment == null) {
				return failed("null", "returns null: it has to return Assignment.builder(request)…build()", null);
			}
			if (assignment.request() != request) {
				return failed("request",
						"returns an assignment for another request: "
								+ "it has to be built with Assignment.builder(…) from the request that it was given",
						null);
			}
			return new Computed(assignment, begun.until(this.clock.now()));
		}
		catch (ShardTraitsCache.CatalogFailure ex) {
			return new Failed("catalog", ex.getMessage(), ex.getCause());
		}
		catch (Throwable ex) {
			// Errors, too: the application's code must not end the loop.
			StackTraceElement[] stack = ex.getStackTrace();
			String place = (stack.length > 0) ? stack[0].toString() : "";
			return failed(ex.getClass().getName() + place, "throws " + ex, ex);
		}
	}

	private Failed failed(String kind, String what, @Nullable Throwable cause) {
		boolean cataloged = this.settings.catalog() != ShardCatalog.PLAIN;
		String remedy = this.settings.foreign() ? "Correct it" + (cataloged ? " (or the ShardCatalog)" : "")
				+ ", or choose a built-in one with 'shardkeeper.assignment.strategy'" : "Please report it";
		return new Failed(kind, "The assignment strategy '%s' %s. %s.".formatted(this.settings.name(), what, remedy),
				cause);
	}

	/** Names the catalog while the strategy has not been asked yet. */
	private Failed overdue(String kind, String what) {
		ShardId asked = this.traits.asked();
		return (asked != null) ? new Failed(kind + " catalog",
				"The ShardCatalog, which was asked for the traits of %s, %s. Have it reply from memory: it is asked for all shards within that time."
					.formatted(asked, what),
				null) : failed(kind, what, null);
	}

	private Failed late() {
		return overdue("late", "has not answered within %s%s and was interrupted".formatted(text(timeout()),
				this.settings.foreign() ? " ('shardkeeper.assignment.timeout')" : ""));
	}

	private Failed stuck(Call call) {
		StackTraceElement[] stack = call.thread.getStackTrace();
		return overdue("stuck", "was interrupted after %s and has not returned%s. It is not called again before it does"
			.formatted(text(timeout()), (stack.length > 0) ? ", it is at " + stack[0] : ""));
	}

	private static String text(Duration duration) {
		return duration.toMillis() + " ms";
	}

	private final class Call implements Runnable {

		private final AssignmentRequest request;

		private final MonotonicTime deadline;

		private final Thread thread;

		/** Confined to the loop. */
		private boolean isOverdue;

		private volatile @Nullable Reply reply;

		private Call(AssignmentRequest request, MonotonicTime deadline) {
			this.request = request;
			this.deadline = deadline;
			this.thread = new Thread(this, "shardkeeper-assignment");
			this.thread.setDaemon(true);
		}

		@Override
		public void run() {
			try {
				this.reply = compute(this.request);
			}
			catch (Throwable ex) {
				// The exception's own toString fails.
				this.reply = failed("unprintable", "throws an exception whose toString() fails", null);
			}
			finally {
				StrategyCalls.this.wake.run();
			}
		}

		/** Returns the reply, {@code null} while the call runs. */
		private @Nullable Reply reply() {
			// Read in this order: the thread sets the reply before it ends.
			boolean hasEnded = !this.thread.isAlive();
			Reply given = this.reply;
			return (given == null && hasEnded) ? failed("died", "has ended its thread without a reply", null) : given;
		}

	}

	sealed interface Reply {

	}

	/**
	 * A valid assignment.
	 *
	 * @param duration the time that the strategy took
	 */
	record Computed(Assignment assignment, Duration duration) implements Reply {

	}

	/**
	 * A failure.
	 *
	 * @param kind the kind of the problem, equal for equal problems
	 * @param text the problem and how to fix it, one or two sentences
	 */
	record Failed(String kind, String text, @Nullable Throwable cause) implements Reply {

	}

}
