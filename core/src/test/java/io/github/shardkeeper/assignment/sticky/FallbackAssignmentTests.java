package io.github.shardkeeper.assignment.sticky;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.Reason;
import io.github.shardkeeper.assignment.Shards;
import io.github.shardkeeper.assignment.Tenure;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

import static org.assertj.core.api.Assertions.assertThat;

class FallbackAssignmentTests {

	private static final MemberId A = MemberId.of("a", "1");

	private static final MemberId B = MemberId.of("b", "1");

	private static final MemberId C = MemberId.of("c", "1");

	private static final ShardId[] S = { ShardId.of("orders", 0), ShardId.of("orders", 1), ShardId.of("orders", 2),
			ShardId.of("orders", 3) };

	private static final Shards FOUR = Shards.of(List.of(S));

	@Test
	void fallbackMovesNothingHoweverUneven() {
		Assignment fallback = FallbackAssignment.of(request(FOUR, Map.of(S[0], A, S[1], A, S[2], A, S[3], A), A, B, C),
				null);

		assertThat(fallback.toMap().values()).containsOnly(A);
		assertThat(fallback.moves()).isZero();
		assertThat(fallback.why(0)).startsWith("orders/0 stays with a~1: the last assignment holds");
	}

	@Test
	void unownedShardsGoWhereTheStickyStrategyPlacesThem() {
		Assignment fallback = FallbackAssignment.of(request(FOUR, Map.of(S[0], A, S[1], A, S[2], A), A, B), null);

		assertThat(fallback.toMap()).containsEntry(S[3], B);
		assertThat(fallback.moves()).isZero();
		assertThat(fallback.reason(3)).isEqualTo(Reason.PLACED);
	}

	@Test
	void earlierAssignmentIsAppliedAsFarAsPossible() {
		Assignment.Builder earlier = Assignment
			.builder(request(FOUR, Map.of(S[0], A, S[1], A, S[2], A, S[3], A), A, B, C));
		earlier.give(S[0], A).give(S[1], B).give(S[2], C).give(S[3], C);
		Shards more = FOUR.with(List.of(ShardId.of("audit", 0), ShardId.of("orders", 4)));

		Assignment fallback = FallbackAssignment.of(request(more, Map.of(S[0], A, S[1], A, S[2], A), A, B),
				earlier.build());

		assertThat(fallback.toMap()).containsEntry(S[0], A).containsEntry(S[1], B).containsEntry(S[2], A);
		assertThat(fallback.toMap().keySet()).as("nothing is forgotten but what nobody consumes")
			.containsExactlyInAnyOrder(S[0], S[1], S[2], S[3], ShardId.of("orders", 4));
	}

	@Test
	void memberThatNoLongerConsumesTheTopicLosesItsShards() {
		AssignmentRequest request = AssignmentRequest
			.builder(List.of(new Assignee(A, Set.of("audit"), ApplicationVersion.UNKNOWN), assignee(B)), FOUR)
			.owners(tenures(Map.of(S[0], A, S[1], A, S[2], A, S[3], A)))
			.build();

		assertThat(FallbackAssignment.of(request, null).toMap().values()).containsOnly(B);
	}

	@Test
	void withoutMembersNoShardHasAnOwner() {
		assertThat(FallbackAssignment.of(request(FOUR, Map.of()), null).toMap()).isEmpty();
	}

	private static AssignmentRequest request(Shards shards, Map<ShardId, MemberId> owners, MemberId... members) {
		return AssignmentRequest.builder(Stream.of(members).map(FallbackAssignmentTests::assignee).toList(), shards)
			.owners(tenures(owners))
			.build();
	}

	private static Map<ShardId, Tenure> tenures(Map<ShardId, MemberId> owners) {
		Map<ShardId, Tenure> tenures = new TreeMap<>();
		owners.forEach((shard, owner) -> tenures.put(shard, new Tenure(owner, 1, 1)));
		return tenures;
	}

	private static Assignee assignee(MemberId id) {
		return new Assignee(id, Set.of("orders"), ApplicationVersion.UNKNOWN);
	}

}
