package io.github.shardkeeper.consumer;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * Lets only so many in at a time, in the order in which they came. Nobody waits at it:
 * whoever cannot get in is told when he has got in. Thread-safe.
 */
final class Turnstile {

	private final int limit;

	/** Guarded by this. */
	private int inside;

	/** Guarded by this. */
	private final Set<Ticket> waiting = new LinkedHashSet<>();

	Turnstile(int limit) {
		this.limit = limit;
	}

	/**
	 * For somebody who wants in, perhaps more than once.
	 * @param onEntered runs when he has got in after a while; must not block
	 */
	Ticket ticket(Runnable onEntered) {
		return new Ticket(onEntered);
	}

	/** Of one who is outside, waits, or is inside. */
	final class Ticket {

		private final Runnable onEntered;

		/** Guarded by the turnstile. */
		private boolean inside;

		private Ticket(Runnable onEntered) {
			this.onEntered = onEntered;
		}

		/** Tells whether he is inside; if not he waits. */
		boolean enter() {
			synchronized (Turnstile.this) {
				if (!this.inside) {
					if (Turnstile.this.inside < Turnstile.this.limit) {
						Turnstile.this.inside++;
						this.inside = true;
					}
					else {
						Turnstile.this.waiting.add(this);
					}
				}
				return this.inside;
			}
		}

		/** Goes out, or waits no longer; whoever came next gets in. */
		void leave() {
			@Nullable Ticket next;
			synchronized (Turnstile.this) {
				Turnstile.this.waiting.remove(this);
				if (!this.inside) {
					return;
				}
				this.inside = false;
				next = next();
			}
			if (next != null) {
				next.onEntered.run();
			}
		}

	}

	private @Nullable Ticket next() {
		Iterator<Ticket> tickets = this.waiting.iterator();
		if (!tickets.hasNext()) {
			this.inside--;
			return null;
		}
		Ticket next = tickets.next();
		tickets.remove();
		next.inside = true;
		return next;
	}

}
