package io.github.shardkeeper.assignment;

import java.util.Arrays;
import java.util.List;

/**
 * Members on a ring of hashes, each at many points, so that the arcs between them add up
 * to about what each of them is to get: {@value #POINTS} points per unit of capacity. An
 * instance has the same points in each of its sessions, whoever else is there. Immutable.
 * <p>
 * A total capacity of more than {@value #MOST_POINTS} / {@value #POINTS} makes every
 * unit's points fewer, by half at each doubling: the ring stays small, and is another one
 * then.
 */
final class HashRing {

	static final int POINTS = 128;

	static final int MOST_POINTS = 1 << 20;

	/** The lower bits of a point hold its member's place; the hash's own are cut off. */
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

	/**
	 * Hashes text to 64 bits: FNV-1a over its characters, then the finalizer of
	 * MurmurHash3, which spreads what the former leaves close together.
	 * @param text the text
	 * @return the hash, the same on every machine
	 */
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

	/**
	 * Where a hash is on the ring.
	 * @param hash the hash
	 * @return the next point
	 */
	int pointAfter(long hash) {
		int found = Arrays.binarySearch(this.points, hash & ~PLACE);
		return ((found >= 0) ? found : -found - 1) % this.points.length;
	}

	int next(int point) {
		return (point + 1 < this.points.length) ? point + 1 : 0;
	}

	/** The place of the member that a point belongs to. */
	int member(int point) {
		return (int) (this.points[point] & PLACE);
	}

}
