package io.github.shardkeeper.coordination.memory;

import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.coordination.FailedRecord;
import io.github.shardkeeper.coordination.Seeks;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.Token;

/**
 * All that a data plane knows of a shard, so that it can be kept elsewhere. Immutable.
 *
 * @param fence the token of whoever acquired it last
 * @param lastCommit the number of the last commit under that token
 * @param acquired which acquisition it is, 0 when that is not known
 * @param completed whether its retry queue is closed
 * @param offset the offset of the last record that counts as handled
 * @param ahead the records above it that are done already
 * @param state the state's entries
 * @param retries the retry queue
 * @param deadLetters the dead letters by their numbers
 * @param lettersEver the highest number that a dead letter has had
 * @param seeks the requests to consume it from another position on
 */
public record ShardContents(Token fence, long lastCommit, long acquired, boolean completed, @Nullable Offset offset,
		Set<Offset> ahead, SortedMap<String, String> state, List<Waiting> retries,
		SortedMap<Long, FailedRecord> deadLetters, long lettersEver, Seeks seeks) {

	public ShardContents {
		ahead = Collections.unmodifiableSet(new LinkedHashSet<>(ahead));
		state = Collections.unmodifiableSortedMap(new TreeMap<>(state));
		retries = List.copyOf(retries);
		deadLetters = Collections.unmodifiableSortedMap(new TreeMap<>(deadLetters));
	}

	/**
	 * A record of the retry queue.
	 *
	 * @param record the record
	 * @param dueMillis when it is due, by the clock of the store
	 */
	public record Waiting(FailedRecord record, long dueMillis) {

	}

}
