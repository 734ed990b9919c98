package io.github.shardkeeper.kafka.reading;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.jspecify.annotations.Nullable;

/**
 * Commands to the thread that polls a consumer, which is confined to it: carried out in
 * their order before the next poll. They end a poll that waits. Thread-safe.
 */
final class ConsumerCommands {

	private final Queue<Runnable> commands = new ConcurrentLinkedQueue<>();

	private final Object lock = new Object();

	/** Consumer that waits and that nobody has woken; guarded by the lock, as all. */
	private @Nullable Consumer<String, byte[]> waiting;

	private boolean running;

	private boolean closed;

	void execute(Runnable command) {
		this.commands.add(command);
		wakeUp();
	}

	/** Wakes the consumer once per wait at most, so that no wake-up is left for later. */
	void wakeUp() {
		synchronized (this.lock) {
			Consumer<String, byte[]> woken = this.waiting;
			this.waiting = null;
			if (woken != null) {
				woken.wakeup();
			}
			this.lock.notifyAll();
		}
	}

	/** Returns whether commands wait to be carried out. */
	boolean areDue() {
		return !this.commands.isEmpty();
	}

	void carryOut() {
		for (Runnable command = this.commands.poll(); command != null; command = this.commands.poll()) {
			command.run();
		}
	}

	/** Waits for a command. */
	void await(Duration longest) throws InterruptedException {
		synchronized (this.lock) {
			if (!areDue() && !this.closed) {
				this.lock.wait(Math.max(1, longest.toMillis()));
			}
		}
	}

	/**
	 * Polls a consumer, without waiting if there are commands.
	 * @throws org.apache.kafka.common.errors.WakeupException if it was woken. If the
	 * wake-up comes too late for one poll, it ends the next one
	 */
	ConsumerRecords<String, byte[]> poll(Consumer<String, byte[]> consumer, Duration longest) {
		boolean waits;
		synchronized (this.lock) {
			waits = !areDue() && !this.closed;
			this.waiting = waits ? consumer : null;
		}
		try {
			return consumer.poll(waits ? longest : Duration.ZERO);
		}
		finally {
			synchronized (this.lock) {
				this.waiting = null;
			}
		}
	}

	/** Begins a turn of the polling thread; returns whether there is one. */
	boolean begin() {
		synchronized (this.lock) {
			this.running = !this.closed;
			return this.running;
		}
	}

	/** Ends a turn; returns whether the consumer is to be closed now. */
	boolean end() {
		synchronized (this.lock) {
			this.running = false;
			return this.closed;
		}
	}

	/**
	 * Begins no turn any more; returns whether none is under way. Otherwise the polling
	 * thread closes the consumer at the end of its turn.
	 */
	boolean close() {
		boolean idle;
		synchronized (this.lock) {
			idle = !this.running;
			this.closed = true;
		}
		wakeUp();
		return idle;
	}

}
