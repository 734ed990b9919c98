package io.github.shardkeeper.operations.housekeeping;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CommitHistory.LastCommit;
import io.github.shardkeeper.checkpoint.TopicGroups;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.loop.LoopLifecycle;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Copies committed offsets from the application's database to where other groups look for
 * them before they trim a topic. Each instance copies those of the shards that it owns. A
 * copy is up to {@link #INTERVAL} old; that of a shard without an owner does not change.
 * So records are trimmed a little later, and never too early, except that a record before
 * the last copy may be trimmed although a seek has just made it one to be handled again.
 * A copy carries the number of its commit, so one of an instance that was frozen does not
 * replace that of the new owner.
 * <p>
 * Has a loop of its own: a database that is away delays nothing else. Thread-safe.
 */
public final class OffsetCopies extends LoopLifecycle {

	/** Interval between two copies. */
	public static final Duration INTERVAL = TopicTrimming.INTERVAL;

	private static final Logger logger = PrintableLogger.of(OffsetCopies.class);

	private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);

	private final Predicate<String> copied;

	private final Supplier<Set<ShardId>> owned;

	private final CheckpointStore checkpoints;

	private final TopicGroups groups;

	private final MemberRuntime runtime;

	/** What was copied last, of owned shards; confined to the loop. */
	private final Map<ShardId, TopicGroups.Copy> last = new HashMap<>();

	private @Nullable String refusal;

	/**
	 * Creates an instance that is not started.
	 * @param copied returns whether the offsets of a topic are copied
	 * @param owned the shards of this instance
	 * @param phase the lifecycle phase, later than the runner's
	 */
	public OffsetCopies(Predicate<String> copied, Supplier<Set<ShardId>> owned, CheckpointStore checkpoints,
			TopicGroups groups, MemberRuntime runtime, int phase) {
		super(phase);
		this.copied = copied;
		this.owned = owned;
		this.checkpoints = checkpoints;
		this.groups = groups;
		this.runtime = runtime;
	}

	@Override
	protected Loops.Loop startLoop() {
		return this.runtime.loops().start("shardkeeper-offset-copies", this::step);
	}

	MonotonicTime step() {
		try {
			copy();
			this.refusal = null;
		}
		catch (StoreUnavailableException ex) {
			if (ex.isRefusal() && !String.valueOf(ex.getMessage()).equals(this.refusal)) {
				this.refusal = String.valueOf(ex.getMessage());
				logger.warn("Offsets of the database cannot be copied, so other groups do not trim the records; "
						+ "trying again. {}", ex.getMessage());
			}
			else {
				logger.debug("Offsets of the database cannot be copied now", ex);
			}
			return this.runtime.clock().now().plus(PAUSE_AFTER_FAILURE);
		}
		return this.runtime.clock().now().plus(INTERVAL);
	}

	private void copy() {
		Set<ShardId> shards = this.owned.get()
			.stream()
			.filter((shard) -> this.copied.test(shard.topic()))
			.collect(Collectors.toSet());
		// One that comes back may have been copied by another instance.
		this.last.keySet().retainAll(shards);
		if (shards.isEmpty()) {
			return;
		}
		Map<ShardId, TopicGroups.Copy> copies = new HashMap<>();
		this.checkpoints.commits(shards).forEach((shard, commits) -> {
			Offset offset = commits.offset();
			TopicGroups.Copy before = this.last.get(shard);
			LastCommit commit = commits.last();
			// Also after an acquisition: that has removed the copy, or refused it before.
			if (offset != null
					&& (before == null || !before.offset().equals(offset) || !before.token().equals(commit.token()))) {
				copies.put(shard, new TopicGroups.Copy(offset, commit.token(), commit.number()));
			}
		});
		if (!copies.isEmpty()) {
			this.groups.copyOffsets(copies);
			this.last.putAll(copies);
		}
	}

}
