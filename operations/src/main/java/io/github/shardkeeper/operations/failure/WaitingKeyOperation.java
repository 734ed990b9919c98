package io.github.shardkeeper.operations.failure;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

import io.github.shardkeeper.checkpoint.WaitingRecord.Change;
import io.github.shardkeeper.operations.failure.WaitingKeys.WaitingKey;
import io.github.shardkeeper.operations.request.Operation;
import io.github.shardkeeper.operations.request.OperationRefusedException;
import io.github.shardkeeper.operations.request.OperationRequest;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * Retries, sends back or drops what waits in a shard's retry queue: the records of one
 * key, or of all. Thread-safe.
 */
public final class WaitingKeyOperation extends Operation {

	private final Change change;

	private final String done;

	private final String would;

	private final WaitingKeys waiting;

	private final Consumer<Collection<ShardId>> owners;

	private WaitingKeyOperation(String name, Change change, String done, String would, WaitingKeys waiting,
			Consumer<Collection<ShardId>> owners) {
		super(name, Set.of(Level.SHARD), List.of("id", "key"));
		this.change = change;
		this.done = done;
		this.would = would;
		this.waiting = waiting;
		this.owners = owners;
	}

	/**
	 * Makes the first record of each key due now.
	 * @param owners notifies the owners of shards whose retry queues were changed
	 */
	public static WaitingKeyOperation retry(WaitingKeys waiting, Consumer<Collection<ShardId>> owners) {
		return new WaitingKeyOperation("retry-waiting", Change.RETRY_NOW, "Retried now", "Would be retried now",
				waiting, owners);
	}

	/** Does the same, with the attempts counted from one again. */
	public static WaitingKeyOperation sendBack(WaitingKeys waiting, Consumer<Collection<ShardId>> owners) {
		return new WaitingKeyOperation("send-back-waiting", Change.SEND_BACK, "Sent back to be handled again",
				"Would be sent back to be handled again", waiting, owners);
	}

	/** Removes all records of each key. */
	public static WaitingKeyOperation drop(WaitingKeys waiting, Consumer<Collection<ShardId>> owners) {
		return new WaitingKeyOperation("drop-waiting", Change.DROP, "Deleted", "Would be deleted permanently", waiting,
				owners);
	}

	@Override
	public List<String> perform(OperationRequest request) {
		ShardId shard = request.requiredShard();
		List<WaitingKey> keys = selected(shard, request);
		List<Offset> offsets = keys.stream()
			.flatMap((key) -> (this.change == Change.DROP) ? key.offsets().stream() : key.due().stream())
			.toList();
		if (!request.dryRun()) {
			this.waiting.checkpoints().changeWaiting(shard, offsets, this.change);
			// Also if nothing was changed: an earlier call may have failed here.
			this.owners.accept(Set.of(shard));
		}
		if (keys.isEmpty() && !request.fields().isEmpty()) {
			return List.of("Nothing to do: nothing waits in this shard with this %s (any more)"
				.formatted(request.fields().containsKey("id") ? "id" : "key"));
		}
		long records = keys.stream().mapToLong((key) -> key.offsets().size()).sum();
		return List.of("%s: %s of %s".formatted(request.dryRun() ? this.would : this.done, number(records, "record"),
				number(keys.size(), "key")));
	}

	private List<WaitingKey> selected(ShardId shard, OperationRequest request) {
		List<WaitingKey> keys = this.waiting.of(shard);
		String id = request.optional("id");
		String key = request.optional("key");
		if (id != null && key != null) {
			throw OperationRefusedException.malformed("Send either 'id' or 'key', not both");
		}
		if (id == null && key == null) {
			return keys;
		}
		return keys.stream().filter((each) -> (id != null) ? each.id().equals(id) : each.isOf(key)).toList();
	}

	private static String number(long number, String what) {
		return number + " " + what + ((number == 1) ? "" : "s");
	}

}
