package io.github.shardkeeper.coordination.leader;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.Test;

import org.springframework.boot.test.system.CapturedOutput;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.ShardCatalog;
import io.github.shardkeeper.assignment.ShardTraits;
import io.github.shardkeeper.assignment.Shards;
import io.github.shardkeeper.assignment.Tenure;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.testsupport.CapturesOutput;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@CapturesOutput
class ShardTraitsCacheTests {

	private static final MemberId A = MemberId.of("a", "1");

	private static final ShardId ZERO = ShardId.of("orders", 0);

	private static final ShardId ONE = ShardId.of("orders", 1);

	private static final Shards TWO = Shards.of(List.of(ZERO, ONE));

	@Test
	void catalogIsReadOnceForEachListOfShards() {
		List<ShardId> asked = new ArrayList<>();
		ShardTraitsCache traits = new ShardTraitsCache((shard) -> {
			asked.add(shard);
			return new ShardTraits(2, "eu-1", "a");
		});

		AssignmentRequest request = traits.addTo(request(TWO));
		traits.addTo(request(TWO));
		assertThat(asked).containsExactly(ZERO, ONE);
		assertThat(request.traits(1)).isEqualTo(new ShardTraits(2, "eu-1", "a"));
		assertThat(request.shards()).isSameAs(TWO);
		assertThat(request.owner(0)).isZero();
		assertThat(request.since(0)).isEqualTo(7);
		assertThat(request.movesUnderWay()).isEqualTo(3);
		assertThat(request.nowMillis()).isEqualTo(11);
		assertThat(request.load(1)).isEqualTo(0.5);

		traits.addTo(request(TWO.with(List.of(ShardId.of("orders", 2)))));
		assertThat(asked).hasSize(5);
	}

	@Test
	void shardsWithoutTraitsNeedNoCopy() {
		AssignmentRequest request = request(TWO);

		assertThat(new ShardTraitsCache(ShardCatalog.PLAIN).addTo(request)).isSameAs(request);
		assertThat(new ShardTraitsCache((shard) -> new ShardTraits(1, null, null)).addTo(request)).isSameAs(request);
	}

	@Test
	void weightOutOfBoundsIsReplacedByTheNearestBound(CapturedOutput log) {
		AssignmentRequest request = new ShardTraitsCache(
				(shard) -> new ShardTraits(shard.equals(ZERO) ? -5 : Integer.MAX_VALUE, "eu-1", null))
			.addTo(request(TWO));

		assertThat(request.traits(0)).isEqualTo(new ShardTraits(1, "eu-1", null));
		assertThat(request.traits(1)).isEqualTo(new ShardTraits(1_000_000, "eu-1", null));
		assertThat(log.getAll().split("WARN", -1)).as("said once").hasSize(2);
		assertThat(log).contains("gives orders/0 a weight of -5, which counts as 1: return 1 to 1000000");
	}

	@Test
	void failedCatalogIsReadAgain() {
		AtomicBoolean fails = new AtomicBoolean(true);
		ShardTraitsCache traits = new ShardTraitsCache((shard) -> {
			if (fails.get() && shard.equals(ONE)) {
				throw new IllegalStateException("caused by the test");
			}
			return new ShardTraits(3, null, null);
		});

		assertThatExceptionOfType(ShardTraitsCache.CatalogFailure.class).isThrownBy(() -> traits.addTo(request(TWO)))
			.withMessageContaining("The ShardCatalog fails for orders/1")
			.withMessageContaining("caused by the test")
			.withMessageContaining("ShardTraits.NONE");
		fails.set(false);
		assertThat(traits.addTo(request(TWO)).traits(1)).isEqualTo(new ShardTraits(3, null, null));
	}

	@Test
	void catalogThatReturnsNullFails() {
		assertThatExceptionOfType(ShardTraitsCache.CatalogFailure.class)
			.isThrownBy(() -> new ShardTraitsCache((shard) -> null).addTo(request(TWO)))
			.withMessageContaining("it returns null");
	}

	private static AssignmentRequest request(Shards shards) {
		double[] loads = new double[shards.size()];
		loads[1] = 0.5;
		return AssignmentRequest.builder(List.of(new Assignee(A, Set.of("orders"), ApplicationVersion.UNKNOWN)), shards)
			.owners(Map.of(ZERO, new Tenure(A, 7, 8)))
			.loads(loads)
			.movesUnderWay(3)
			.now(11)
			.build();
	}

}
