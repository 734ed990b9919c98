package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.assertj.core.api.InstanceOfAssertFactories;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
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
import io.github.shardkeeper.actuate.ShardMovesEndpoint;
import io.github.shardkeeper.report.MoveReport;
import io.github.shardkeeper.shard.MoveCause;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Every instance tells which shards have moved, and why. */
@Timeout(90)
class MoveHistoryTests {

	private static final String[] PROPERTIES = { "shardkeeper.topics.orders.shards=4",
			"management.endpoints.web.exposure.include=*", "management.endpoints.jmx.exposure.include=*",
			"spring.jmx.enabled=false" };

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

			assertRefused(() -> endpoint.moves(null, null, null, "magic", null, null), "FIRST_OWNER, JOIN");
			assertRefused(() -> endpoint.moves(null, null, null, null, null, 0), "'limit' has to be from 1 to 1000");
			assertRefused(() -> endpoint.moves(null, null, null, null, null, 1_001), "'limit'");
			assertRefused(() -> endpoint.moves(null, null, null, null, "<b>", null), "'before'");
			assertThat(endpoint.moves("none", "\n", "<b>", "join", "0", 1).moves()).isEmpty();
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
		ShardMovesEndpoint.ShardMoves moves = instance.getBean(ShardMovesEndpoint.class)
			.moves(null, null, member, cause, null, null);
		assertThat(moves.error()).isNull();
		return moves.moves();
	}

	private static List<ShardMovedEvent> events(ConfigurableApplicationContext instance) {
		return List.copyOf(instance.getBean(Watching.class).events);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Watching {

		private final BlockingQueue<ShardMovedEvent> events = new LinkedBlockingQueue<>();

		@EventListener
		void moved(ShardMovedEvent event) {
			this.events.add(event);
		}

		@ShardConsumer("orders")
		void handle(String order) {
		}

	}

}
