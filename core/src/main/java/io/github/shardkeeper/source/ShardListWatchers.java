package io.github.shardkeeper.source;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.shardkeeper.source.ShardSource.Watch;

/**
 * Listeners for changes of a source's shards, for {@link ShardSource#watch}. Thread-safe.
 */
public final class ShardListWatchers {

	private final List<OneWatch> watches = new CopyOnWriteArrayList<>();

	/**
	 * Adds a listener.
	 * @param onChange the listener; see {@link ShardSource#watch}
	 * @return the registration
	 */
	public Watch add(Runnable onChange) {
		Objects.requireNonNull(onChange, "onChange must not be null");
		OneWatch watch = new OneWatch(onChange);
		this.watches.add(watch);
		return watch;
	}

	/** Notifies all listeners. Call it without locks, once the topics show the change. */
	public void changed() {
		this.watches.forEach((watch) -> watch.onChange.run());
	}

	/** Compared by identity: the same listener may be added twice. */
	private final class OneWatch implements Watch {

		private final Runnable onChange;

		OneWatch(Runnable onChange) {
			this.onChange = onChange;
		}

		@Override
		public void close() {
			ShardListWatchers.this.watches.remove(this);
		}

	}

}
