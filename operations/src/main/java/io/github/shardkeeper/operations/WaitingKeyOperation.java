package io.github.shardkeeper.operations;

import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.WaitingRecord;
import io.github.shardkeeper.report.WaitingKeyReport;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * Lists what waits in a shard's retry queue by key, and retries, sends back or drops it
 * for people: the records of one key, or of all. Thread-safe.
 */
final class WaitingKeyOperation {

	static final List<String> FIELDS = List.of("id", "key");

	private static final int DEFAULT_PAGE = 20;

	private static final Comparator<WaitingRecord> ORDER = Comparator.comparingLong(WaitingRecord::place)
		.thenComparing(WaitingRecord::dueIn)
		.thenComparing((record) -> record.offset().value());

	private final CheckpointStore checkpoints;

	private final Consumer<Collection<ShardId>> owners;

	/**
	 * Creates the operation.
	 * @param owners notifies the owners of shards whose retry queues were changed
	 */
	WaitingKeyOperation(CheckpointStore checkpoints, Consumer<Collection<ShardId>> owners) {
		this.checkpoints = checkpoints;
		this.owners = owners;
	}

	/**
	 * Returns a page of the keys of a shard that wait.
	 * @param after {@code next} of the page before, {@code null} at first
	 * @param showValues whether to show what may be confidential
	 */
	WaitingKeyReport.Page list(ShardId shard, @Nullable String after, @Nullable String limit, boolean showValues) {
		Integer most = new OperationRequest("list", "", null, true, (limit != null) ? Map.of("limit", limit) : Map.of())
			.number("limit", DeadLetterOperation.LONGEST_PAGE);
		List<WaitingKey> keys = keys(shard);
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
	private List<WaitingKey> keys(ShardId shard) {
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

	/** Makes the first record of each key due now. */
	List<String> retry(ShardId shard, OperationRequest request) {
		return change(shard, request, WaitingRecord.Change.RETRY_NOW, "Retried now", "Would be retried now");
	}

	/** Does the same, with the attempts counted from one again. */
	List<String> sendBack(ShardId shard, OperationRequest request) {
		return change(shard, request, WaitingRecord.Change.SEND_BACK, "Sent back to be handled again",
				"Would be sent back to be handled again");
	}

	/** Removes all records of each key. */
	List<String> drop(ShardId shard, OperationRequest request) {
		return change(shard, request, WaitingRecord.Change.DROP, "Deleted", "Would be deleted permanently");
	}

	private List<String> change(ShardId shard, OperationRequest request, WaitingRecord.Change change, String done,
			String would) {
		List<WaitingKey> keys = selected(shard, request);
		List<Offset> offsets = keys.stream()
			.flatMap((key) -> (change == WaitingRecord.Change.DROP) ? key.offsets.stream() : key.due().stream())
			.toList();
		if (!request.dryRun()) {
			this.checkpoints.changeWaiting(shard, offsets, change);
			// Also if nothing was changed: an earlier call may have failed here.
			this.owners.accept(Set.of(shard));
		}
		if (keys.isEmpty() && !request.fields().isEmpty()) {
			return List.of("Nothing to do: nothing waits in this shard with this %s (any more)"
				.formatted(request.fields().containsKey("id") ? "id" : "key"));
		}
		long records = keys.stream().mapToLong((key) -> key.offsets.size()).sum();
		return List.of("%s: %s of %s".formatted(request.dryRun() ? would : done, number(records, "record"),
				number(keys.size(), "key")));
	}

	private List<WaitingKey> selected(ShardId shard, OperationRequest request) {
		String id = request.optional("id");
		String key = request.optional("key");
		if (id != null && key != null) {
			throw OperationRefusedException.malformed("Send either 'id' or 'key', not both");
		}
		List<WaitingKey> keys = keys(shard);
		if (id == null && key == null) {
			return keys;
		}
		return keys.stream().filter((each) -> (id != null) ? each.id().equals(id) : each.isOf(key)).toList();
	}

	private static String number(long number, String what) {
		return number + " " + what + ((number == 1) ? "" : "s");
	}

	/** Records of a key, of which only the first one is kept whole. */
	private static final class WaitingKey {

		private final Set<Offset> offsets = new HashSet<>();

		private WaitingRecord first;

		private long size;

		WaitingKey(WaitingRecord any) {
			this.first = any;
		}

		/** Adds a record, which may be listed more than once. */
		void add(WaitingRecord record) {
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

		WaitingKeyReport report(boolean showValues) {
			String error = this.first.exception();
			return new WaitingKeyReport(id(), this.offsets.size(), this.size, this.first.attempts(), this.first.dueIn(),
					this.first.since(), (showValues || error.isEmpty()) ? error : DeadLetterOperation.className(error),
					showValues ? DeadLetterOperation.shortenedKey(this.first.key()) : null);
		}

	}

}
