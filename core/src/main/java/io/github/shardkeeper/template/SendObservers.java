package io.github.shardkeeper.template;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Several observers as one. They begin in their order and end in the reverse one. If one
 * does not begin, those before it end with its failure, and the record is not sent. One
 * that fails at the end has no effect on the others and on the record. Thread-safe.
 */
@Internal
public final class SendObservers implements SendObserver {

	private static final Logger logger = PrintableLogger.of(SendObservers.class);

	private final List<SendObserver> observers;

	private final boolean addsHeaders;

	private final AtomicBoolean failed = new AtomicBoolean();

	private SendObservers(List<SendObserver> observers) {
		this.observers = observers;
		this.addsHeaders = observers.stream().anyMatch(SendObserver::addsHeaders);
	}

	/**
	 * Returns all of some observers as one.
	 * @param observers the observers, the outermost first
	 */
	public static SendObserver of(List<SendObserver> observers) {
		List<SendObserver> observing = observers.stream().filter((each) -> each != NONE).toList();
		return observing.isEmpty() ? NONE : new SendObservers(observing);
	}

	@Override
	public boolean addsHeaders() {
		return this.addsHeaders;
	}

	@Override
	public Sent sending(ShardId shard, @Nullable String key, Map<String, String> headers) {
		Map<String, String> readOnly = this.addsHeaders ? Collections.unmodifiableMap(headers) : headers;
		List<Sent> begun = new ArrayList<>(this.observers.size());
		try {
			for (SendObserver observer : this.observers) {
				Sent sent = observer.sending(shard, key, observer.addsHeaders() ? headers : readOnly);
				begun.add(Objects.requireNonNull(sent, () -> observer.getClass().getName() + " has returned null"));
			}
		}
		catch (Throwable ex) {
			end(begun, null, ex);
			throw ex;
		}
		return (offset, failure) -> end(begun, offset, failure);
	}

	private void end(List<Sent> begun, @Nullable Offset offset, @Nullable Throwable failure) {
		for (int i = begun.size() - 1; i >= 0; i--) {
			try {
				begun.get(i).ended(offset, failure);
			}
			catch (Throwable ex) {
				if (this.failed.compareAndSet(false, true)) {
					logger.warn("A SendObserver has failed at the end of an observation; records are sent all the "
							+ "same. Logged once", ex);
				}
			}
		}
	}

}
