package io.github.shardkeeper.assignment.sticky;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.Shards;
import io.github.shardkeeper.assignment.Tenure;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/** {@link StickyAssignment} while members of several versions are there. */
@Promise("Least movement")
class RolloutTests {

	private static final MemberId OLD = MemberId.of("a-old", "1");

	private static final MemberId OTHER_OLD = MemberId.of("b-old", "1");

	private static final MemberId NEW = MemberId.of("c-new", "1");

	private static final MemberId OTHER_NEW = MemberId.of("d-new", "1");

	private static final MemberId GONE = MemberId.of("gone", "1");

	private final SortedMap<MemberId, Assignee> members = new TreeMap<>();

	private final SortedSet<ShardId> shards = new TreeSet<>();

	private final Map<ShardId, Tenure> current = new HashMap<>();

	@Test
	void movingShardsGoToTheNewestVersion() {
		member(OLD, "1.9");
		member(NEW, "1.10");
		holds(GONE, 2);
		holds(OLD, 1);
		holds(NEW, 3);

		assertThat(loads()).isEqualTo(Map.of(OLD, 1, NEW, 5));
	}

	@Test
	void newMemberTakesItsShareFromOlderOnes() {
		member(OLD, "1.9");
		member(OTHER_OLD, "1.9");
		member(NEW, "1.9.1");
		member(OTHER_NEW, "1.9.1");
		holds(OLD, 5);
		holds(OTHER_OLD, 5);
		holds(NEW, 7);

		// The other new one has 7, less than half of all: it keeps them.
		assertThat(loads()).isEqualTo(Map.of(OLD, 4, OTHER_OLD, 3, NEW, 7, OTHER_NEW, 3));
	}

	@Test
	void olderMembersAreNeitherFilledUpNorBalanced() {
		member(OLD, "1");
		member(OTHER_OLD, "1");
		member(NEW, "2");
		holds(OTHER_OLD, 4);
		holds(NEW, 5);

		assertThat(loads()).isEqualTo(Map.of(OTHER_OLD, 4, NEW, 5));
	}

	@Test
	void newMembersLevelOnlyWhatWouldMoveAnyway() {
		member(OLD, "1");
		member(NEW, "2");
		member(OTHER_NEW, "2");
		holds(OLD, 2);
		holds(NEW, 6);

		// Without the old one each of the two would have 4.
		assertThat(loads()).isEqualTo(Map.of(OLD, 1, NEW, 4, OTHER_NEW, 3));
	}

	@Test
	void firstNewMemberIsNotOverloaded() {
		member(OLD, "1");
		member(OTHER_OLD, "1");
		member(NEW, "2");
		holds(OLD, 8);
		holds(OTHER_OLD, 8);
		holds(NEW, 8);
		holds(GONE, 36);

		// An even share of 60 is 20.
		assertThat(loads()).isEqualTo(Map.of(OLD, 10, OTHER_OLD, 10, NEW, 40));
	}

	@Test
	void memberGetsNoShardOfATopicThatItDoesNotConsume() {
		member(OLD, "1", "t", "dropped");
		member(OTHER_OLD, "1", "dropped");
		member(NEW, "2", "t", "added");
		holds(OLD, "dropped", 3);
		holds(GONE, "dropped", 1);
		holds(GONE, "t", 1);
		holds(GONE, "added", 1);

		Map<ShardId, MemberId> owners = assign();

		assertThat(owners.get(ShardId.of("t", 4))).isEqualTo(NEW);
		assertThat(owners.get(ShardId.of("added", 5))).isEqualTo(NEW);
		assertThat(loads()).isEqualTo(Map.of(OLD, 3, OTHER_OLD, 1, NEW, 2));
	}

	@Test
	void newestOfThreeVersionsIsPreferred() {
		member(OLD, "1");
		member(OTHER_OLD, "2");
		member(NEW, "3");
		holds(OLD, 4);
		holds(OTHER_OLD, 1);
		holds(NEW, 4);
		holds(GONE, 1);

		assertThat(loads()).isEqualTo(Map.of(OLD, 4, OTHER_OLD, 1, NEW, 5));
	}

