package io.github.shardkeeper.dashboard;

import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * Somebody who looks at the dashboard. Keeps what is to be sent, which is at most one
 * summary and one heartbeat, however slow the client is. Thread-safe.
 */
final class DashboardViewer {

	private final Runnable wake;

	private final Consumer<DashboardViewer> left;

	/** Guarded by this, as is all below. */
	private @Nullable String offered;

	private boolean sent = true;

	private boolean heartbeat;

	private boolean ended;

	DashboardViewer(Runnable wake, Consumer<DashboardViewer> left) {
		this.wake = wake;
		this.left = left;
	}

	synchronized boolean hasSeenAny() {
		return this.offered != null;
	}

	/** Offers a summary, which is sent if it is another one than the last. */
	void offer(String summary) {
		synchronized (this) {
			if (this.ended || summary.equals(this.offered)) {
				return;
			}
			this.offered = summary;
			this.sent = false;
		}
		this.wake.run();
	}

	/** Asks for a sign of life, by which a client that is gone is noticed. */
	void heartbeat() {
		synchronized (this) {
			if (this.ended) {
				return;
			}
			this.heartbeat = true;
		}
		this.wake.run();
	}

	/** Ends the stream. */
	void end() {
		leave();
		this.wake.run();
	}

	/** Notes that the client is gone. */
	void leave() {
		synchronized (this) {
			this.ended = true;
		}
		this.left.accept(this);
	}

	synchronized boolean isEnded() {
		return this.ended;
	}

	/** Takes what is to be sent; {@code null} if there is nothing. */
	synchronized @Nullable Message poll() {
		if (this.ended) {
			return null;
		}
		String summary = this.offered;
		if (!this.sent && summary != null) {
			this.sent = true;
			this.heartbeat = false;
			return new Message(summary);
		}
		if (this.heartbeat) {
			this.heartbeat = false;
			return new Message(null);
		}
		return null;
	}

	/**
	 * Something to send. Immutable.
	 *
	 * @param summary the summary; {@code null} for a heartbeat
	 */
	record Message(@Nullable String summary) {

	}

}
