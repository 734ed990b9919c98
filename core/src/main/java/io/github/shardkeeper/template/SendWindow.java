package io.github.shardkeeper.template;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/** Limit of the records in flight, which also waits until all are done. Thread-safe. */
final class SendWindow {

	private final SendSettings settings;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition room = this.lock.newCondition();

	private final Condition done = this.lock.newCondition();

	/** Guarded by the lock, like all fields below. */
	private int records;

	private long bytes;

	private Generation current = new Generation();

	/** Generations before the current one that have records in flight. */
	private final List<Generation> earlier = new ArrayList<>();

	SendWindow(SendSettings settings) {
		this.settings = settings;
	}

	/** Takes room of {@code size} bytes; {@code null} if there is none now. */
	@Nullable Place tryEnter(long size) {
		this.lock.lock();
		try {
			return hasRoom(size) ? take(size) : null;
		}
		finally {
			this.lock.unlock();
		}
	}

	Place enter(long size) throws InterruptedException {
		this.lock.lockInterruptibly();
		try {
			while (!hasRoom(size)) {
				this.room.await();
			}
			return take(size);
		}
		finally {
			this.lock.unlock();
		}
	}

	private boolean hasRoom(long size) {
		return this.records == 0
				|| this.records < this.settings.maxInFlight() && this.bytes + size <= this.settings.maxInFlightBytes();
	}

	private Place take(long size) {
		this.records++;
		this.bytes += size;
		this.current.records++;
		return new Place(this.current, size);
	}

	void leave(Place place) {
		this.lock.lock();
		try {
			this.records--;
			this.bytes -= place.size;
			if (this.lock.hasWaiters(this.room)) {
				// All: a waiting large record must not block small ones.
				this.room.signalAll();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Ends a record, after the callbacks of its future have returned. */
	void finish(Place place) {
		this.lock.lock();
		try {
			place.generation.records--;
			if (place.generation.records == 0 && this.earlier.remove(place.generation)) {
				this.done.signalAll();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	int inFlight() {
		this.lock.lock();
		try {
			return this.records;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Waits until all records that have entered before are finished. */
	void awaitDone() throws InterruptedException {
		this.lock.lockInterruptibly();
		try {
			if (this.current.records > 0) {
				this.earlier.add(this.current);
				this.current = new Generation();
			}
			List<Generation> before = List.copyOf(this.earlier);
			while (before.stream().anyMatch((generation) -> generation.records > 0)) {
				this.done.await();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Records that have entered between two calls of {@link #awaitDone()}. */
	private static final class Generation {

		private int records;

	}

	static final class Place {

		private final Generation generation;

		private final long size;

		private Place(Generation generation, long size) {
			this.generation = generation;
			this.size = size;
		}

	}

}
