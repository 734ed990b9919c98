package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardTimer;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.MemoryShardState;
import io.github.shardkeeper.test.MemoryShardTimers;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Handlers whose timers and state do something wrong: it is found, and nothing else.
 */
class RemindersTests {

	private static final Duration LATER = Duration.ofMinutes(1);

	private final MemoryShardState state = new MemoryShardState();

	private final MemoryShardTimers timers = new MemoryShardTimers();

	private Instant now = Instant.parse("2026-01-01T00:00:00Z");

	private final Reminders reminders = new Reminders(() -> this.now, Integer.MAX_VALUE);

	private long fed;

	@Test
	void acceptsTimersAndEntriesThatKeepTheirTimes() {
		for (int i = 0; i < 200; i++) {
			feed(1);
			pass(Duration.ofMillis(150));
			fire(this.timers.takeDue(this.now));
		}
		pass(LATER);
		fire(this.timers.takeDue(this.now));
		assertThat(wrong()).isEmpty();
		assertThat(ReminderOutcomes.counts(stored()).values()).hasSize(4).allMatch((count) -> count > 10);
	}

	@Test
	void findsTimerThatIsLost() {
		feed(1);
		pass(LATER);
		assertThat(wrong()).satisfiesExactly((found) -> assertThat(found).startsWith("0: timer key-1 one"),
				(found) -> assertThat(found).isEqualTo("0: 1 timers were set, and 0 have ended"));
	}

	@Test
	void findsTimerThatFiresTwice() {
		feed(1);
		pass(LATER);
		List<ShardTimer> due = this.timers.takeDue(this.now);
		fire(due);
		fire(due);
		assertThat(wrong()).singleElement().asString().contains("fires, and null is in force");
	}

	@Test
	void findsTimerThatFiresThoughItIsReplaced() {
		feed(1);
		List<ShardTimer> replaced = this.timers.waiting();
		// Until the key and the name of the first number are there again.
		feed(21);
		pass(LATER);
		fire(replaced);
		assertThat(wrong()).anyMatch((found) -> found.contains("fires, and Timer[place="));
	}

	@Test
	void findsTimerThatFiresEarly() {
		feed(1);
		fire(this.timers.waiting());
		assertThat(wrong()).singleElement().asString().contains("fires at");
	}

	@Test
	void findsTimersInTheWrongOrder() {
		feed(7);
		pass(Duration.ofSeconds(1));
		feed(7);
		pass(LATER);
		List<ShardTimer> due = new ArrayList<>(this.timers.takeDue(this.now));
		Collections.reverse(due);
		fire(due);
		assertThat(wrong()).anyMatch((found) -> found.contains("fires before"));
	}

	@Test
	void findsEntryThatIsReturnedAfterItsTime() {
		feed(3);
		this.now = this.now.plus(LATER);
		feed(7);
		assertThat(met()).as("the entry may have expired after the call has begun").isEmpty();
		feed(7);
		assertThat(met()).isNotEmpty().allMatch((found) -> found.contains("the entry of key-3 is 3 after"));
	}

	@Test
	void findsEntryThatIsMissingBeforeItsTime() {
		feed(10);
		this.state.remove(Reminders.EXPIRING + "key-2");
		feed(7);
		assertThat(met()).singleElement().asString().contains("the entry of key-2 is missing");
	}

	@Test
	void findsEntryThatIsNotRemoved() {
		feed(3);
		Map<String, String> stored = stored();
		pass(LATER);
		fire(this.timers.takeDue(this.now));
		assertThat(ReminderOutcomes.check("0", this.fed, stored)).contains("0: " + Reminders.EXPIRING + "key-3");
	}

	private void feed(int numbers) {
		for (int i = 0; i < numbers; i++) {
			long number = ++this.fed;
			this.reminders.handle(new ShardRecord<>(ShardId.of(Reminders.IN_REDIS, 0),
					new Offset(Long.toString(number)), "key-" + number % 7, Long.toString(number), this.now),
					this.state, this.timers);
		}
	}

	private void pass(Duration time) {
		this.now = this.now.plus(time);
		this.state.advance(time);
	}

	private void fire(List<ShardTimer> due) {
		due.forEach((timer) -> this.reminders.due(timer, this.state));
	}

	private List<String> wrong() {
		return ReminderOutcomes.check("0", this.fed, stored());
	}

	/** Returns what calls should not have met. */
	private List<String> met() {
		return wrong().stream().filter((found) -> found.contains(Reminders.WRONG)).toList();
	}

	private Map<String, String> stored() {
		Map<String, String> stored = new TreeMap<>();
		this.state.values(JsonNode.class).forEach((key, value) -> stored.put(key, value.toString()));
		return stored;
	}

}
