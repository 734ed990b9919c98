package io.github.shardkeeper.checkpoint;

/**
 * Which of its commits under one token a writer sends, and what it knows of those before.
 * With it the store refuses a commit that arrives after its successor, and notices that
 * it has lost one that it had answered: what changed since that one would be written on
 * an older base. Immutable.
 *
 * @param attempt counts the attempts under the token, from 1; every attempt has a number
 * of its own
 * @param acknowledged the last attempt that was answered with
 * {@link CheckpointStore.CommitReply#COMMITTED}; 0 for none, or for a commit that writes
 * everything and rests on nothing
 * @param acquisition the acquisition that it rests on, 0 for a commit that rests on none:
 * what an empty store has given to a late repetition of it is no base
 */
public record CommitNumber(long attempt, long acknowledged, long acquisition) {

	public CommitNumber {
		if (attempt <= acknowledged || acknowledged < 0) {
			throw new IllegalArgumentException("Attempt %d after %d was acknowledged".formatted(attempt, acknowledged));
		}
	}

	/**
	 * A commit that does not rest on an earlier one.
	 * @param attempt its number
	 * @return the number
	 */
	public static CommitNumber ofWhole(long attempt) {
		return new CommitNumber(attempt, 0, 0);
	}

}
