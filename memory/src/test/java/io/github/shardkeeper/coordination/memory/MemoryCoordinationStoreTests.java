package io.github.shardkeeper.coordination.memory;

import java.time.Duration;
import java.time.Instant;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.coordination.store.ClockStories;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.CoordinationStoreContract;
import io.github.shardkeeper.coordination.store.StoreServer;
import io.github.shardkeeper.coordination.store.TestMember;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

import static org.assertj.core.api.Assertions.assertThat;

class MemoryCoordinationStoreTests extends CoordinationStoreContract implements ClockStories {

	private static final MemberId MEMBER = MemberId.of("somebody", "1");

	private static final MemberDescription DESCRIPTION = new MemberDescription(new TreeMap<>(),
			ApplicationVersion.UNKNOWN);

	private MemoryServer server;

	@Override
	protected CoordinationStore createStore() {
		this.server = new MemoryServer();
		return this.server.store();
	}

	@Override
	protected StoreServer server() {
		return this.server;
	}

	@Override
	public void turnClockBack(Duration duration) {
		this.server.advance(duration.negated());
	}

	@Test
	void tokensIncreaseWhenTheClockIsSetBack() {
		TestMember a = group().join("a").lead();
		Token first = a.assign(ShardId.of("orders", 1), a).token();
		turnClockBack(Duration.ofDays(1));

		assertThat(a.assign(ShardId.of("orders", 2), a).token()).isEqualTo(new Token(first.value() + 1));
	}

	@Test
	void tokensAreMicrosecondsOfTheClock() {
		this.server.setTime(Instant.parse("2026-01-01T00:00:00.123456Z"));
		TestMember a = group().join("a").lead();

		assertThat(a.assign(ShardId.of("orders", 1), a).token()).isEqualTo(new Token(1_767_225_600_123_456L));
	}

	@Test
	void systemClockIsTheDefault() {
		long before = System.currentTimeMillis();
		try (CoordinationStore store = new MemoryCoordinationStore()) {
			store.joinGroup(MEMBER, DESCRIPTION, Duration.ofSeconds(3), Duration.ofSeconds(15));
			HeartbeatReply.Alive reply = (HeartbeatReply.Alive) store.heartbeat(MEMBER, Seen.NOTHING, true,
					LoadReport.NONE);
			assertThat(reply.serverTimeMillis()).isBetween(before, System.currentTimeMillis());
		}
	}

	@Test
	void subscribersAreCalledWithoutALock() {
		CoordinationStore store = group().store();
		TestMember a = group().join("a").lead();
		CompletableFuture<HeartbeatReply> whileCalled = new CompletableFuture<>();
		store.subscribe(a.id(), () -> {
			try {
				whileCalled.complete(CompletableFuture
					.supplyAsync(() -> store.heartbeat(a.id(), Seen.NOTHING, true, LoadReport.NONE))
					.get(10, TimeUnit.SECONDS));
			}
			catch (Exception ex) {
				whileCalled.completeExceptionally(ex);
			}
		});

		a.assign(ShardId.of("orders", 1), a);

		assertThat(whileCalled).succeedsWithin(Duration.ofSeconds(10))
			.asInstanceOf(InstanceOfAssertFactories.type(HeartbeatReply.Alive.class))
			.satisfies((reply) -> assertThat(reply.changes()).hasSize(1));
	}

	@Test
	void failingSubscriberDoesNotAffectOthers() {
		TestMember a = group().join("a").lead();
		AtomicInteger told = new AtomicInteger();
		group().store().subscribe(a.id(), () -> {
			throw new ExpectedException();
		});
		group().store().subscribe(a.id(), told::incrementAndGet);

		assertThat(a.assign(ShardId.of("orders", 1), a).owner()).isEqualTo(a.id());

		assertThat(told).hasValue(1);
	}

	/** It is logged: without a trace. */
	private static final class ExpectedException extends RuntimeException {

		ExpectedException() {
			super("expected by a test", null, false, false);
		}

	}

}
