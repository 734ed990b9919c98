package io.github.shardkeeper.source;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;

import org.slf4j.Logger;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.source.ShardSource.Watch;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Listeners for changes of a source's shards, for {@link ShardSource#watch}. Thread-safe.
 */
@Internal
public final class ShardListWatchers {

	private static final Logger logger = PrintableLogger.of(ShardListWatchers.class);

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

	/**
	 * Notifies all listeners. Call it without locks, once the topics show the change. A
	 * listener that throws does not keep others from being notified.
	 */
	public void changed() {
		this.watches.forEach((watch) -> watch.due = true);
		repeatFailed();
	}

	/**
	 * Notifies the listeners whose last notification has failed. A source that lists its
	 * shards at an interval calls it each time.
	 */
	public void repeatFailed() {
		this.watches.forEach(OneWatch::runIfDue);
	}

	/** Compared by identity: the same listener may be added twice. */
	private final class OneWatch implements Watch {

		private final Runnable onChange;

		private volatile boolean due;

		private volatile boolean failing;

		OneWatch(Runnable onChange) {
			this.onChange = onChange;
		}

		void runIfDue() {
			if (!this.due) {
				return;
			}
			// Before the call: a change during it is notified again.
			this.due = false;
			try {
				this.onChange.run();
				this.failing = false;
			}
			catch (Throwable ex) {
				this.due = true;
				if (!this.failing) {
					logger.error("A listener of changed shards has failed; it is notified again", ex);
				}
				this.failing = true;
			}
		}

		@Override
		public void close() {
			ShardListWatchers.this.watches.remove(this);
		}

	}

}
