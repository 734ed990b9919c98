package io.github.shardkeeper.template;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.ShardAppender;

/**
 * Appender that records its calls and replies on demand, or at once.
 */
final class ManualAppender implements ShardAppender {

	private final boolean atOnce;

	private final List<NewRecord> records = new ArrayList<>();

	private final List<CompletableFuture<Offset>> replies = new ArrayList<>();

	private final List<Integer> batches = new ArrayList<>();

	private Throwable failure;

	ManualAppender(boolean atOnce) {
		this.atOnce = atOnce;
	}

	@Override
	public List<CompletableFuture<Offset>> append(List<NewRecord> more) {
		synchronized (this) {
			if (this.failure != null) {
				throw asUnchecked(this.failure);
			}
			int first = this.records.size();
			this.records.addAll(more);
			more.forEach((record) -> this.replies.add(new CompletableFuture<>()));
			this.batches.add(more.size());
			if (this.atOnce) {
				IntStream.range(first, this.replies.size()).forEach(this::reply);
			}
			return List.copyOf(this.replies.subList(first, this.replies.size()));
		}
	}

	/** Completes the future of one record, from the thread that calls. */
	void reply(int index) {
		answerOf(index).complete(new Offset(Integer.toString(index + 1)));
	}

	void answerAll() {
		IntStream.range(0, records().size()).forEach(this::reply);
	}

	synchronized CompletableFuture<Offset> answerOf(int index) {
		return this.replies.get(index);
	}

	public synchronized List<NewRecord> records() {
		return List.copyOf(this.records);
	}

	public synchronized List<String> payloads() {
		return this.records.stream().map((record) -> new String(record.payload())).toList();
	}

	synchronized List<Integer> batches() {
		return List.copyOf(this.batches);
	}

	/** With an exception or an error, until it is {@code null}. */
	synchronized void failWith(Throwable thrown) {
		this.failure = thrown;
	}

	private static RuntimeException asUnchecked(Throwable thrown) {
		if (thrown instanceof Error error) {
			throw error;
		}
		return (RuntimeException) thrown;
	}

}
