package io.github.shardkeeper.assignment;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * An assignment by load that is being computed: who holds what, and how busy that makes
 * him. Decides nothing. Confined to its thread.
 */
final class LoadDraft {

	private final AssignmentRequest request;

	private final ShardLoads loads;

	private final int[] owners;

	private final byte[] reasons;

	private final Map<Integer, String> texts = new HashMap<>();

	/** By shard the place of its topic. */
	private final int[] topics;

	/** By topic and member whether he consumes it. */
	private final boolean[][] consumers;

	/** By member; 1 is the average. */
	private final double[] capacities;

	private final double[] loadOf;

	private final int[] countOf;

	private final int[] knownOf;

	/** Begins with each shard at its owner, if that still consumes it. */
	LoadDraft(AssignmentRequest request, ShardLoads loads) {
		this.request = request;
		this.loads = loads;
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

	ShardLoads loads() {
		return this.loads;
	}

	int owner(int shard) {
		return this.owners[shard];
	}

	double capacity(int member) {
		return this.capacities[member];
	}

	/** How busy a member is, as if it were of average capacity. */
	double busy(int member) {
		return this.loadOf[member] / this.capacities[member];
	}

	/** How busy it would be with one more. */
	double busyWith(int member, double load) {
		return (this.loadOf[member] + load) / this.capacities[member];
	}

	/** How many shards a member has, as if it were of average capacity. */
	double fullness(int member) {
		return this.countOf[member] / this.capacities[member];
	}

	int count(int member) {
		return this.countOf[member];
	}

	/** Whether enough of a member's shards were measured to say how busy it is. */
	boolean isMeasured(int member) {
		return 2 * this.knownOf[member] >= this.countOf[member];
	}

	int topic(int shard) {
		return this.topics[shard];
	}

	boolean consumes(int member, int topic) {
		return this.consumers[topic][member];
	}

	/**
	 * Whether a shard may go to a member for balance: not when it is pinned, nor when
	 * that takes it out of its zone.
	 */
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

	/** By member its shards, in their order. */
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
		this.loadOf[member] += by * this.loads.of(shard);
		this.countOf[member] += by;
		this.knownOf[member] += this.loads.isKnown(shard) ? by : 0;
	}

	Assignment assignment() {
		for (int shard = 0; shard < this.owners.length; shard++) {
			if (this.owners[shard] == this.request.owner(shard)) {
				this.reasons[shard] = (byte) Reason.KEPT.ordinal();
				this.texts.remove(shard);
			}
		}
		return new Assignment(this.request, this.owners, this.reasons, Map.copyOf(this.texts));
	}

}
