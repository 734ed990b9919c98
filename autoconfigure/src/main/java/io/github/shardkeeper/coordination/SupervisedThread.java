package io.github.shardkeeper.coordination;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that repeats a step until it is stopped. A step that throws anything is logged
 * and repeated after a pause: no loop of ours ever dies silently. Thread-safe.
 */
public final class SupervisedThread implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(SupervisedThread.class);

	private static final long FIRST_PAUSE_MILLIS = 50;

	private static final long LONGEST_PAUSE_MILLIS = 5000;

	private final Step step;

	private final Thread thread;

	private volatile boolean running = true;

	private SupervisedThread(String name, Step step, boolean daemon) {
		this.step = step;
		this.thread = new Thread(this::run, name);
		this.thread.setDaemon(daemon);
	}

	/**
	 * Starts a daemon thread.
	 * @param name its name
	 * @param step what it repeats; it should block while there is nothing to do, and
	 * return early when interrupted
	 * @return the running thread
	 */
	public static SupervisedThread start(String name, Step step) {
		return start(new SupervisedThread(name, step, true));
	}

	/**
	 * Starts a thread that keeps the process running until it is closed.
	 * @param name its name
	 * @param step what it repeats
	 * @return the running thread
	 */
	public static SupervisedThread startForeground(String name, Step step) {
		return start(new SupervisedThread(name, step, false));
	}

	private static SupervisedThread start(SupervisedThread thread) {
		thread.thread.start();
		return thread;
	}

	private void run() {
		long pauseMillis = FIRST_PAUSE_MILLIS;
		while (this.running) {
			try {
				this.step.run();
				pauseMillis = FIRST_PAUSE_MILLIS;
			}
			catch (InterruptedException ex) {
				// Either the thread is being stopped, or somebody's stray interrupt.
			}
			catch (Throwable ex) {
				if (this.running) {
					logger.error("Unexpected failure in {}; going on in {} ms", this.thread.getName(), pauseMillis, ex);
					pause(pauseMillis);
					pauseMillis = Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS);
				}
			}
		}
	}

	private void pause(long millis) {
		try {
			Thread.sleep(millis);
		}
		catch (InterruptedException ex) {
			// The loop looks at `running` next.
		}
	}

	/**
	 * Stops the thread and waits for a moment until it has ended.
	 */
	@Override
	public void close() {
		this.running = false;
		this.thread.interrupt();
		if (Thread.currentThread() != this.thread) {
			try {
				this.thread.join(1000);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/** One round of a loop. */
	@FunctionalInterface
	public interface Step {

		void run() throws InterruptedException;

	}

}
