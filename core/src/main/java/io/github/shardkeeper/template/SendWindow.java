package io.github.shardkeeper.template;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * Keeps what is under way within bounds, and tells when all of it is done. Thread-safe.
 */
public final class SendWindow {

	private final SendSettings settings;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition room = this.lock.newCondition();

	private final Condition done = this.lock.newCondition();

	/** Guarded by the lock, as is all below. */
	private int records;

	private long bytes;

	private Generation current = new Generation();

	/** Those before the current one of which some records are under way. */
	private final List<Generation> earlier = new ArrayList<>();

	public SendWindow(SendSettings settings) {
		this.settings = settings;
	}

	/**
	 * Takes room if there is any now.
	 * @return with what to leave; {@code null} when there is no room
	 */
	@Nullable public Place tryEnter(long size) {
		this.lock.lock();
		try {
			return hasRoom(size) ? take(size) : null;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Waits for room. */
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

	/** Makes room for others. */
	void leave(Place place) {
		this.lock.lock();
		try {
			this.records--;
			this.bytes -= place.size;
			if (this.lock.hasWaiters(this.room)) {
				// All: who waits for much must not keep away who waits for little.
				this.room.signalAll();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** After all is done that depends on it. */
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

	public int underWay() {
		this.lock.lock();
		try {
			return this.records;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Waits until whatever has entered before is finished. */
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

	/** What has entered between two calls of {@link #awaitDone()}. */
	private static final class Generation {

		private int records;

	}

	/** Room that is taken. */
	static final class Place {

		private final Generation generation;

		private final long size;

		private Place(Generation generation, long size) {
			this.generation = generation;
			this.size = size;
		}

	}

}
