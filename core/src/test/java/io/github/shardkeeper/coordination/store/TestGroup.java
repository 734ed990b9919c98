package io.github.shardkeeper.coordination.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;

/**
 * A group in a test: its store, its time and its members.
 */
public final class TestGroup implements AutoCloseable {

	/** A time that ends in no story. */
	public static final Duration LONG = Duration.ofHours(1);

	/** A period that stories wait for; it may end at any moment. */
	public static final Duration SHORT = Duration.ofMillis(150);

	private final CoordinationStore store;

	private final StoreServer server;

	private final List<TestMember> members = new ArrayList<>();

	TestGroup(CoordinationStore store, StoreServer server) {
		this.store = store;
		this.server = server;
	}

	public CoordinationStore store() {
		return this.store;
	}

	/** Lets at least that much of the store's time pass. */
	public void advance(Duration duration) {
		this.server.advance(duration);
	}

	public StoreServer server() {
		return this.server;
	}

	/**
	 * Starts the group, and lets the time pass in which nothing is assigned because
	 * members may still claim shards.
	 */
	void found() {
		MemberId founder = MemberId.of("founder", "1");
		this.store.joinGroup(founder, describe("founder"), Duration.ofMillis(1), Duration.ofMillis(1));
		this.store.leaveGroup(founder, Duration.ZERO);
		advance(Duration.ofMillis(2));
	}

	/** A member that is alive until the story ends. */
	public TestMember join(String name) {
		return join(name, LONG, LONG.multipliedBy(2));
	}

	public TestMember join(String name, Duration lease, Duration timeout) {
		TestMember member = stranger(name);
		member.join(lease, timeout);
		return member;
	}

	/** A subscriber that has not joined. */
	TestMember stranger(String name) {
		return stranger(name, "1");
	}

	/** A subscriber that has not joined, in another session of its instance. */
	TestMember stranger(String name, String session) {
		TestMember member = new TestMember(this, MemberId.of(name, session), describe(name));
		this.members.add(member);
		return member;
	}

	/** Everything as it is now. */
	public GroupChanges all() {
		return this.store.readChanges(0, -1);
	}

	/** Returns the stored ownership of a shard. */
	public Ownership shard(ShardId shard) {
		return all().ownerships()
			.stream()
			.filter((ownership) -> ownership.shard().equals(shard))
			.findFirst()
			.orElseThrow(() -> new AssertionError(shard + " is unknown to the store"));
	}

	/** Returns the version that a planned change expects, 0 for a new shard. */
	long generationOf(ShardId shard) {
		return all().ownerships()
			.stream()
			.filter((ownership) -> ownership.shard().equals(shard))
			.mapToLong(Ownership::generation)
			.findFirst()
			.orElse(0);
	}

	@Override
	public void close() {
		this.members.forEach(TestMember::disconnect);
		this.store.close();
	}

	/** Different for each name, so that a mix-up shows. */
	static MemberDescription describe(String name) {
		return new MemberDescription(
				new TreeMap<>(Map.of("orders", TopicShards.count(16).with("child-of-" + name, "0", "1"),
						"topic-of-" + name, TopicShards.count(4))),
				new ApplicationVersion("1.4|" + name), 1 + name.length(), "zone-of-" + name, "strategy-of-" + name);
	}

}
