package io.github.shardkeeper.coordination.leader;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.Groups;
import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.GroupDiagnostics;
import io.github.shardkeeper.coordination.store.GroupDiagnostics.Kind;
import io.github.shardkeeper.protocol.MoveReason;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;

class MoveReasonWriterTests {

	private static final MemberId ONE = MemberId.of("one", "1");

	private static final MemberId TWO = MemberId.of("two", "1");

	private static final int SHARDS = 1_200;

	private final GroupDiagnostics kept = new MemoryCoordinationStore().diagnostics();

	private final CoordinationStore store = mock();

	private final AtomicInteger wakes = new AtomicInteger();

	private final MoveReasonWriter writer = new MoveReasonWriter(this.store, this.wakes::incrementAndGet);

	private MonotonicTime now = MonotonicClock.SYSTEM.now();

	@BeforeEach
	void connect() {
		given(this.store.diagnostics()).willReturn(this.kept);
	}

	private void run(int passes) {
		IntStream.range(0, passes).forEach((pass) -> this.writer.run(this.now));
	}

	private Map<String, String> reasons() {
		return this.kept.read(Kind.REASONS,
				IntStream.range(0, SHARDS).mapToObj((number) -> "orders/" + number).toList());
	}

	/** Returns the assignment of shards that one owned, now that two is there. */
	private static Assignment assignment() {
		return new StickyAssignment().assign(AssignmentRequest
			.builder(List.of(Groups.member("one", "orders"), Groups.member("two", "orders")),
					Groups.shards("orders", SHARDS))
			.owners(new int[SHARDS], new long[SHARDS], new long[SHARDS])
			.build());
	}

	private static List<Transition> transitions(Assignment assignment) {
		List<Transition> moves = new ArrayList<>();
		assignment.toMap().forEach((shard, owner) -> {
			if (owner.equals(TWO)) {
				moves.add(new Transition.Revoke(shard, 1, TWO));
			}
		});
		return moves;
	}

	@Test
	void reasonsOfMovesAreWrittenAndOthersFilledIn() {
		Assignment assignment = assignment();
		this.writer.planned(MoveReason.of(transitions(assignment), assignment));
		this.writer.fillIn(assignment);
		run(2);
		assertThat(reasons()).as("moves first").hasSize(600).allSatisfy((shard, text) -> {
			assertThat(text).isEqualTo("SHARE|two~1|one~1|");
			assertThat(assignment.toMap().get(ShardId.parse(shard))).isEqualTo(TWO);
		});

		run(4);
		assertThat(reasons()).hasSize(SHARDS);
		assertThat(reasons().values()).filteredOn((text) -> text.equals("KEPT|one~1||")).hasSize(600);
		assertThat(this.wakes).as("after each write that is not the last").hasValueGreaterThanOrEqualTo(3);
	}

	@Test
	void reasonsThatAreThereStay() {
		this.kept.write(Kind.REASONS, Map.of("orders/0", "PLACED|one~1||", "orders/1", "PLACED|one~1||")).join();
		this.writer.fillIn(assignment());
		run(5);

		assertThat(reasons()).containsEntry("orders/0", "PLACED|one~1||").containsEntry("orders/1", "PLACED|one~1||");
	}

	@Test
	void failedWriteIsRepeatedLater() {
		Assignment assignment = assignment();
		GroupDiagnostics full = mock();
		CompletableFuture<Void> refused = CompletableFuture
			.failedFuture(new StoreUnavailableException("OOM command not allowed", null, true));
		given(full.write(any(), any())).willReturn(refused);
		given(full.writeMissing(any(), any())).willReturn(refused);
		given(this.store.diagnostics()).willReturn(full);
		this.writer.planned(MoveReason.of(transitions(assignment).subList(0, 3), assignment));
		this.writer.fillIn(assignment);
		run(10);
		then(full).should().write(any(), any());
		this.now = this.now.plus(MoveReasonWriter.PAUSE_AFTER_FAILURE);
		run(10);
		then(full).should(times(2)).write(any(), any());

		given(this.store.diagnostics()).willReturn(this.kept);
		this.now = this.now.plus(MoveReasonWriter.PAUSE_AFTER_FAILURE);
		run(10);
		assertThat(reasons().values()).filteredOn((text) -> text.startsWith("SHARE")).hasSize(3);
		assertThat(reasons().values()).filteredOn((text) -> text.startsWith("KEPT")).hasSize(600);
	}

	@Test
	void oneWriteIsUnderWay() {
		Assignment assignment = assignment();
		GroupDiagnostics silent = mock();
		CompletableFuture<Void> reply = new CompletableFuture<>();
		given(silent.write(any(), any())).willReturn(reply);
		given(this.store.diagnostics()).willReturn(silent);
		this.writer.planned(MoveReason.of(transitions(assignment), assignment));
		run(10);
		then(silent).should().write(any(), any());
		reply.complete(null);
		assertThat(this.wakes).hasValue(1);
		run(1);

		then(silent).should(times(2)).write(any(), any());
	}

	@Test
	void deposedLeaderWritesNothingMore() {
		Assignment assignment = assignment();
		this.writer.planned(MoveReason.of(transitions(assignment), assignment));
		this.writer.fillIn(assignment);
		this.writer.deposed();
		run(5);

		assertThat(reasons()).isEmpty();
	}

	/** The planner may hold a move back, or give a shard to somebody else meanwhile. */
	@Test
	void transitionThatTheAssignmentDoesNotExplainHasNoReason() {
		Assignment assignment = assignment();
		Transition move = transitions(assignment).get(0);
		this.writer.planned(MoveReason.of(List.of(new Transition.Revoke(move.shard(), 1, null),
				new Transition.Assign(move.shard(), 1, ONE), new Transition.Assign(ShardId.of("carts", 0), 0, ONE)),
				assignment));
		run(1);

		assertThat(reasons()).isEmpty();
	}

}
