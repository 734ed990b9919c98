package io.github.shardkeeper.assignment.sticky;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.ShardTraits;

/**
 * Sorts shards into {@link ShardKind kinds}: one for each combination of a set of
 * consumers, a zone and a weight, so there are few. Confined to its thread.
 */
final class KindSorter {

	/** Maximum number of counts by kind and member; beyond it weights are rounded. */
	private static final long MOST_COUNTS = 4_000_000;

	private static final int PINNED = -1;

	private final AssignmentRequest request;

	private final int[] pinned;

	private final Map<String, Integer> zones = new HashMap<>();

	private final int[] takersOf;

	/** By number of a set of takers, places of its members. */
	private final List<int[]> takers = new ArrayList<>();

	/** By number of a set of takers, zones of some of its members, but not of all. */
	private final List<BitSet> usefulZones = new ArrayList<>();

	KindSorter(AssignmentRequest request, int[] pinned) {
		this.request = request;
		this.pinned = pinned;
		this.takersOf = new int[request.shards().topics().size()];
		for (Assignee member : request.members()) {
			if (member.zone() != null) {
				this.zones.putIfAbsent(member.zone(), this.zones.size());
			}
		}
		findTakers();
	}

	int[] zones() {
		return this.request.members().stream().mapToInt((member) -> zone(member.zone())).toArray();
	}

	private int zone(@Nullable String zone) {
		return (zone != null) ? this.zones.getOrDefault(zone, ShardKind.NOWHERE) : ShardKind.NOWHERE;
	}

	private void findTakers() {
		Map<Set<String>, BitSet> subscriptions = new HashMap<>();
		List<Assignee> members = this.request.members();
		for (int member = 0; member < members.size(); member++) {
			subscriptions.computeIfAbsent(members.get(member).topics(), (topics) -> new BitSet()).set(member);
		}
		int[] zoneOf = zones();
		Map<BitSet, Integer> numbers = new HashMap<>();
		for (int topic = 0; topic < this.takersOf.length; topic++) {
			String name = this.request.shards().topics().get(topic);
			BitSet consumers = new BitSet();
			subscriptions.forEach((topics, subscribers) -> {
				if (topics.contains(name)) {
					consumers.or(subscribers);
				}
			});
			this.takersOf[topic] = numbers.computeIfAbsent(consumers, (added) -> {
				this.takers.add(added.stream().toArray());
				this.usefulZones.add(usefulZones(added, zoneOf));
				return this.takers.size() - 1;
			});
		}
	}

	private BitSet usefulZones(BitSet members, int[] zoneOf) {
		BitSet useful = new BitSet();
		members.stream().filter((member) -> zoneOf[member] >= 0).forEach((member) -> useful.set(zoneOf[member]));
		if (useful.cardinality() == 1 && members.stream().allMatch((member) -> zoneOf[member] >= 0)) {
			useful.clear();
		}
		return useful;
	}

	/**
	 * Sorts all but the pinned shards into kinds, heaviest first, of equal weight those
	 * with fewest takers. Rounds weights to two digits, or to one, to save memory.
	 */
	List<ShardKind> sort() {
		int[] kindOf = new int[this.request.shards().size()];
		List<Key> keys = sort(kindOf, Integer.MAX_VALUE);
		for (int roundedTo = 100; roundedTo >= 10
				&& (long) keys.size() * this.request.members().size() > MOST_COUNTS; roundedTo /= 10) {
			keys = sort(kindOf, roundedTo);
		}
		int[] sizes = new int[keys.size()];
		for (int kind : kindOf) {
			if (kind != PINNED) {
				sizes[kind]++;
			}
		}
		int[][] shards = new int[sizes.length][];
		Arrays.setAll(shards, (kind) -> new int[sizes[kind]]);
		for (int shard = kindOf.length - 1; shard >= 0; shard--) {
			if (kindOf[shard] != PINNED) {
				shards[kindOf[shard]][--sizes[kindOf[shard]]] = shard;
			}
		}
		List<ShardKind> kinds = new ArrayList<>();
		for (int kind = 0; kind < shards.length; kind++) {
			Key key = keys.get(kind);
			int[] members = this.takers.get(key.takers);
			if (members.length > 0) {
				kinds.add(new ShardKind(key.weight, key.zone, members, shards[kind], this.request.members().size()));
			}
		}
		kinds.sort(
				Comparator.<ShardKind>comparingInt((kind) -> -kind.weight).thenComparing((kind) -> kind.takers.length));
		return kinds;
	}

	private List<Key> sort(int[] kindOf, int roundedTo) {
		List<Key> keys = new ArrayList<>();
		Map<Key, Integer> numbers = new HashMap<>();
		for (int topic = 0; topic < this.takersOf.length; topic++) {
			ShardTraits last = null;
			int lastKind = PINNED;
			for (int shard = this.request.shards().begin(topic); shard < this.request.shards().end(topic); shard++) {
				ShardTraits traits = this.request.traits(shard);
				if (traits != last) {
					last = traits;
					Key key = key(this.takersOf[topic], traits, roundedTo);
					lastKind = numbers.computeIfAbsent(key, (added) -> {
						keys.add(added);
						return keys.size() - 1;
					});
				}
				kindOf[shard] = (this.pinned[shard] != AssignmentRequest.NOBODY) ? PINNED : lastKind;
			}
		}
		return keys;
	}

	private Key key(int takersNumber, ShardTraits traits, int roundedTo) {
		int zone = zone(traits.zone());
		boolean useful = zone >= 0 && this.usefulZones.get(takersNumber).get(zone);
		int unit = 1;
		while (traits.weight() / unit >= roundedTo) {
			unit *= 10;
		}
		return new Key(takersNumber, useful ? zone : ShardKind.NOWHERE, (traits.weight() + unit / 2) / unit * unit);
	}

	private record Key(int takers, int zone, int weight) {

	}

}
