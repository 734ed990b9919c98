package io.github.shardkeeper.coordination.leader;

import java.util.Objects;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.ShardCatalog;
import io.github.shardkeeper.assignment.ShardTraits;
import io.github.shardkeeper.assignment.Shards;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * The catalog's traits of all shards, read once for each list of shards. If the catalog
 * fails for one shard, the assignment fails, and the next one reads the traits again: a
 * pinned or weighted shard must not move because of a temporary failure. Confined to the
 * call that computes an assignment; there is one at a time.
 */
public final class ShardTraitsCache {

	private static final Logger logger = PrintableLogger.of(ShardTraitsCache.class);

	private final ShardCatalog catalog;

	private Shards shards = Shards.NONE;

	/** Traits by shard number, {@code null} if no shard has any. */
	private ShardTraits @Nullable [] traits;

	private boolean weightLogged;

	/** Shard that the catalog is asked for now; {@code null} while it is not asked. */
	private volatile @Nullable ShardId asked;

	public ShardTraitsCache(ShardCatalog catalog) {
		this.catalog = catalog;
	}

	/**
	 * {@return the request with the traits of its shards}
	 * @throws CatalogFailure when the catalog fails
	 */
	public AssignmentRequest addTo(AssignmentRequest request) {
		if (this.catalog == ShardCatalog.PLAIN) {
			return request;
		}
		if (request.shards() != this.shards) {
			this.traits = lookUp(request.shards());
			this.shards = request.shards();
		}
		return (this.traits != null) ? request.withTraits(this.traits) : request;
	}

	/**
	 * Returns the shard that the catalog is asked for at the moment, {@code null} for
	 * none. Thread-safe.
	 */
	@Nullable ShardId asked() {
		return this.asked;
	}

	private ShardTraits @Nullable [] lookUp(Shards all) {
		ShardTraits[] found = new ShardTraits[all.size()];
		boolean plain = true;
		try {
			for (int shard = 0; shard < found.length; shard++) {
				this.asked = all.get(shard);
				found[shard] = inBounds(all.get(shard), lookUp(all.get(shard)));
				plain &= found[shard].equals(ShardTraits.NONE);
			}
		}
		finally {
			this.asked = null;
		}
		return plain ? null : found;
	}

	private ShardTraits lookUp(ShardId shard) {
		try {
			return Objects.requireNonNull(this.catalog.traits(shard), "it returns null");
		}
		catch (Throwable ex) {
			// Errors, too: they are not the strategy's.
			throw new CatalogFailure("The ShardCatalog fails for %s: %s. ".formatted(shard, text(ex))
					+ "Have it return ShardTraits.NONE for what it does not know.", ex);
		}
	}

	private static String text(Throwable failure) {
		try {
			return failure.toString();
		}
		catch (Throwable ex) {
			return failure.getClass().getName() + ", whose toString() fails";
		}
	}

	private ShardTraits inBounds(ShardId shard, ShardTraits answered) {
		ShardTraits clamped = answered.clamped();
		if (clamped != answered && !this.weightLogged) {
			this.weightLogged = true;
			logger.warn("The ShardCatalog gives {} a weight of {}, which counts as {}: return 1 to {}", shard,
					answered.weight(), clamped.weight(), ShardTraits.MOST_WEIGHT);
		}
		return clamped;
	}

	/** Failure of the application's catalog; the cause is its exception. */
	static final class CatalogFailure extends RuntimeException {

		CatalogFailure(String message, Throwable cause) {
			super(message, cause);
		}

		@Override
		public String getMessage() {
			return Objects.requireNonNull(super.getMessage());
		}

	}

}
