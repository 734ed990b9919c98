package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.ShardCatalog;
import io.github.shardkeeper.handover.MonotonicTime;

/**
 * Calls the assignment strategy. A built-in one is called at once, on the coordinator's
 * loop, if it is sure to answer at once. For a large group it gets a thread of its own,
 * {@code shardkeeper-assignment}, as code of the application always does, for one call at
 * a time: no plan may take so long that the leader's lease ends. A call is interrupted at
 * the end of its time. While it ignores that, no other one is begun, and every request
 * fails.
 * <p>
 * Confined to the coordinator's loop, but for {@link #close}.
 */
final class StrategyCalls implements AutoCloseable {

	/** With more shards an unlucky group takes a built-in strategy some 100 ms. */
	private static final int MOST_SHARDS_ON_THE_LOOP = 20_000;

	/** Far above what any of them was seen to take. */
	private static final Duration BUILT_IN_TIMEOUT = Duration.ofMinutes(1);

	private final AssignmentSettings settings;

	private final KnownTraits traits;

	private final MonotonicClock clock;

	private final BiConsumer<AssignmentRequest, AssignmentAnswer> listener;

	/** Has {@link #run} called soon. */
	private final Runnable wake;

	private volatile @Nullable Call current;

	/** Comes next: asked for while a call for somebody else's question goes on. */
	private @Nullable AssignmentRequest waiting;

	StrategyCalls(AssignmentSettings settings, MonotonicClock clock,
			BiConsumer<AssignmentRequest, AssignmentAnswer> listener, Runnable wake) {
		this.settings = settings;
		this.traits = new KnownTraits(settings.catalog());
		this.clock = clock;
		this.listener = listener;
		this.wake = wake;
	}

	/** Has an assignment computed; the listener is told, perhaps before this returns. */
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

	/** Takes in what calls came to, and interrupts one that takes too long. */
	void run() {
		Call call = this.current;
		if (call == null) {
			return;
		}
		AssignmentAnswer answer = call.answer();
		if (answer != null) {
			this.current = null;
			AssignmentRequest next = this.waiting;
			this.waiting = null;
			if (!call.isOverdue) {
				this.listener.accept(call.request, answer);
			}
			if (next != null) {
				start(next);
			}
		}
		else if (!call.isOverdue && !this.clock.now().isBefore(call.deadline)) {
			call.isOverdue = true;
			call.thread.interrupt();
			this.listener.accept(call.request, late());
			AssignmentRequest next = this.waiting;
			this.waiting = null;
			if (next != null) {
				this.listener.accept(next, late());
			}
		}
	}

	/** When to {@link #run} at the latest. */
	@Nullable MonotonicTime wakeAt() {
		Call call = this.current;
		return (call != null && !call.isOverdue) ? call.deadline : null;
	}

	/** Interrupts what runs, and does not wait for it. */
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
			this.listener.accept(request, new AssignmentAnswer.Failed("thread",
					"No thread is available for the assignment strategy '%s': %s".formatted(this.settings.name(), ex),
					ex));
		}
	}

	private Duration timeout() {
		return this.settings.foreign() ? this.settings.timeout() : BUILT_IN_TIMEOUT;
	}

	private AssignmentAnswer compute(AssignmentRequest plain) {
		try {
			AssignmentRequest request = this.traits.addTo(plain);
			Assignment assignment = this.settings.strategy().assign(request);
			if (assignment == null) {
				return failed("null", "answers null: it has to answer Assignment.builder(request)…build()", null);
			}
			if (assignment.request() != request) {
				return failed("request",
						"answers with an assignment for another request: "
								+ "it has to be built with Assignment.builder(…) from the request that it was given",
						null);
			}
			return new AssignmentAnswer.Computed(assignment);
		}
		catch (KnownTraits.CatalogFailure ex) {
			return new AssignmentAnswer.Failed("catalog", ex.getMessage(), ex.getCause());
		}
		catch (Throwable ex) {
			// Also an Error: whatever the application's code throws is its own failure.
			StackTraceElement[] stack = ex.getStackTrace();
			String place = (stack.length > 0) ? stack[0].toString() : "";
			return failed(ex.getClass().getName() + place, "throws " + ex, ex);
		}
	}

	private AssignmentAnswer.Failed failed(String kind, String what, @Nullable Throwable cause) {
		boolean cataloged = this.settings.catalog() != ShardCatalog.PLAIN;
		String remedy = this.settings.foreign() ? "Correct it" + (cataloged ? " (or the ShardCatalog)" : "")
				+ ", or choose a built-in one with 'shardkeeper.assignment.strategy'" : "Please report it";
		return new AssignmentAnswer.Failed(kind,
				"The assignment strategy '%s' %s. %s.".formatted(this.settings.name(), what, remedy), cause);
	}

	private AssignmentAnswer.Failed late() {
		return failed("late", "has not answered within %s%s and was interrupted".formatted(text(timeout()),
				this.settings.foreign() ? " ('shardkeeper.assignment.timeout')" : ""), null);
	}

	private AssignmentAnswer.Failed stuck(Call call) {
		StackTraceElement[] stack = call.thread.getStackTrace();
		return failed("stuck", "was interrupted after %s and has not returned%s. It is not called again before it does"
			.formatted(text(timeout()), (stack.length > 0) ? ", it is at " + stack[0] : ""), null);
	}

	private static String text(Duration duration) {
		return duration.toMillis() + " ms";
	}

	/** One call, and the thread that it runs on. */
	private final class Call implements Runnable {

		private final AssignmentRequest request;

		private final MonotonicTime deadline;

		private final Thread thread;

		/** Confined to the loop. */
		private boolean isOverdue;

		private volatile @Nullable AssignmentAnswer answer;

		private Call(AssignmentRequest request, MonotonicTime deadline) {
			this.request = request;
			this.deadline = deadline;
			this.thread = new Thread(this, "shardkeeper-assignment");
			this.thread.setDaemon(true);
		}

		@Override
		public void run() {
			try {
				this.answer = compute(this.request);
			}
			catch (Throwable ex) {
				// Even its exceptions fail, when they are to say what they are.
				this.answer = failed("unspeakable", "throws what cannot be told", null);
			}
			finally {
				StrategyCalls.this.wake.run();
			}
		}

		/** {@code null} while it may come. */
		private @Nullable AssignmentAnswer answer() {
			// In this order: the answer is the last thing that the thread does.
			boolean hasEnded = !this.thread.isAlive();
			AssignmentAnswer given = this.answer;
			return (given == null && hasEnded) ? failed("died", "has ended its thread without an answer", null) : given;
		}

	}

}
