package io.github.shardkeeper.coordination.store;

import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import io.github.shardkeeper.StoreUnavailableException;

/**
 * Texts for people that the members of a group share. Nothing is decided by them: a store
 * that loses or refuses them harms nothing, and others may have left anything there.
 * Thread-safe.
 */
public interface GroupDiagnostics {

	/** Notes of a store that keeps none. */
	GroupDiagnostics NONE = new NoNotes();

	/** Maximum number of characters of a text. */
	int MAX_LENGTH = 16_000;

	/**
	 * Writes texts. Neither waits for the reply nor throws
	 * {@link StoreUnavailableException}.
	 * @param texts by name the text, at most {@link #MAX_LENGTH} long; an empty one
	 * removes the name
	 * @return completes with {@link StoreUnavailableException} if the texts may not have
	 * been written; a retry is safe. Must not be blocked
	 */
	CompletableFuture<Void> write(Kind kind, Map<String, String> texts);

	/**
	 * Writes texts under names that have none. Neither waits for the reply nor throws
	 * {@link StoreUnavailableException}.
	 * @param texts by name the text, not empty
	 * @return as {@link #write}
	 */
	CompletableFuture<Void> writeMissing(Kind kind, Map<String, String> texts);

	/**
	 * Reads the names of all texts. Neither waits for the reply nor throws
	 * {@link StoreUnavailableException}.
	 * @return the names, or {@link StoreUnavailableException}. Must not be blocked
	 */
	CompletableFuture<Set<String>> names(Kind kind);

	/**
	 * Reads texts, and waits for the reply.
	 * @return the texts by name, without those that do not exist; an empty one in place
	 * of a text that is too long
	 * @throws StoreUnavailableException if the store does not reply, or holds something
	 * else there
	 */
	Map<String, String> read(Kind kind, Collection<String> names);

	/**
	 * Removes all texts whose name begins with a text, and waits for the reply.
	 * @throws StoreUnavailableException if some may be left; a retry is safe
	 */
	void removeAll(Kind kind, String beginning);

	/** Subjects of the texts. */
	enum Kind {

		/** Problems of the shards of a member, by its id. */
		PROBLEMS,

		/** Reason for the last move of a shard, by the shard. */
		REASONS

	}

	/** Keeps nothing. */
	final class NoNotes implements GroupDiagnostics {

		private NoNotes() {
		}

		@Override
		public CompletableFuture<Void> write(Kind kind, Map<String, String> texts) {
			return CompletableFuture.completedFuture(null);
		}

		@Override
		public CompletableFuture<Void> writeMissing(Kind kind, Map<String, String> texts) {
			return CompletableFuture.completedFuture(null);
		}

		@Override
		public CompletableFuture<Set<String>> names(Kind kind) {
			return CompletableFuture.completedFuture(Set.of());
		}

		@Override
		public Map<String, String> read(Kind kind, Collection<String> names) {
			return Map.of();
		}

		@Override
		public void removeAll(Kind kind, String beginning) {
		}

	}

}
