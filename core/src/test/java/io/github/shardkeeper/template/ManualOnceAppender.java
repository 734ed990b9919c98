package io.github.shardkeeper.template;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.IdempotentAppender;

/**
 * Appender whose batches are answered on demand. Confined to the thread of the test.
 */
final class ManualOnceAppender implements IdempotentAppender {

	private final List<Batch> batches = new ArrayList<>();

	private final List<CompletableFuture<Appended>> replies = new ArrayList<>();

	/** Payloads of what was appended without a batch. */
	private final List<String> others = new ArrayList<>();

	private Throwable failure;

	@Override
	public List<CompletableFuture<Offset>> append(List<NewRecord> records) {
		if (this.failure instanceof Error error) {
			throw error;
		}
		if (this.failure != null) {
			throw (RuntimeException) this.failure;
		}
		return records.stream().map((newRecord) -> {
			this.others.add(new String(newRecord.payload()));
			return CompletableFuture.completedFuture(new Offset("plain"));
		}).toList();
	}

	@Override
	public CompletableFuture<Appended> appendOnce(Batch batch) {
		this.batches.add(batch);
		CompletableFuture<Appended> reply = new CompletableFuture<>();
		this.replies.add(reply);
		return reply;
	}

	/** Describes all attempts: shard, number and payloads of each batch. */
	List<String> attempts() {
		return this.batches.stream().map((batch) -> {
			List<String> payloads = batch.records().stream().map((sent) -> new String(sent.payload())).toList();
			return batch.shard().id() + "#" + batch.number() + payloads;
		}).toList();
	}

	List<Batch> batches() {
		return this.batches;
	}

	List<String> others() {
		return this.others;
	}

	/** Replies the last attempt. */
	void reply() {
		Batch batch = this.batches.get(this.batches.size() - 1);
		reply(this.batches.size() - 1,
				batch.records().stream().map((sent) -> new Offset("of " + new String(sent.payload()))).toList());
	}

	void reply(int attempt, List<Offset> offsets) {
		reply(attempt, offsets, 0);
	}

	void reply(int attempt, List<Offset> offsets, int before) {
		this.replies.get(attempt).complete(new Appended(offsets, before));
	}

	/** Fails the last attempt. */
	void fail(boolean mayHaveBeenAppended, boolean refusal) {
		this.replies.get(this.replies.size() - 1)
			.completeExceptionally(new SendFailedException("no", null, mayHaveBeenAppended, refusal));
	}

	/** What {@link #append} throws, unchecked. */
	void failOthersWith(Throwable thrown) {
		this.failure = thrown;
	}

}
