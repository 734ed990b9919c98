package io.github.shardkeeper.output;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.SequencedAppender;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.memory.MemoryStreamSource;
import io.github.shardkeeper.testsupport.StreamPayloads;

/**
 * The topics {@code invoices}, with two shards, and {@code mails}, with one, in memory. A
 * key that is a number is that of the shard. Requests can be held back, refused, and
 * their replies lost.
 */
public final class TestTargets implements OutputTargets, SequencedAppender {

	public static final ShardId INVOICES = ShardId.of("invoices", 0);

	public static final ShardId OTHER_INVOICES = ShardId.of("invoices", 1);

	public static final ShardId MAILS = ShardId.of("mails", 0);

	private MemoryStreamSource source = newSource();

	private final Deque<Runnable> held = new ArrayDeque<>();

	private final List<Batch> requests = new ArrayList<>();

	private boolean holds;

	private boolean losesAnswers;

	private ShardId refused;

	private Error thrown;

	private static MemoryStreamSource newSource() {
		return new MemoryStreamSource(Map.of("invoices", 2, "mails", 1));
	}

	@Override
	public NewRecord prepare(String topic, Outgoing outgoing) {
		String key = outgoing.key();
		return new NewRecord(ShardId.of(topic, (key != null) ? Integer.parseInt(key) : 0), key,
				outgoing.payload().toString().getBytes(StandardCharsets.UTF_8), outgoing.headers(), outgoing.id());
	}

	@Override
	public SequencedAppender appender(String topic) {
		return this;
	}

	@Override
	public CompletableFuture<Reply> append(Sequence sequence, Batch batch) {
		this.requests.add(batch);
		if (batch.to().equals(this.refused)) {
			if (this.thrown != null) {
				throw this.thrown;
			}
			return CompletableFuture.failedFuture(new SendFailedException("refused, caused by the test", null, false));
		}
		if (this.holds) {
			CompletableFuture<Reply> reply = new CompletableFuture<>();
			this.held.add(() -> this.source.append(sequence, batch).thenAccept(reply::complete));
			return reply;
		}
		CompletableFuture<Reply> reply = this.source.append(sequence, batch);
		return this.losesAnswers ? CompletableFuture.failedFuture(new SendFailedException("no reply", null, true))
				: reply;
	}

	/** Appends records whatever their numbers are. */
	public void appendAgain(List<NewRecord> records) {
		this.source.append(records);
	}

	/** From now on requests are on their way until {@link #deliver}. */
	public void hold() {
		this.holds = true;
	}

	/** The held requests arrive and are answered; no others are held. */
	public void deliver() {
		this.holds = false;
		while (!this.held.isEmpty()) {
			this.held.remove().run();
		}
	}

	/** Requests are carried out, and their replies lost, or no longer. */
	public void loseAnswers(boolean loses) {
		this.losesAnswers = loses;
	}

	/** Refuses everything for a shard, {@code null} for none. */
	public void refuse(ShardId shard) {
		this.refused = shard;
	}

	/** Refuses everything for a shard with an error of the appender. */
	public void refuse(ShardId shard, Error error) {
		this.refused = shard;
		this.thrown = error;
	}

	/** Loses the records and the numbers of those that it has. */
	public void empty() {
		this.source = newSource();
	}

	public List<Batch> requests() {
		return this.requests;
	}

	/** Returns the payloads of the records of a shard. */
	public List<String> received(ShardId shard) {
		return StreamPayloads.of(this.source, shard);
	}

}
