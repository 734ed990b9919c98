package io.github.shardkeeper.assignment.sticky;

import java.util.Arrays;
import java.util.Comparator;
import java.util.function.IntConsumer;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.Shards;

/**
 * Transfer of shards from members above their share to members below it. Confined to its
 * thread. A member releases what came to it last, from the topic of which it has most
 * compared with the topic's size. Unowned shards are then distributed in turn.
 */
final class ShareTransfer {

	private final AssignmentRequest request;

	private final int @Nullable [] pool;

	private final int[] owners;

	/** By topic of the pool, number after its last shard. */
	private int[] ends = {};

	private int[] sizes = {};

	/** Creates a transfer of the pool ({@code null}: all). Changes {@code owners}. */
	ShareTransfer(AssignmentRequest request, int @Nullable [] pool, int[] owners) {
		this.request = request;
		this.pool = pool;
		this.owners = owners;
	}

	private int size() {
		return (this.pool != null) ? this.pool.length : this.owners.length;
	}

	private int shard(int i) {
		return (this.pool != null) ? this.pool[i] : i;
	}

	/** Takes shards from members above their shares, and reduces {@code held}. */
	void release(int[] held, int[] shares, IntConsumer released) {
		findTopics();
		int members = held.length;
		int[] begins = new int[members + 1];
		for (int member = 0; member < members; member++) {
			begins[member + 1] = begins[member] + ((held[member] > shares[member]) ? held[member] : 0);
		}
		int[] shards = new int[begins[members]];
		int[] shardsEnds = Arrays.copyOf(begins, members);
		for (int i = 0; i < size(); i++) {
			int owner = this.owners[shard(i)];
			if (owner != AssignmentRequest.NOBODY && held[owner] > shares[owner]) {
				shards[shardsEnds[owner]++] = shard(i);
			}
		}
		for (int member = 0; member < members; member++) {
			int surplus = held[member] - shares[member];
			if (surplus > 0) {
				for (int shard : latest(shards, begins[member], begins[member + 1], surplus, members)) {
					this.owners[shard] = AssignmentRequest.NOBODY;
					released.accept(shard);
				}
				held[member] -= surplus;
			}
		}
	}

	private void findTopics() {
		Shards shards = this.request.shards();
		this.ends = new int[shards.topics().size()];
		this.sizes = new int[this.ends.length];
		int count = 0;
		int i = 0;
		for (int topic = 0; topic < this.ends.length; topic++) {
			int end = shards.end(topic);
			int size = 0;
			if (this.pool == null) {
				size = end - shards.begin(topic);
			}
			else {
				for (; i < this.pool.length && this.pool[i] < end; i++) {
					size++;
				}
			}
			if (size > 0) {
				this.ends[count] = end;
				this.sizes[count++] = size;
			}
		}
		this.ends = Arrays.copyOf(this.ends, count);
		this.sizes = Arrays.copyOf(this.sizes, count);
	}

	private int[] latest(int[] shards, int begin, int end, int count, int members) {
		int[][] byTopic = new int[this.ends.length][];
		int[] left = new int[this.ends.length];
		int at = begin;
		for (int topic = 0; topic < this.ends.length; topic++) {
			int from = at;
			while (at < end && shards[at] < this.ends[topic]) {
				at++;
			}
			byTopic[topic] = earliestFirst(shards, from, at);
			left[topic] = at - from;
		}
		int[] chosen = new int[count];
		for (int i = 0; i < count; i++) {
			int topic = fullest(byTopic, left, members);
			chosen[i] = byTopic[topic][--left[topic]];
		}
		return chosen;
	}

	private int fullest(int[][] byTopic, int[] left, int members) {
		int fullest = -1;
		long most = Long.MIN_VALUE;
		for (int topic = 0; topic < left.length; topic++) {
			if (left[topic] == 0) {
				continue;
			}
			long aboveAverage = (long) left[topic] * members - this.sizes[topic];
			if (aboveAverage > most || aboveAverage == most
					&& cameLater(byTopic[topic][left[topic] - 1], byTopic[fullest][left[fullest] - 1])) {
				fullest = topic;
				most = aboveAverage;
			}
		}
		return fullest;
	}

	private boolean cameLater(int one, int other) {
		return this.request.since(one) > this.request.since(other);
	}

	private int[] earliestFirst(int[] shards, int from, int to) {
		boolean inOrder = true;
		for (int i = from + 1; i < to; i++) {
			inOrder &= !cameLater(shards[i - 1], shards[i]);
		}
		if (inOrder) {
			return Arrays.copyOfRange(shards, from, to);
		}
		return Arrays.stream(shards, from, to)
			.boxed()
			.sorted(Comparator.<Integer>comparingLong(this.request::since).thenComparing(Comparator.naturalOrder()))
			.mapToInt(Integer::intValue)
			.toArray();
	}

	/** Gives unowned shards to members below their shares, and raises {@code held}. */
	void distribute(int[] held, int[] shares) {
		int[] takers = new int[shares.length];
		int count = 0;
		for (int member = 0; member < shares.length; member++) {
			if (held[member] < shares[member]) {
				takers[count++] = member;
			}
		}
		int at = 0;
		for (int i = 0; i < size() && count > 0; i++) {
			if (this.owners[shard(i)] != AssignmentRequest.NOBODY) {
				continue;
			}
			at = (at < count) ? at : 0;
			int taker = takers[at];
			this.owners[shard(i)] = taker;
			if (++held[taker] == shares[taker]) {
				System.arraycopy(takers, at + 1, takers, at, --count - at);
			}
			else {
				at++;
			}
		}
	}

}
