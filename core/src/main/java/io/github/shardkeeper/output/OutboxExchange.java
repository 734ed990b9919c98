package io.github.shardkeeper.output;

import java.util.ArrayList;
import java.util.List;

import io.github.shardkeeper.checkpoint.Outbox.Entry;
import io.github.shardkeeper.checkpoint.Outbox.Place;

/**
 * What the worker and the calls that commit themselves exchange. Thread-safe.
 */
final class OutboxExchange {

	/** Places of records that were forwarded, for the next commit. */
	private List<Place> forwarded = new ArrayList<>();

	private long forwardedEver;

	/** Records that calls have committed, in the order of their commits. */
	private List<Entry> written = new ArrayList<>();

	synchronized void forwarded(Place place) {
		this.forwarded.add(place);
		this.forwardedEver++;
	}

	synchronized long forwardedEver() {
		return this.forwardedEver;
	}

	synchronized List<Place> takeForwarded() {
		if (this.forwarded.isEmpty()) {
			return List.of();
		}
		List<Place> taken = this.forwarded;
		this.forwarded = new ArrayList<>();
		return taken;
	}

	synchronized void giveBack(List<Place> places) {
		this.forwarded.addAll(places);
	}

	synchronized void written(List<Entry> entries) {
		this.written.addAll(entries);
	}

	synchronized List<Entry> takeWritten() {
		if (this.written.isEmpty()) {
			return List.of();
		}
		List<Entry> taken = this.written;
		this.written = new ArrayList<>();
		return taken;
	}

	synchronized boolean isEmpty() {
		return this.forwarded.isEmpty() && this.written.isEmpty();
	}

}
