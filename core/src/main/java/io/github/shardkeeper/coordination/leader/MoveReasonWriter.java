package io.github.shardkeeper.coordination.leader;

import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.GroupDiagnostics.Kind;
import io.github.shardkeeper.protocol.MoveReason;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Writes the reasons of the moves that this member has planned, so that every instance
 * can report them. Does not wait for replies, and has one write under way. Confined to
 * the coordinator's loop.
 */
final class MoveReasonWriter {

	/** Maximum number of reasons of a write: far below a millisecond in the store. */
	static final int WRITTEN_AT_ONCE = 500;

	/** Pause after a failed write. */
	static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(10);

	private final CoordinationStore store;

	private final Runnable wake;

	/** Reasons to write, by shard; at most one for each shard of the group. */
	private final Map<String, String> pending = new LinkedHashMap<>();

	/**
	 * Assignment whose kept shards get a reason if they have none; {@code null} if done.
	 */
	private @Nullable Assignment filled;

	/** Number of the first shard that is not filled in yet. */
	private int fillFrom;

	private @Nullable Write write;

	private @Nullable MonotonicTime notBefore;

	/**
	 * Creates a writer.
	 * @param wake called after a reply, on any thread, if there is more to write
	 */
	MoveReasonWriter(CoordinationStore store, Runnable wake) {
		this.store = store;
		this.wake = wake;
	}

	/** Adds the reasons of planned moves; {@link #run} writes them. */
	void planned(Map<ShardId, MoveReason> reasons) {
		reasons.forEach((shard, reason) -> this.pending.put(shard.toString(), reason.text()));
	}

	/**
	 * Has a reason written for each shard that stays with its owner and has none, because
	 * the store was emptied. Call it once per leadership, and again after a claim period.
	 */
	void fillIn(Assignment assignment) {
		this.filled = assignment;
		this.fillFrom = 0;
	}

	/** Writes reasons if there are any and no write is under way. */
	void run(MonotonicTime now) {
		Write last = this.write;
		if (last != null && !last.reply.isDone()) {
			return;
		}
		this.write = null;
		if (last != null && last.reply.isCompletedExceptionally()) {
			this.notBefore = now.plus(PAUSE_AFTER_FAILURE);
			last.texts.forEach(this.pending::putIfAbsent);
			this.fillFrom = Math.min(this.fillFrom, last.fillFrom);
		}
		if (this.notBefore != null && now.isBefore(this.notBefore)) {
			return;
		}
		this.notBefore = null;
		if (!this.pending.isEmpty()) {
			Map<String, String> texts = nextPending();
			send(new Write(texts, this.fillFrom, this.store.diagnostics().write(Kind.REASONS, texts)));
		}
		else if (this.filled != null) {
			int from = this.fillFrom;
			Map<String, String> texts = nextKept(this.filled);
			if (!texts.isEmpty()) {
				send(new Write(Map.of(), from, this.store.diagnostics().writeMissing(Kind.REASONS, texts)));
			}
		}
	}

	private void send(Write sent) {
		this.write = sent;
		if (!this.pending.isEmpty() || this.filled != null) {
			sent.reply.whenComplete((nothing, failure) -> this.wake.run());
		}
	}

	private Map<String, String> nextPending() {
		Map<String, String> some = new LinkedHashMap<>();
		for (Iterator<Map.Entry<String, String>> next = this.pending.entrySet().iterator(); next.hasNext()
				&& some.size() < WRITTEN_AT_ONCE;) {
			Map.Entry<String, String> reason = next.next();
			some.put(reason.getKey(), reason.getValue());
			next.remove();
		}
		return some;
	}

	private Map<String, String> nextKept(Assignment assignment) {
		Map<String, String> some = new LinkedHashMap<>();
		int shards = assignment.request().shards().size();
		while (this.fillFrom < shards && some.size() < WRITTEN_AT_ONCE) {
			int shard = this.fillFrom++;
			MoveReason.ofKept(shard, assignment)
				.ifPresent((reason) -> some.put(assignment.request().shards().get(shard).toString(), reason.text()));
		}
		if (this.fillFrom == shards && some.isEmpty()) {
			this.filled = null;
		}
		return some;
	}

	/** Drops what was not written: the next leader may know better. */
	void deposed() {
		this.pending.clear();
		this.filled = null;
		this.write = null;
	}

	/**
	 * A write under way.
	 *
	 * @param fillFrom the number of the first shard to fill in if it fails
	 */
	private record Write(Map<String, String> texts, int fillFrom, CompletableFuture<Void> reply) {

	}

}
