package io.github.shardkeeper.cluster.parameter;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.cluster.ClusterParameters.Change;

/**
 * What this instance knows of the entry of a parameter in the store. Replies may arrive
 * in another order than the store has given them. Thread-safe.
 */
final class StoredEntry {

	private volatile Content content = Content.NONE;

	/** When the reply with the content had arrived. Guarded by this. */
	private long arrivedAt;

	Content content() {
		return this.content;
	}

	/**
	 * Takes a reply of the store over, unless it is older than the known one. A later
	 * reply counts also if its version is lower: then the store has lost writes.
	 * @param askedAt the number of the moment at which the store was asked
	 * @param now the number of this moment
	 * @return whether the content has changed
	 */
	synchronized boolean accept(Content reply, long askedAt, long now) {
		if (askedAt < this.arrivedAt && reply.version() < this.content.version()) {
			return false;
		}
		boolean changed = !reply.equals(this.content);
		this.arrivedAt = now;
		this.content = reply;
		return changed;
	}

	/**
	 * The entry.
	 *
	 * @param change the last change, {@code null} for none
	 * @param unreadable why it cannot be read, {@code null} if it can
	 */
	record Content(@Nullable Change change, @Nullable String unreadable) {

		static final Content NONE = new Content(null, null);

		static Content of(ParameterStore.Entry entry) {
			return new Content(entry.change(), entry.unreadable());
		}

		boolean exists() {
			return this.change != null || this.unreadable != null;
		}

		long version() {
			return (this.change != null) ? this.change.version() : 0;
		}

		/** Returns the stored value; {@code null} if the default applies. */
		@Nullable String value() {
			return (this.change != null) ? this.change.value() : null;
		}

	}

}
