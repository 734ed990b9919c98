package io.github.shardkeeper.shard;

/**
 * A fencing token: increases with every change of a shard's owner and never repeats, even
 * after a failover of the store. Immutable.
 *
 * @param value the number; derived from microseconds of the store's clock, but only its
 * order has a meaning
 */
public record Token(long value) implements Comparable<Token> {

	/** Lower than every assigned token. */
	public static final Token NONE = new Token(0);

	@Override
	public int compareTo(Token other) {
		return Long.compare(this.value, other.value);
	}

	@Override
	public String toString() {
		return Long.toString(this.value);
	}

}
