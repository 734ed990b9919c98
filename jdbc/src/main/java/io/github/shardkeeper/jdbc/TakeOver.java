package io.github.shardkeeper.jdbc;

import java.util.Objects;
import java.util.Optional;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import org.springframework.dao.DuplicateKeyException;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CarriedCheckpoint;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Takes shards over from the store of the group, whose topics are consumed in
 * transactions from now on. Each acquisition asks that store first, because the topic may
 * have been consumed from there again meanwhile; the higher of the two fences tells. What
 * is carried over is written before the other store says that it has left it, so an
 * attempt that ends in between is repeated by the next owner, with the same contents.
 * Thread-safe; blocks.
 */
final class TakeOver {

	private static final Logger logger = PrintableLogger.of(TakeOver.class);

	private static final int ATTEMPTS = 3;

	/** Number of the commit that writes what was carried over. */
	private static final long FIRST_COMMIT = 1;

	private final JdbcDataPlane database;

	private final CheckpointStore earlier;

	TakeOver(JdbcDataPlane database, CheckpointStore earlier) {
		this.database = database;
		this.earlier = earlier;
	}

	/**
	 * Makes the database the store of a shard, before it is acquired here. Returns that a
	 * newer token exists, {@code null} if the shard may be acquired.
	 * @throws StoreUnavailableException if it cannot be taken over, with what to do
	 */
	Acquisition.@Nullable Refused complete(ShardId shard, Token token) {
		for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
			Optional<ShardRow> row = read(shard);
			if (isHere(shard, token, row)) {
				if (row.isEmpty()) {
					throw CarriedCheckpoint.lost(shard);
				}
				return null;
			}
			Acquisition reply = this.earlier.acquireNow(shard, token);
			if (!(reply instanceof Acquisition.Acquired acquired)) {
				return (Acquisition.Refused) reply;
			}
			CarriedCheckpoint carried = CarriedCheckpoint.of(this.earlier, shard, acquired,
					CarriedCheckpoint.Direction.INTO_DATABASE);
			Token newer = write(shard, token, carried);
			if (!newer.equals(token)) {
				return new Acquisition.Refused(newer);
			}
			if (this.earlier.leave(shard, token, null, false, carried.sought())) {
				String summary = carried.summary(shard);
				if (summary != null) {
					logger.info(summary);
				}
				return null;
			}
		}
		throw CarriedCheckpoint.interrupted(shard);
	}

	/**
	 * Returns whether a seek of a shard belongs here, and not into the other store.
	 * @throws StoreUnavailableException if the shard is in neither, unless its state is
	 * removed, which makes up for that
	 */
	boolean isHere(ShardId shard, boolean clearsState) {
		Optional<ShardRow> row = read(shard);
		boolean here = isHere(shard, row.map(ShardRow::token).orElse(Token.NONE), row);
		if (here && row.isEmpty() && !clearsState) {
			throw CarriedCheckpoint.lost(shard);
		}
		return here;
	}

	private boolean isHere(ShardId shard, Token token, Optional<ShardRow> row) {
		return this.earlier.leave(shard, token, row.map(ShardRow::token).orElse(Token.NONE),
				row.filter((present) -> present.lastCommit() > FIRST_COMMIT).isPresent(),
				row.map((present) -> present.seeks().applied()).orElse(0L));
	}

	private Optional<ShardRow> read(ShardId shard) {
		return this.database.steps()
			.run("read " + shard, () -> Optional.ofNullable(this.database.shards().read(shard)));
	}

	/**
	 * Writes what was carried over, in place of what may be there from the time before
	 * the topic was consumed from the other store, and raises the fence. Returns the
	 * token at which it is.
	 */
	private Token write(ShardId shard, Token token, CarriedCheckpoint carried) {
		boolean hasOutboxes = this.database.outbox().exist();
		while (true) {
			try {
				return this.database.steps()
					.run("take over " + shard, () -> writeHere(shard, token, carried, hasOutboxes));
			}
			catch (StoreUnavailableException ex) {
				if (!(ex.getCause() instanceof DuplicateKeyException)) {
					throw ex;
				}
				// Another instance was first to add the row.
			}
		}
	}

	private Token writeHere(ShardId shard, Token token, CarriedCheckpoint carried, boolean hasOutboxes) {
		CheckpointTable shards = this.database.shards();
		ShardDataTables contents = this.database.contents();
		long nowMillis = this.database.clock().millis();
		if (!shards.lock(shard)) {
			shards.insert(shard, contents.lastLetter(shard));
		}
		shards.raise(shard, token, nowMillis);
		ShardRow row = Objects.requireNonNull(shards.read(shard));
		if (!row.token().equals(token)) {
			return row.token();
		}
		if (row.lastCommit() > FIRST_COMMIT) {
			// By another call, and since then its owner has committed.
			throw CarriedCheckpoint.interrupted(shard);
		}
		contents.deleteCheckpoint(shard);
		if (hasOutboxes && this.database.outbox().read(shard).entries() == 0) {
			// Numbers begin again, in a later era than those of the other store.
			this.database.outbox().delete(shard);
		}
		Commit commit = carried.commit(FIRST_COMMIT);
		shards.replace(shard, row, commit, nowMillis);
		contents.write(shard, commit, row.lastLetter(), nowMillis);
		return token;
	}

}
