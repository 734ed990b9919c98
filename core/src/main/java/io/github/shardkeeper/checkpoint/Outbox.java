package io.github.shardkeeper.checkpoint;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.ShardId;

/**
 * Outbox of a shard as its new owner finds it: records that calls have sent, that are
 * committed, and that may not be appended to their targets yet. They are numbered from 1
 * for each target, without a gap. Immutable.
 *
 * @param era the token under which the numbers began, 0 if nothing was sent yet. Numbers
 * begin again only in a higher era
 * @param last the place of the last record that was added, {@code null} for none
 * @param numbers the number of the last record for each target
 * @param entries the number of records that wait
 */
public record Outbox(long era, @Nullable Place last, Map<ShardId, Long> numbers, long entries) {

	public static final Outbox EMPTY = new Outbox(0, null, Map.of(), 0);

	public Outbox {
		numbers = Map.copyOf(numbers);
	}

	/**
	 * Record that waits. Immutable by convention: nothing is copied.
	 *
	 * @param place its place in the outbox
	 * @param era the era of its number
	 * @param target the shard to append it to
	 * @param number its number among all records for the target
	 * @param key its key, {@code null} for none
	 * @param payload its payload
	 * @param headers its headers
	 */
	public record Entry(Place place, long era, ShardId target, long number, @Nullable String key, byte[] payload,
			Map<String, String> headers) {

		/** Returns the same record at another place. */
		public Entry at(Place other) {
			return new Entry(other, this.era, this.target, this.number, this.key, this.payload, this.headers);
		}

		/** Returns the approximate size in bytes, with one byte per character. */
		public long size() {
			long size = this.payload.length + ((this.key != null) ? this.key.length() : 0);
			for (Map.Entry<String, String> header : this.headers.entrySet()) {
				size += header.getKey().length() + header.getValue().length();
			}
			return size;
		}

	}

	/**
	 * Place of a record in the outbox: unique, and higher than those before. Written
	 * {@code token-number}. Immutable.
	 *
	 * @param token the token under which it was added
	 * @param number the number among those of the token
	 */
	public record Place(long token, long number) implements Comparable<Place> {

		/**
		 * Reads a place.
		 * @throws IllegalArgumentException if it is none
		 */
		public static Place parse(String text) {
			int dash = text.indexOf('-');
			if (dash < 0) {
				throw new IllegalArgumentException("'" + text + "' is no place in an outbox");
			}
			return new Place(Long.parseLong(text.substring(0, dash)), Long.parseLong(text.substring(dash + 1)));
		}

		@Override
		public int compareTo(Place other) {
			return (this.token != other.token) ? Long.compare(this.token, other.token)
					: Long.compare(this.number, other.number);
		}

		@Override
		public String toString() {
			return this.token + "-" + this.number;
		}

	}

	/**
	 * What a commit changes in the outbox. Immutable.
	 *
	 * @param era the era of the numbers
	 * @param last the place of the last record that was added, {@code null} for none
	 * @param numbers the number of the last record, for targets for which it changes
	 * @param added the records to add, in the order of their places
	 * @param removed the places of records that were appended to their targets; unknown
	 * ones are ignored
	 * @param whole whether everything that is there is replaced
	 */
	public record Changes(long era, @Nullable Place last, Map<ShardId, Long> numbers, List<Entry> added,
			List<Place> removed, boolean whole) {

		public static final Changes NONE = new Changes(0, null, Map.of(), List.of(), List.of(), false);

		public Changes {
			numbers = numbers.isEmpty() ? Map.of() : Collections.unmodifiableMap(new LinkedHashMap<>(numbers));
			added = List.copyOf(added);
			removed = List.copyOf(removed);
		}

		/** Returns whether there is nothing to change. */
		public boolean isEmpty() {
			return !this.whole && this.added.isEmpty() && this.removed.isEmpty();
		}

	}

}
