package io.github.shardkeeper.test;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.ShardTimer;
import io.github.shardkeeper.test.RecordingOutput.Sent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** What stands for state and output where a test calls a handler itself. */
class HandlerUnitTests {

	private final MemoryShardState state = new MemoryShardState();

	private final RecordingOutput output = new RecordingOutput();

	@Test
	void handlerIsCalledWithStateAndOutput() {
		handle(new Order("ann", 3), this.state, this.output);
		handle(new Order("ann", 4), this.state, this.output);

		assertThat(this.state.values(Long.class)).containsOnlyKeys("ann").containsEntry("ann", 7L);
		assertThat(this.output.sent()).containsExactly(new Sent("totals", new Outgoing("ann", 3L)),
				new Sent("totals", new Outgoing("ann", 7L)));
		assertThat(this.output.payloads("totals")).containsExactly(3L, 7L);
		assertThat(this.output.payloads("others")).isEmpty();
	}

	private static void handle(Order order, ShardState state, ShardOutput output) {
		output.send("totals", order.customer(), state.increment(order.customer(), order.amount()));
	}

	@Test
	void timersAreDueWhenTheTestSaysSo() {
		MemoryShardTimers timers = new MemoryShardTimers();
		Instant noon = Instant.parse("2026-11-29T12:00:00Z");
		timers.set("ann", "remind", noon.plusSeconds(600));
		timers.set("bob", "remind", noon.plusSeconds(60));
		timers.set("eve", "remind", noon.plusSeconds(90));
		timers.set("bob", "remind", noon.plusSeconds(120).plusNanos(1));
		timers.cancel("eve", "remind");
		ShardTimer first = new ShardTimer("bob", "remind", noon.plusSeconds(120).plusMillis(1));
		ShardTimer second = new ShardTimer("ann", "remind", noon.plusSeconds(600));

		assertThat(timers.waiting()).containsExactly(first, second);
		assertThat(timers.takeDue(noon.plusSeconds(120))).isEmpty();
		assertThat(timers.takeDue(noon.plusSeconds(599))).containsExactly(first);
		assertThat(timers.takeDue(noon.plusSeconds(600))).containsExactly(second);
		assertThat(timers.waiting()).isEmpty();
		assertThatIllegalArgumentException().isThrownBy(() -> timers.set("", "remind", noon));
	}

	@Test
	void valuesAreCopiedThroughJson() {
		Cart cart = new Cart();
		cart.items = 1;
		this.state.put("cart", cart);
		cart.items = 2;

		assertThat(this.state.get("cart", Cart.class)).get().extracting((read) -> read.items).isEqualTo(1);
		assertThat(this.state.keys()).containsExactly("cart");
		this.state.remove("cart");
		assertThat(this.state.get("cart", Cart.class)).isEmpty();
		assertThat(this.state.keys()).isEmpty();
	}

	@Test
	void valuesExpireAsTimePasses() {
		this.state.put("basket", "open", Duration.ofMinutes(30));
		this.state.put("customer", "ann");

		this.state.advance(Duration.ofMinutes(29));
		assertThat(this.state.get("basket", String.class)).contains("open");
		this.state.advance(Duration.ofMinutes(1));
		assertThat(this.state.get("basket", String.class)).isEmpty();
		assertThat(this.state.keys()).containsExactly("customer");
		assertThatIllegalArgumentException().isThrownBy(() -> this.state.advance(Duration.ofMinutes(-1)));
	}

	@Test
	void mistakesFailAsInAnApplication() {
		this.state.put("text", "no number");

		assertThatIllegalArgumentException().isThrownBy(() -> this.state.get("text", Long.class))
			.withMessageContaining("The state under key 'text' cannot be read as java.lang.Long");
		assertThatIllegalArgumentException().isThrownBy(() -> this.state.increment("text", 1));
		assertThatIllegalArgumentException().isThrownBy(() -> this.state.put("", 1))
			.withMessageContaining("must not be empty");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.output.send("totals", new Outgoing("k", "x").withId("1")));
	}

	@Test
	void mapperOfTheApplicationConverts() {
		MemoryShardState snake = new MemoryShardState(
				JsonMapper.builder().propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE).build(), List.of());
		snake.put("order", new Named("ann"));

		assertThat(snake).hasToString("{order={first_name=ann}}");
		assertThat(snake.get("order", Named.class)).contains(new Named("ann"));
	}

	record Order(String customer, long amount) {

	}

	record Named(String firstName) {

	}

	static class Cart {

		public int items;

	}

}
