package io.github.shardkeeper.assignment.sticky;

import java.util.Arrays;

/**
 * Indexed binary heap of members, whose keys can change. Ordered by key, then by second
 * key, then by place in the request. Confined to its thread.
 */
final class MemberHeap {

	private static final int ABSENT = -1;

	private final int[] heap;

	private final int[] places;

	private final double[] keys;

	private final long[] secondKeys;

	private final boolean lastFirst;

	private int size;

	/** {@code lastFirst}: the last of members with equal keys comes first. */
	MemberHeap(int members, boolean lastFirst) {
		this.lastFirst = lastFirst;
		this.heap = new int[members];
		this.places = new int[members];
		this.keys = new double[members];
		this.secondKeys = new long[members];
		Arrays.fill(this.places, ABSENT);
	}

	void clear() {
		for (int place = 0; place < this.size; place++) {
			this.places[this.heap[place]] = ABSENT;
		}
		this.size = 0;
	}

	boolean isEmpty() {
		return this.size == 0;
	}

	boolean contains(int member) {
		return this.places[member] != ABSENT;
	}

	int first() {
		return this.heap[0];
	}

	void put(int member, double key, long secondKey) {
		this.keys[member] = key;
		this.secondKeys[member] = secondKey;
		if (this.places[member] == ABSENT) {
			set(this.size++, member);
		}
		restore(member);
	}

	void remove(int member) {
		int place = this.places[member];
		this.places[member] = ABSENT;
		int last = this.heap[--this.size];
		if (last != member) {
			set(place, last);
			restore(last);
		}
	}

	private void restore(int member) {
		int place = this.places[member];
		while (place > 0 && isBefore(member, this.heap[(place - 1) / 2])) {
			set(place, this.heap[(place - 1) / 2]);
			place = (place - 1) / 2;
		}
		for (int child = firstChild(place); child < this.size
				&& isBefore(this.heap[child], member); child = firstChild(place)) {
			set(place, this.heap[child]);
			place = child;
		}
		set(place, member);
	}

	private int firstChild(int place) {
		int left = 2 * place + 1;
		return (left + 1 < this.size && isBefore(this.heap[left + 1], this.heap[left])) ? left + 1 : left;
	}

	private void set(int place, int member) {
		this.heap[place] = member;
		this.places[member] = place;
	}

	private boolean isBefore(int one, int other) {
		if (this.keys[one] != this.keys[other]) {
			return this.keys[one] < this.keys[other];
		}
		if (this.secondKeys[one] != this.secondKeys[other]) {
			return this.secondKeys[one] < this.secondKeys[other];
		}
		return (one < other) != this.lastFirst;
	}

}
