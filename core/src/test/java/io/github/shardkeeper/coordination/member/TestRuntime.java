package io.github.shardkeeper.coordination.member;

import io.github.shardkeeper.loop.LoopMeters;
import io.github.shardkeeper.loop.LoopThreads;
import io.github.shardkeeper.time.MonotonicClock;

/** A member's surroundings in tests: real threads, a clock of the test's choice. */
public final class TestRuntime {

	private TestRuntime() {
	}

	public static MemberRuntime on(MonotonicClock clock) {
		MemberRuntime real = MemberRuntime.of(new LoopThreads(clock, LoopMeters.NONE, LoopThreads.DEFAULT_STALL_LIMIT));
		return new MemberRuntime(clock, real.loops(), real.random());
	}

}
