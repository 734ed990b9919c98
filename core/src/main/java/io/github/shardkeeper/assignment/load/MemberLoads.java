package io.github.shardkeeper.assignment.load;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.Reason;
import io.github.shardkeeper.assignment.ShardTraits;

/**
 * Owners of shards and loads of members while an assignment by measured load is computed.
 * A shard whose load is not known counts like the average of those that are, by its
 * weight. Confined to its thread.
 */
final class MemberLoads {

	/** Maximum load of a shard, so that one absurd value does not hide all others. */
	private static final double MOST_LOAD = 1_000_000;

	private final AssignmentRequest request;

	/** By shard, measured load or the estimate that replaces it. */
	private final double[] loads;

	private final boolean[] known;

	private final int[] owners;

	private final byte[] reasons;

	private final Map<Integer, String> texts = new HashMap<>();

	private final int[] topics;

	private final boolean[][] consumers;

	/** By member, capacity relative to the average. */
	private final double[] capacities;

	private final double[] loadOf;

	private final int[] countOf;

	private final int[] knownOf;

	/** Begins with each shard at its owner, if the owner still consumes it. */
	MemberLoads(AssignmentRequest request) {
		this.request = request;
		this.loads = new double[request.shards().size()];
		this.known = new boolean[this.loads.length];
		readLoads();
		int members = request.members().size();
		this.owners = new int[request.shards().size()];
		Arrays.fill(this.owners, AssignmentRequest.NOBODY);
		this.reasons = new byte[this.owners.length];
		this.topics = new int[this.owners.length];
		this.consumers = consumers(request);
		this.capacities = capacities(request.members());
		this.loadOf = new double[members];
		this.countOf = new int[members];
		this.knownOf = new int[members];
		for (int topic = 0; topic < this.consumers.length; topic++) {
			for (int shard = request.shards().begin(topic); shard < request.shards().end(topic); shard++) {
				this.topics[shard] = topic;
				int owner = request.owner(shard);
				if (owner != AssignmentRequest.NOBODY && this.consumers[topic][owner]) {
					give(shard, owner, Reason.KEPT, null);
				}
			}
		}
	}

	private void readLoads() {
		double knownLoad = 0;
		long knownWeight = 0;
		for (int shard = 0; shard < this.loads.length; shard++) {
			double load = this.request.load(shard);
			if (!Double.isNaN(load)) {
				this.known[shard] = true;
				this.loads[shard] = Math.min(Math.max(load, 0), MOST_LOAD);
				knownLoad += this.loads[shard];
				knownWeight += this.request.traits(shard).weight();
			}
		}
		for (int shard = 0; shard < this.loads.length; shard++) {
			if (!this.known[shard] && knownWeight > 0) {
				this.loads[shard] = Math.min(knownLoad / knownWeight * this.request.traits(shard).weight(), MOST_LOAD);
			}
		}
	}

	static boolean areKnown(AssignmentRequest request) {
		for (int shard = 0; shard < request.shards().size(); shard++) {
			if (!Double.isNaN(request.load(shard))) {
				return true;
			}
		}
		return false;
	}

	private static boolean[][] consumers(AssignmentRequest request) {
		List<String> topics = request.shards().topics();
		boolean[][] consumers = new boolean[topics.size()][request.members().size()];
		for (int topic = 0; topic < consumers.length; topic++) {
			for (int member = 0; member < consumers[topic].length; member++) {
				consumers[topic][member] = request.members().get(member).topics().contains(topics.get(topic));
			}
		}
		return consumers;
	}

	private static double[] capacities(List<Assignee> members) {
		double average = members.stream().mapToInt(Assignee::capacity).average().orElse(1);
		return members.stream().mapToDouble((member) -> member.capacity() / average).toArray();
	}

	int members() {
		return this.capacities.length;
	}

	int shards() {
		return this.owners.length;
	}

	AssignmentRequest request() {
		return this.request;
	}

	double load(int shard) {
		return this.loads[shard];
	}

	boolean isKnown(int shard) {
		return this.known[shard];
	}

	int owner(int shard) {
		return this.owners[shard];
	}

	double capacity(int member) {
		return this.capacities[member];
	}

	/** Returns the load of a member, scaled to average capacity. */
	double busy(int member) {
		return this.loadOf[member] / this.capacities[member];
	}

	double busyWith(int member, double load) {
		return (this.loadOf[member] + load) / this.capacities[member];
	}

	/** Returns the number of shards of a member, scaled to average capacity. */
	double fullness(int member) {
		return this.countOf[member] / this.capacities[member];
	}

	int count(int member) {
		return this.countOf[member];
	}

	/** Returns whether at least half of the shards of a member were measured. */
	boolean isMeasured(int member) {
		return 2 * this.knownOf[member] >= this.countOf[member];
	}

	int topic(int shard) {
		return this.topics[shard];
	}

	boolean consumes(int member, int topic) {
		return this.consumers[topic][member];
	}

	/** Returns whether a shard may move: not if pinned, nor out of its zone. */
	boolean mayMove(int shard, int to) {
		if (!this.consumers[this.topics[shard]][to]) {
			return false;
		}
		ShardTraits traits = this.request.traits(shard);
		return traits.pinnedTo() == null && (traits.zone() == null || traits.zone().equals(zone(to))
				|| !traits.zone().equals(zone(this.owners[shard])));
	}

	@Nullable String zone(int member) {
		return this.request.members().get(member).zone();
	}

	int[][] byOwner() {
		int[][] byOwner = new int[members()][];
		for (int member = 0; member < byOwner.length; member++) {
			byOwner[member] = new int[this.countOf[member]];
		}
		int[] filled = new int[byOwner.length];
		for (int shard = 0; shard < this.owners.length; shard++) {
			int owner = this.owners[shard];
			if (owner != AssignmentRequest.NOBODY) {
				byOwner[owner][filled[owner]++] = shard;
			}
		}
		return byOwner;
	}

	void give(int shard, int member, Reason reason, @Nullable String text) {
		int before = this.owners[shard];
		if (before != AssignmentRequest.NOBODY) {
			change(before, shard, -1);
		}
		this.owners[shard] = member;
		change(member, shard, 1);
		this.reasons[shard] = (byte) reason.ordinal();
		if (text != null) {
			this.texts.put(shard, text);
		}
	}

	private void change(int member, int shard, int by) {
		this.loadOf[member] += by * this.loads[shard];
		this.countOf[member] += by;
		this.knownOf[member] += this.known[shard] ? by : 0;
	}

	Assignment assignment() {
		for (int shard = 0; shard < this.owners.length; shard++) {
			if (this.owners[shard] == this.request.owner(shard)) {
				this.reasons[shard] = (byte) Reason.KEPT.ordinal();
				this.texts.remove(shard);
			}
		}
		return Assignment.unchecked(this.request, this.owners, this.reasons, Map.copyOf(this.texts), false);
	}

}
