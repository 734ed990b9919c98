package io.github.shardkeeper.operations.failure;

import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.WaitingRecord;
import io.github.shardkeeper.operations.request.OperationRefusedException;
import io.github.shardkeeper.operations.request.OperationRequest;
import io.github.shardkeeper.operations.request.RequestedShards;
import io.github.shardkeeper.operations.request.ShardQuery;
import io.github.shardkeeper.report.WaitingKeyReport;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/** Lists what waits in a shard's retry queue, by key, for people. Thread-safe. */
public final class WaitingKeys {

	private static final int DEFAULT_PAGE = 20;

	private static final Comparator<WaitingRecord> ORDER = Comparator.comparingLong(WaitingRecord::place)
		.thenComparing(WaitingRecord::dueIn)
		.thenComparing((record) -> record.offset().value());

	private final CheckpointStore checkpoints;

	private final RequestedShards shards;

	public WaitingKeys(CheckpointStore checkpoints, RequestedShards shards) {
		this.checkpoints = checkpoints;
		this.shards = shards;
	}

	CheckpointStore checkpoints() {
		return this.checkpoints;
	}

	/**
	 * Returns a page of the keys of a shard that wait.
	 * @param after {@code next} of the page before, {@code null} at first
	 * @param showValues whether to show what may be confidential
	 */
	public WaitingKeyReport.Page list(ShardId shard, @Nullable String after, @Nullable String limit,
			boolean showValues) {
		this.shards.require(shard);
		Integer most = OperationRequest.number("limit", limit, DeadLetterPages.LONGEST_PAGE);
		List<WaitingKey> keys = of(shard);
		long records = keys.stream().mapToLong((key) -> key.offsets.size()).sum();
		int from = 0;
		if (after != null) {
			List<String> ids = keys.stream().map(WaitingKey::id).toList();
			if (!ids.contains(after)) {
				throw OperationRefusedException
					.malformed("'after' is '%s', which does not wait any more: begin with the first page"
						.formatted(ShardQuery.quoted(after)));
			}
			from = ids.indexOf(after) + 1;
		}
		List<WaitingKey> page = keys.subList(from,
				Math.min(keys.size(), from + ((most != null) ? most : DEFAULT_PAGE)));
		boolean isLast = from + page.size() == keys.size();
		return new WaitingKeyReport.Page(page.stream().map((key) -> key.report(showValues)).toList(), keys.size(),
				records, isLast ? null : page.get(page.size() - 1).id(), showValues);
	}

	/** Returns the keys that wait, in the order in which they began to. */
	List<WaitingKey> of(ShardId shard) {
		this.shards.require(shard);
		if (!this.checkpoints.listsWaiting(shard.topic())) {
			throw OperationRefusedException
				.conflict("The store of this application cannot tell what waits in a retry queue");
		}
		Map<Object, WaitingKey> keys = new HashMap<>();
		this.checkpoints.waiting(shard,
				(record) -> keys
					.computeIfAbsent((record.key() != null) ? record.key() : record.offset(),
							(key) -> new WaitingKey(record))
					.add(record));
		return keys.values().stream().sorted(Comparator.comparing((key) -> key.first, ORDER)).toList();
	}

	/** Records of a key, of which only the first one is kept whole. */
	static final class WaitingKey {

		private final Set<Offset> offsets = new HashSet<>();

		private WaitingRecord first;

		private long size;

		private WaitingKey(WaitingRecord any) {
			this.first = any;
		}

		/** Adds a record, which may be listed more than once. */
		private void add(WaitingRecord record) {
			if (this.offsets.add(record.offset())) {
				this.size += record.size();
			}
			if (ORDER.compare(record, this.first) < 0) {
				this.first = record;
			}
		}

		String id() {
			return this.first.offset().value();
		}

		boolean isOf(@Nullable String key) {
			return this.first.key() != null && this.first.key().equals(key);
		}

		/** Returns what to make due: the others wait for the first one if they do. */
		Collection<Offset> due() {
			return (this.first.place() > 0) ? List.of(this.first.offset()) : this.offsets;
		}

		Set<Offset> offsets() {
			return this.offsets;
		}

		private WaitingKeyReport report(boolean showValues) {
			String error = this.first.exception();
			return new WaitingKeyReport(id(), this.offsets.size(), this.size, this.first.attempts(), this.first.dueIn(),
					this.first.since(), (showValues || error.isEmpty()) ? error : DeadLetterPages.className(error),
					showValues ? DeadLetterPages.shortenedKey(this.first.key()) : null);
		}

	}

}
