package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.assertj.core.api.InstanceOfAssertFactories;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardMovedEvent;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.actuate.ShardMovesEndpoint;
import io.github.shardkeeper.assignment.Reason;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.report.MemberReport;
import io.github.shardkeeper.report.MoveReport;
import io.github.shardkeeper.shard.MoveCause;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Every instance tells which shards have moved, and why. */
@Timeout(180)
@Tag("proof")
class MoveHistoryTests {

	private static final String[] PROPERTIES = { "shardkeeper.topics.orders.shards=4",
			"management.endpoints.web.exposure.include=*", "management.endpoints.jmx.exposure.include=*",
			"spring.jmx.enabled=false" };

	private static final Duration LONG = Duration.ofSeconds(60);

	static Stream<Supplier<EmbeddedGroup>> stores() {
		return Stream.of(() -> EmbeddedGroup.inMemory(PROPERTIES), () -> EmbeddedGroup.onRedis(PROPERTIES));
	}

	@ParameterizedTest
	@MethodSource("stores")
	void joinsAndLeavesAreRecorded(Supplier<EmbeddedGroup> groups) {
		try (EmbeddedGroup group = groups.get()) {
			ConfigurableApplicationContext one = group.start(Watching.class, "one");
			await(one, 4, MoveCause.FIRST_OWNER);
			ConfigurableApplicationContext two = group.start(Watching.class, "two");
			List<MoveReport> joined = await(two, 2, MoveCause.JOIN);
			Watching first = one.getBean(Watching.class);
			one.close();
			List<MoveReport> left = await(two, 2, MoveCause.LEAVE);

			assertThat(joined).allSatisfy((move) -> {
				assertThat(move.from()).startsWith("one~");
				assertThat(move.to()).startsWith("two~");
				assertThat(move.topic()).isEqualTo("orders");
				assertThat(move.token()).isPositive();
			});
			assertThat(left).allSatisfy((move) -> assertThat(move.from()).startsWith("one~"));
			assertThat(moves(two, null, "two")).hasSize(4);
			assertThat(first.events).filteredOn((event) -> event.cause() == MoveCause.JOIN)
				.extracting((event) -> event.shard().id())
				.containsExactlyInAnyOrderElementsOf(joined.stream().map(MoveReport::shard).toList());
		}
	}

	@Test
	void crashesAreRecorded() {
		try (EmbeddedGroup group = EmbeddedGroup.onRedis(PROPERTIES)) {
			ConfigurableApplicationContext one = group.start(Watching.class, "one");
			await(one, 4, MoveCause.FIRST_OWNER);
			group.start(Watching.class, "two");
			await(one, 2, MoveCause.JOIN);
			group.kill("two");

			assertThat(await(one, 2, MoveCause.CRASH)).allSatisfy((move) -> {
				assertThat(move.from()).startsWith("two~");
				assertThat(move.to()).startsWith("one~");
			});
		}
	}

	@ParameterizedTest
	@MethodSource("stores")
	void ownersAddThePhasesThatOnlyTheyKnow(Supplier<EmbeddedGroup> groups) {
		try (EmbeddedGroup group = groups.get()) {
			ConfigurableApplicationContext one = group.start(Watching.class, "one");
			await(one, 4, MoveCause.FIRST_OWNER);
			ShardMovesEndpoint endpoint = one.getBean(ShardMovesEndpoint.class);
			String position = endpoint.moves(null, null, null, null, null, null, null, null).newest();
			ConfigurableApplicationContext two = group.start(Watching.class, "two");
			await(one, 2, MoveCause.JOIN);
			send(one);

			List<MoveReport> moves = eventually(() -> moves(one, "JOIN", null),
					(move) -> move.acquired() != null && move.firstRecord() != null && move.flushed() != null);
			assertThat(moves).hasSize(2)
				.allSatisfy((move) -> assertThat(move.flushed()).isLessThanOrEqualTo(move.drained()))
				.allSatisfy((move) -> assertThat(move.why()).isEqualTo(Reason.SHARE.text()));
			MoveReport move = moves.get(0);
			assertThat(endpoint.moves(null, "orders/" + move.shard(), null, null, null, position, null, null).moves())
				.contains(move);
			assertThat(two.getBean(GroupReporter.class).shard(new ShardId("orders", move.shard())))
				.hasValueSatisfying((shard) -> assertThat(shard.moves()).hasSize(2).startsWith(move));
		}
	}