	@Test
	void incomparableVersionsAreEqual() {
		member(OLD, "3f2a9c0");
		member(NEW, "b81e2d4");
		holds(NEW, 4);

		assertThat(loads()).isEqualTo(Map.of(OLD, 2, NEW, 2));
	}

	@Test
	void randomGroupsMoveShardsToTheNewestVersionOnly() {
		int movesToNewer = 0;
		for (long seed = 0; seed < 2_000; seed++) {
			randomGroup(new Random(seed));
			if (newest(this.members.keySet()).size() == this.members.size()) {
				continue;
			}

			Map<ShardId, MemberId> owners = assign();

			for (Map.Entry<ShardId, MemberId> entry : owners.entrySet()) {
				MemberId before = this.current.get(entry.getKey()).owner();
				Set<MemberId> subscribers = subscribers(entry.getKey().topic());
				if (subscribers.contains(before) && !before.equals(entry.getValue())) {
					assertThat(newest(subscribers)).as("seed %d: %s", seed, entry.getKey()).contains(entry.getValue());
					movesToNewer += newest(subscribers).contains(before) ? 0 : 1;
				}
			}
			owners.forEach((shard, owner) -> this.current.put(shard, new Tenure(owner, 1)));
			assertThat(assign()).as("seed %d: stable", seed).isEqualTo(owners);
		}
		assertThat(movesToNewer).isGreaterThan(1_000);
	}

	private void randomGroup(Random random) {
		this.members.clear();
		this.shards.clear();
		this.current.clear();
		List<MemberId> ids = new ArrayList<>();
		for (int i = 0; i < 2 + random.nextInt(6); i++) {
			MemberId id = MemberId.of("m" + i, "1");
			ids.add(id);
			String version = "1." + random.nextInt(3);
			if (random.nextInt(4) == 0) {
				member(id, version, "t");
			}
			else {
				member(id, version, "t", "u");
			}
		}
		ids.add(GONE);
		for (int i = 0; i < 8; i++) {
			holds(ids.get(random.nextInt(ids.size())), random.nextBoolean() ? "t" : "u", random.nextInt(6));
		}
	}

	private Set<MemberId> subscribers(String topic) {
		return this.members.keySet()
			.stream()
			.filter((member) -> this.members.get(member).topics().contains(topic))
			.collect(Collectors.toSet());
	}

	private Set<MemberId> newest(Collection<MemberId> ids) {
		List<ApplicationVersion> versions = ids.stream().map((id) -> this.members.get(id).version()).toList();
		return ids.stream()
			.filter((id) -> this.members.get(id).version().equals(Collections.max(versions)))
			.collect(Collectors.toSet());
	}

	private void member(MemberId id, String version) {
		member(id, version, "t");
	}

	private void member(MemberId id, String version, String... topics) {
		this.members.put(id, new Assignee(id, Set.of(topics), new ApplicationVersion(version)));
	}

	private void holds(MemberId id, int count) {
		holds(id, "t", count);
	}

	private void holds(MemberId id, String topic, int count) {
		for (int i = 0; i < count; i++) {
			ShardId shard = ShardId.of(topic, this.shards.size());
			this.shards.add(shard);
			this.current.put(shard, new Tenure(id, 0));
		}
	}

	private Map<ShardId, MemberId> assign() {
		AssignmentRequest request = AssignmentRequest.builder(this.members.values(), Shards.of(this.shards))
			.owners(this.current)
			.build();
		return new StickyAssignment().assign(request).toMap();
	}

	private Map<MemberId, Integer> loads() {
		Map<MemberId, Integer> loads = new TreeMap<>();
		assign().values().forEach((owner) -> loads.merge(owner, 1, Integer::sum));
		return loads;
	}

}
