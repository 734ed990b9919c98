package io.github.shardkeeper.assignment.load;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.ShardTraits;
import io.github.shardkeeper.assignment.Shards;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

/**
 * Group whose plans are applied at once, with settable loads and clock.
 */
final class LoadedGroup {

	final Shards shards;

	final double[] loads;

	ShardTraits[] traits;

	long nowMillis = 1_000_000_000;

	private final List<Assignee> members = new ArrayList<>();

	private MemberId[] owners;

	private final long[] since;

	private final long[] sinceMillis;

	private long generation;

	LoadedGroup(int shardCount) {
		this(IntStream.range(0, shardCount).mapToObj((number) -> ShardId.of("orders", number)).toList());
	}

	LoadedGroup(List<ShardId> ids) {
		this.shards = Shards.of(ids);
		this.loads = new double[ids.size()];
		Arrays.fill(this.loads, Double.NaN);
		this.owners = new MemberId[ids.size()];
		this.since = new long[ids.size()];
		this.sinceMillis = new long[ids.size()];
	}

	LoadedGroup join(String... names) {
		for (String name : names) {
			join(name, 1, null, Set.of("orders"));
		}
		return this;
	}

	LoadedGroup join(String name, int capacity, String zone, Set<String> topics) {
		this.members.add(new Assignee(MemberId.of(name, "1"), topics, ApplicationVersion.UNKNOWN, capacity, zone));
		return this;
	}

	void joinVersion(String name, String version) {
		this.members.add(new Assignee(MemberId.of(name, "1"), Set.of("orders"), new ApplicationVersion(version)));
	}

	void leave(String name) {
		this.members.removeIf((member) -> member.id().instance().equals(name));
	}

	LoadedGroup loads(IntToDoubleFunction load) {
		Arrays.setAll(this.loads, load);
		return this;
	}

	/** Gives shards to a member, as of a time before any cool-down. */
	LoadedGroup own(String name, int from, int to) {
		for (int shard = from; shard < to; shard++) {
			this.owners[shard] = MemberId.of(name, "1");
			this.since[shard] = ++this.generation;
		}
		return this;
	}

	AssignmentRequest request() {
		AssignmentRequest.Builder request = AssignmentRequest.builder(this.members, this.shards);
		List<MemberId> ids = this.members.stream().map(Assignee::id).sorted().toList();
		int[] places = Arrays.stream(this.owners).mapToInt(ids::indexOf).toArray();
		return request.owners(places, this.since.clone(), this.sinceMillis.clone())
			.loads(this.loads.clone())
			.traits(this.traits)
			.now(this.nowMillis)
			.build();
	}

	/** Plans, checks and applies the plan; returns its reasons. */
	Assignment plan(AssignmentStrategy strategy) {
		AssignmentRequest request = request();
		Assignment assignment = strategy.assign(request);
		Assignment again = strategy.assign(request());
		for (int shard = 0; shard < this.owners.length; shard++) {
			int owner = assignment.owner(shard);
			requireThat(again.owner(shard) == owner, "the same reply twice for", shard);
			String topic = this.shards.get(shard).topic();
			requireThat(owner == AssignmentRequest.NOBODY || request.members().get(owner).topics().contains(topic),
					"only subscribers for", shard);
			requireThat(owner != AssignmentRequest.NOBODY || request.consumersOf(topic).isEmpty(), "an owner for",
					shard);
			MemberId wanted = (owner != AssignmentRequest.NOBODY) ? request.members().get(owner).id() : null;
			if (owner != request.owner(shard)) {
				this.owners[shard] = wanted;
				this.since[shard] = ++this.generation;
				this.sinceMillis[shard] = this.nowMillis;
			}
		}
		return assignment;
	}

	private void requireThat(boolean holds, String what, int shard) {
		if (!holds) {
			throw new AssertionError("Expected " + what + " " + this.shards.get(shard));
		}
	}

	/** Repeats plans, one cool-down apart, until nothing moves. */
	int planToTheEnd(AssignmentStrategy strategy) {
		int moves = 0;
		for (int plans = 0; plans < 1000; plans++) {
			int more = plan(strategy).moves();
			if (more == 0) {
				return moves;
			}
			moves += more;
			this.nowMillis += LoadAwareSettings.DEFAULT_COOL_DOWN.toMillis();
		}
		throw new AssertionError("Does not come to rest");
	}

	double busy(String name) {
		return IntStream.range(0, this.owners.length)
			.filter((shard) -> MemberId.of(name, "1").equals(this.owners[shard]))
			.mapToDouble((shard) -> this.loads[shard])
			.sum();
	}

	long count(String name) {
		return Arrays.stream(this.owners).filter(MemberId.of(name, "1")::equals).count();
	}

	String owner(int shard) {
		return (this.owners[shard] != null) ? this.owners[shard].instance() : null;
	}

}