	/** The owner that leaves tells how it drained, before its connection is closed. */
	@Test
	void leavingOwnerTellsItsPhases() {
		try (EmbeddedGroup group = EmbeddedGroup.onRedis(PROPERTIES)) {
			ConfigurableApplicationContext one = group.start(Watching.class, "one");
			await(one, 4, MoveCause.FIRST_OWNER);
			ConfigurableApplicationContext two = group.start(Watching.class, "two");
			await(two, 2, MoveCause.JOIN);
			one.close();
			await(two, 2, MoveCause.LEAVE);

			eventually(() -> moves(two, "LEAVE", null), (move) -> move.flushed() != null && move.acquired() != null);
		}
	}

	@Test
	void shardThatIsTakenByForceSaysSo() throws Exception {
		try (EmbeddedGroup group = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=4",
				"management.endpoints.web.exposure.include=*", "spring.jmx.enabled=false",
				"shardkeeper.handover.timeout=1s", "shardkeeper.handover.on-timeout=force")) {
			ConfigurableApplicationContext one = group.start(Watching.class, "one");
			await(one, 4, MoveCause.FIRST_OWNER);
			Watching stuck = one.getBean(Watching.class);
			stuck.holds = true;
			send(one);
			Awaitility.await().atMost(LONG).until(() -> stuck.held.get() == 4);
			ConfigurableApplicationContext two = group.start(Watching.class, "two");

			assertThat(await(two, 2, MoveCause.FORCE))
				.allSatisfy((move) -> assertThat(move.drained()).isGreaterThanOrEqualTo(Duration.ofSeconds(1)))
				.allSatisfy((move) -> assertThat(move.why()).isEqualTo(Reason.SHARE.text()));
			stuck.release.countDown();
		}
	}

	/**
	 * What the dead leader has seen is not doubled, and what it has not seen is there.
	 */
	@Test
	void movesStayWholeWhenTheLeaderDies() {
		try (EmbeddedGroup group = EmbeddedGroup.onRedis(PROPERTIES)) {
			ConfigurableApplicationContext one = group.start(Watching.class, "one");
			await(one, 4, MoveCause.FIRST_OWNER);
			ConfigurableApplicationContext two = group.start(Watching.class, "two");
			ConfigurableApplicationContext three = group.start(Watching.class, "three");
			Awaitility.await()
				.atMost(LONG)
				.until(() -> two.getBean(GroupReporter.class)
					.report()
					.members()
					.stream()
					.allMatch((m) -> m.shards() > 0));
			group.kill("one");
			Awaitility.await()
				.atMost(LONG)
				.until(() -> two.getBean(GroupReporter.class)
					.report()
					.members()
					.stream()
					.mapToInt(MemberReport::shards)
					.sum() == 4 && two.getBean(GroupReporter.class).report().members().size() == 2);

			Awaitility.await().atMost(LONG).untilAsserted(() -> {
				List<MoveReport> moves = moves(three, null, null);
				assertThat(moves).extracting((move) -> move.shard() + " " + move.token()).doesNotHaveDuplicates();
				// Each shard's moves form a chain up to its owner.
				two.getBean(GroupReporter.class).report().shards().forEach((shard) -> {
					List<MoveReport> chain = moves.stream().filter((move) -> move.shard().equals(shard.id())).toList();
					assertThat(chain).first()
						.extracting(MoveReport::to, MoveReport::token)
						.containsExactly(shard.owner(), shard.token());
					for (int i = 0; i + 1 < chain.size(); i++) {
						assertThat(chain.get(i).from()).isEqualTo(chain.get(i + 1).to());
					}
				});
			});
		}
	}

	private static void send(ConfigurableApplicationContext instance) {
		// Enough for each shard to get some.
		for (int i = 0; i < 200; i++) {
			instance.getBean(ShardTemplate.class).send("orders", "key" + i, "order");
		}
	}

	private static List<MoveReport> eventually(Supplier<List<MoveReport>> moves, Predicate<MoveReport> condition) {
		Awaitility.await().atMost(LONG).untilAsserted(() -> assertThat(moves.get()).isNotEmpty().allMatch(condition));
		return moves.get();
	}

	@Test
	void withoutAHistoryMovesAreStillEvents() {
		try (EmbeddedGroup group = EmbeddedGroup.inMemory("shardkeeper.topics.orders.shards=4",
				"shardkeeper.history.max-moves=0", "management.endpoints.web.exposure.include=*",
				"spring.jmx.enabled=false")) {
			ConfigurableApplicationContext one = group.start(Watching.class, "one");

			Awaitility.await()
				.atMost(Duration.ofSeconds(30))
				.untilAsserted(() -> assertThat(events(one)).hasSize(4)
					.allSatisfy((event) -> assertThat(event.cause()).isEqualTo(MoveCause.FIRST_OWNER)));
			assertThat(moves(one, null, null)).isEmpty();
		}
	}

	@Test
	void badInputIsRefusedWithTheReason() {
		try (EmbeddedGroup group = EmbeddedGroup.inMemory(PROPERTIES)) {
			ShardMovesEndpoint endpoint = group.start(Watching.class, "one").getBean(ShardMovesEndpoint.class);

			assertRefused(() -> endpoint.moves(null, null, null, "magic", null, null, null, null), "FIRST_OWNER, JOIN");
			assertRefused(() -> endpoint.moves(null, null, null, null, null, null, "0", null),
					"'limit' has to be from 1 to 1000");
			assertRefused(() -> endpoint.moves(null, null, null, null, null, null, "1001", null), "'limit'");
			assertRefused(() -> endpoint.moves(null, null, null, null, "<b>", null, null, null), "'before'");
			assertRefused(() -> endpoint.moves(null, null, null, null, null, null, "many", null), "'limit'");
			assertRefused(() -> endpoint.moves(null, null, null, null, null, "1-x", null, null), "'after'");
			assertRefused(() -> endpoint.moves(null, null, null, null, "1", "1", null, null), "exclude");
			assertRefused(() -> endpoint.moves("visits", "orders/1", null, null, null, null, null, null),
					"another topic");
			assertThat(endpoint.moves("none", "\n", "<b>", "join", "0", null, "1", null).moves()).isEmpty();
		}
	}

	private static void assertRefused(Runnable call, String reason) {
		assertThatExceptionOfType(InvalidEndpointRequestException.class).isThrownBy(call::run)
			.satisfies((failure) -> assertThat(failure.getReason()).contains(reason));
	}

	/** Waits until that number of shards has moved for a cause. */
	private static List<MoveReport> await(ConfigurableApplicationContext instance, int number, MoveCause cause) {
		Awaitility.await()
			.atMost(Duration.ofSeconds(30))
			.untilAsserted(() -> assertThat(
					moves(instance, null, null).stream().collect(Collectors.groupingBy(MoveReport::cause)))
				.as("moves by cause")
				.extractingByKey(cause.name())
				.asInstanceOf(InstanceOfAssertFactories.LIST)
				.hasSize(number));
		return moves(instance, cause.name(), null);
	}

	private static List<MoveReport> moves(ConfigurableApplicationContext instance, @Nullable String cause,
			@Nullable String member) {
		return instance.getBean(ShardMovesEndpoint.class)
			.moves(null, null, member, cause, null, null, null, null)
			.moves();
	}

	private static List<ShardMovedEvent> events(ConfigurableApplicationContext instance) {
		return List.copyOf(instance.getBean(Watching.class).events);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Watching {

		private final AtomicInteger held = new AtomicInteger();

		private final CountDownLatch release = new CountDownLatch(1);

		private volatile boolean holds;

		private final BlockingQueue<ShardMovedEvent> events = new LinkedBlockingQueue<>();

		@EventListener
		void moved(ShardMovedEvent event) {
			this.events.add(event);
		}

		@ShardConsumer("orders")
		void handle(String order) {
			if (this.holds) {
				this.held.incrementAndGet();
				awaitRelease();
			}
		}

		/** Ignores interruption, as a handler should not. */
		private void awaitRelease() {
			boolean interrupted = false;
			while (this.release.getCount() > 0) {
				try {
					this.release.await();
				}
				catch (InterruptedException ex) {
					interrupted = true;
				}
			}
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}

	}

}
