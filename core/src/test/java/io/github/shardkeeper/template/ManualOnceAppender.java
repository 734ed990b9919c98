package io.github.shardkeeper.template;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.OnceAppender;

/**
 * Appender whose batches are answered on demand. Confined to the thread of the test.
 */
final class ManualOnceAppender implements OnceAppender {

	private final List<Batch> batches = new ArrayList<>();

	private final List<CompletableFuture<Appended>> answers = new ArrayList<>();

	/** Payloads of what was appended without a batch. */
	private final List<String> others = new ArrayList<>();

	private RuntimeException failure;

	@Override
	public List<CompletableFuture<Offset>> append(List<NewRecord> records) {
		if (this.failure != null) {
			throw this.failure;
		}
		return records.stream().map((newRecord) -> {
			this.others.add(new String(newRecord.payload()));
			return CompletableFuture.completedFuture(new Offset("plain"));
		}).toList();
	}

	@Override
	public CompletableFuture<Appended> appendOnce(Batch batch) {
		this.batches.add(batch);
		CompletableFuture<Appended> answer = new CompletableFuture<>();
		this.answers.add(answer);
		return answer;
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

	/** Answers the last attempt. */
	void answer() {
		Batch batch = this.batches.get(this.batches.size() - 1);
		answer(this.batches.size() - 1,
				batch.records().stream().map((sent) -> new Offset("of " + new String(sent.payload()))).toList());
	}

	void answer(int attempt, List<Offset> offsets) {
		answer(attempt, offsets, 0);
	}

	void answer(int attempt, List<Offset> offsets, int before) {
		this.answers.get(attempt).complete(new Appended(offsets, before));
	}

	/** Fails the last attempt. */
	void fail(boolean mayHaveBeenAppended, boolean refusal) {
		this.answers.get(this.answers.size() - 1)
			.completeExceptionally(new SendFailedException("no", null, mayHaveBeenAppended, refusal));
	}

	/** What {@link #append} throws. */
	void failOthersWith(RuntimeException thrown) {
		this.failure = thrown;
	}

}
