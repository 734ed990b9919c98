package io.github.shardkeeper.assignment.rules;

import java.util.Arrays;
import java.util.List;

import io.github.shardkeeper.assignment.Assignee;

/**
 * Ring of a consistent hash (Karger et al. 1997) with {@value #POINTS} points for each
 * unit of a member's capacity, the same in each session of an instance. Immutable. If the
 * total capacity exceeds {@value #MOST_POINTS} / {@value #POINTS}, each doubling halves
 * the points of each unit; it is a different ring then.
 */
final class HashRing {

	static final int POINTS = 128;

	static final int MOST_POINTS = 1 << 20;

	/** Bits of a point that hold the place of its member instead of hash bits. */
	private static final long PLACE = (1L << 20) - 1;

	private static final long FNV_OFFSET = 0xcbf29ce484222325L;

	private static final long FNV_PRIME = 0x100000001b3L;

	private static final long GOLDEN_RATIO = 0x9e3779b97f4a7c15L;

	private final long[] points;

	HashRing(List<Assignee> members) {
		long capacity = members.stream().mapToLong(Assignee::capacity).sum();
		int halvings = 0;
		while (capacity * POINTS >> halvings > MOST_POINTS) {
			halvings++;
		}
		int[] counts = new int[members.size()];
		int count = 0;
		for (int member = 0; member < counts.length; member++) {
			counts[member] = (int) Math.max((long) members.get(member).capacity() * POINTS >> halvings, 1);
			count += counts[member];
		}
		this.points = new long[count];
		for (int member = 0; member < counts.length; member++) {
			long instance = hash(members.get(member).id().instance());
			for (int point = 1; point <= counts[member]; point++) {
				this.points[--count] = mix(instance + point * GOLDEN_RATIO) & ~PLACE | member;
			}
		}
		Arrays.sort(this.points);
	}

	/** FNV-1a, then the finalizer of MurmurHash3, which separates close values. */
	static long hash(String text) {
		long hash = FNV_OFFSET;
		for (int i = 0; i < text.length(); i++) {
			hash = (hash ^ text.charAt(i)) * FNV_PRIME;
		}
		return mix(hash);
	}

	private static long mix(long hash) {
		long mixed = (hash ^ hash >>> 33) * 0xff51afd7ed558ccdL;
		mixed = (mixed ^ mixed >>> 33) * 0xc4ceb9fe1a85ec53L;
		return mixed ^ mixed >>> 33;
	}

	int pointAfter(long hash) {
		int found = Arrays.binarySearch(this.points, hash & ~PLACE);
		return ((found >= 0) ? found : -found - 1) % this.points.length;
	}

	int next(int point) {
		return (point + 1 < this.points.length) ? point + 1 : 0;
	}

	int member(int point) {
		return (int) (this.points[point] & PLACE);
	}

}
