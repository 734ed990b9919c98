package io.github.shardkeeper.coordination.local;

import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.CheckpointStore;
import io.github.shardkeeper.coordination.Commit;
import io.github.shardkeeper.coordination.DueRecords;
import io.github.shardkeeper.coordination.SeekRequest;
import io.github.shardkeeper.coordination.Seeks;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * The data plane of one instance in a directory on its own disk.
 * <p>
 * What happens to a shard is decided by the store in memory; here it is only fetched and
 * put away. Each commit writes all that is kept of its shard, the state and the dead
 * letters too, so this is for small ones. Commits are written by one thread, which exists
 * while there are some. Thread-safe.
 */
public final class LocalCheckpointStore implements CheckpointStore {

	private static final int WRITER_STAYS_SECONDS = 30;

	private final ShardFiles files;

	private final ThreadPoolExecutor writer;

	/**
	 * Creates a store, and its directory if it is not there.
	 * @param directory where the directories of groups are
	 * @param group the group's name
	 * @param instance the instance's id
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException when the
	 * directory cannot be written
	 */
	public LocalCheckpointStore(Path directory, String group, String instance) {
		this(new ShardFiles(directory, group, instance, InstantSource.system()));
	}

	LocalCheckpointStore(ShardFiles files) {
		this.files = files;
		this.writer = new ThreadPoolExecutor(1, 1, WRITER_STAYS_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
				(task) -> {
					Thread thread = new Thread(task, "shardkeeper-files");
					thread.setDaemon(true);
					return thread;
				});
		this.writer.allowCoreThreadTimeOut(true);
	}

	/**
	 * The dead letters that commits have left here.
	 * @return a store of them
	 */
	public LocalDeadLetterStore deadLetters() {
		return new LocalDeadLetterStore(this.files);
	}

	@Override
	public CompletableFuture<Acquisition> acquire(ShardId shard, Token token) {
		try {
			return CompletableFuture.completedFuture(this.files.with(shard, (store) -> store.acquireNow(shard, token)));
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	@Override
	public CompletableFuture<CommitReply> commit(ShardId shard, Token token, Commit commit) {
		CompletableFuture<CommitReply> reply = new CompletableFuture<>();
		try {
			this.writer.execute(() -> {
				try {
					reply.complete(this.files.with(shard, (store) -> store.commit(shard, token, commit).join()));
				}
				catch (Throwable ex) {
					reply.completeExceptionally(ex);
				}
			});
		}
		catch (RejectedExecutionException ex) {
			reply.completeExceptionally(new StoreUnavailableException("The files are closed", ex));
		}
		catch (OutOfMemoryError ex) {
			// If the task was kept all the same, the commit counts once, by its number.
			reply.completeExceptionally(new StoreUnavailableException("No thread is available: " + ex, ex));
		}
		return reply;
	}

	@Override
	public DueRecords due(ShardId shard, int limit, long bytes, Set<Offset> except) {
		return this.files.with(shard, (store) -> store.due(shard, limit, bytes, except));
	}

	@Override
	public CompletionReply complete(ShardId shard, Token token, long acknowledged, long acquisition) {
		return this.files.with(shard, (store) -> store.complete(shard, token, acknowledged, acquisition));
	}

	@Override
	public Checkpoint read(ShardId shard) {
		return this.files.with(shard, (store) -> store.read(shard));
	}

	@Override
	public Map<ShardId, Offset> offsets(Collection<ShardId> shards) {
		Map<ShardId, Offset> offsets = new HashMap<>();
		for (ShardId shard : shards) {
			Offset offset = read(shard).offset();
			if (offset != null) {
				offsets.put(shard, offset);
			}
		}
		return offsets;
	}

	@Override
	public @Nullable SeekRequest seek(ShardId shard, Offset after, boolean clearsState) {
		return this.files
			.<Optional<SeekRequest>>with(shard, (store) -> Optional.ofNullable(store.seek(shard, after, clearsState)))
			.orElse(null);
	}

	@Override
	public Map<ShardId, Seeks> seeks(Collection<ShardId> shards) {
		Map<ShardId, Seeks> seeks = new LinkedHashMap<>();
		shards.forEach((shard) -> seeks.putAll(this.files.with(shard, (store) -> store.seeks(List.of(shard)))));
		return seeks;
	}

	@Override
	public Instant consumedSince(String topic, @Nullable Instant known) {
		return Instant.ofEpochMilli(this.files.since(topic, (known != null) ? known.toEpochMilli() : Long.MAX_VALUE));
	}

	/** What was committed before is still written, for a moment. */
	@Override
	public void close() {
		this.writer.shutdown();
		try {
			this.writer.awaitTermination(1, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
