package io.github.shardkeeper.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.SourceRecord;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Sink that accepts all records, whether or not it has room for more. Thread-safe.
 */
public final class RecordingSink implements ShardReader.RecordSink {

	private final BlockingQueue<SourceRecord> records = new LinkedBlockingQueue<>();

	private final List<String> moves = new CopyOnWriteArrayList<>();

	private volatile boolean room;

	private volatile int delivered;

	private volatile int largestOffer;

	private volatile int ends;

	private volatile int deliveredAtEnd;

	/**
	 * Creates a sink.
	 * @param room whether it has room for more records
	 */
	public RecordingSink(boolean room) {
		this.room = room;
	}

	@Override
	public boolean offer(List<SourceRecord> more) {
		assertThat(more).isNotEmpty();
		this.delivered += more.size();
		this.largestOffer = Math.max(this.largestOffer, more.size());
		this.records.addAll(more);
		return this.room;
	}

	@Override
	public void movedTo(Offset after, boolean offsetsReused) {
		this.moves.add((offsetsReused ? "reused after " : "after ") + after);
	}

	@Override
	public void ended() {
		this.deliveredAtEnd = this.delivered;
		this.ends++;
	}

	/**
	 * Returns the moves of the shard, like {@code after 41}, or {@code reused after 41}
	 * where offsets may be reused.
	 * @return the moves in their order
	 */
	public List<String> moves() {
		return List.copyOf(this.moves);
	}

	/** Has room for more records from now on. */
	public void makeRoom() {
		this.room = true;
	}

	/**
	 * Returns the records that were delivered and not removed yet.
	 * @return the records in their order
	 */
	public List<SourceRecord> pending() {
		return List.copyOf(this.records);
	}

	/**
	 * Returns the number of records that were delivered.
	 * @return the number of records
	 */
	public int delivered() {
		return this.delivered;
	}

	/**
	 * Returns how often the end of the shard was notified.
	 * @return the number of notifications
	 */
	public int ends() {
		return this.ends;
	}

	/**
	 * Returns the number of records that were delivered before the end.
	 * @return the number of records
	 */
	public int deliveredAtEnd() {
		return this.deliveredAtEnd;
	}

	/**
	 * Returns the size of the largest delivery.
	 * @return the number of records
	 */
	public int largestOffer() {
		return this.largestOffer;
	}

	/**
	 * Waits up to 30 seconds for records and removes them.
	 * @param count the number of records
	 * @return the next records in their order
	 */
	public List<SourceRecord> await(int count) {
		return await(count, Duration.ofSeconds(30));
	}

	private List<SourceRecord> await(int count, Duration longest) {
		List<SourceRecord> taken = new ArrayList<>();
		long end = System.nanoTime() + longest.toNanos();
		try {
			while (taken.size() < count) {
				SourceRecord next = this.records.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
				assertThat(next).as("record %d of %d within %s", taken.size() + 1, count, longest).isNotNull();
				taken.add(next);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
		return taken;
	}

}
