package io.github.shardkeeper.parking;

import java.time.Duration;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;

/** Which record of which key is next. */
class ParkedKeysTests {

	private static final MonotonicTime NOW = new MonotonicTime(0);

	private static final Duration SECOND = Duration.ofSeconds(1);

	private static final MonotonicTime LATER = NOW.plus(SECOND);

	private final ParkedKeys keys = new ParkedKeys(2, 4);

	@Test
	void onlyTheFirstRecordOfAKeyIsHandedOut() {
		fail("a", "9", NOW);
		wait("a", "10", NOW);
		fail("b", "1", LATER);
		assertThat(this.keys.take(NOW)).as("not stored yet").isNull();
		stored("9", "10", "1");

		assertThat(this.keys.take(NOW)).isEqualTo(new Offset("9"));
		assertThat(this.keys.take(LATER)).isEqualTo(new Offset("1"));
		assertThat(this.keys.take(LATER)).isNull();
		assertThat(this.keys.following(new Offset("9"), 10)).containsExactly(new Offset("10"));
		this.keys.settled(new Offset("9"));
		assertThat(this.keys.take(LATER)).isEqualTo(new Offset("10"));
		this.keys.settled(new Offset("10"));
		assertThat(this.keys.isParked("a", new Offset("11"))).isFalse();
		assertThat(this.keys.isParked("b", new Offset("11"))).as("it is handed out").isTrue();
		this.keys.settled(new Offset("1"));
		assertThat(this.keys.isEmpty()).as("not known to the store").isFalse();
		this.keys.committed(Set.of(new Offset("9"), new Offset("10"), new Offset("1")), List.of());
		assertThat(this.keys.isEmpty()).isTrue();
	}

	@Test
	void recordThatFailsAgainKeepsItsPlace() {
		fail("a", "1", NOW);
		wait("a", "2", NOW);
		stored("1", "2");
		assertThat(this.keys.take(NOW)).isEqualTo(new Offset("1"));
		fail("a", "1", LATER);
		assertThat(this.keys.take(LATER)).as("not stored yet").isNull();
		stored("1");

		assertThat(this.keys.nextDue()).isEqualTo(LATER);
		assertThat(this.keys.take(NOW)).isNull();
		assertThat(this.keys.take(LATER)).isEqualTo(new Offset("1"));
	}

	@Test
	void thereIsRoomForSomeKeysAndRecords() {
		fail("a", "1", NOW);
		fail(null, "2", NOW);
		assertThat(this.keys.hasRoom("c", new Offset("3"))).as("a third key").isFalse();
		assertThat(this.keys.hasRoom("a", new Offset("3"))).isTrue();
		wait("a", "3", NOW);
		wait("a", "4", NOW);
		assertThat(this.keys.hasRoom("a", new Offset("5"))).as("a fifth record").isFalse();
		assertThat(this.keys.hasRoom("a", new Offset("4"))).as("it waits already").isTrue();
	}

	@Test
	void dueTimesInTheStoreHaveTheOrderOfTheRecords() {
		fail("a", "1", LATER);

		MonotonicTime second = wait("a", "2", NOW);
		MonotonicTime third = wait("a", "3", NOW);

		assertThat(LATER.isBefore(second)).isTrue();
		assertThat(second.isBefore(third)).isTrue();
	}

	@Test
	void comparisonWithTheStoreChangesNothingThatIsUnderWay() {
		fail("a", "1", NOW);
		wait("a", "2", NOW);
		wait("a", "3", NOW);
		stored("1", "2");
		this.keys.take(NOW);
		ParkedKeys.Comparison comparison = this.keys.compare(NOW);
		comparison.found("a", new Offset("0"), 1, NOW, false);
		comparison.found("a", new Offset("0"), 1, NOW, false);
		assertThat(comparison.end()).as("the second one was dropped").isOne();
		assertThat(this.keys.records()).isEqualTo(3);

		this.keys.settled(new Offset("1"));
		ParkedKeys.Comparison again = this.keys.compare(NOW);
		again.found("a", new Offset("0"), 1, NOW, false);
		again.found("a", new Offset("1"), 2, NOW, true);
		assertThat(again.end()).isZero();
		assertThat(this.keys.take(NOW)).as("in its place").isEqualTo(new Offset("0"));
		this.keys.settled(new Offset("0"));
		assertThat(this.keys.take(NOW)).as("not stored yet").isNull();
		stored("3");
		assertThat(this.keys.take(NOW)).isEqualTo(new Offset("3"));
	}

	@Test
	void placesRiseAlsoIfTheClockIsSetBack() {
		ParkedKeys.Comparison comparison = this.keys.compare(NOW);
		comparison.found("a", new Offset("1"), 5_000, NOW, true);
		comparison.end();

		assertThat(this.keys.placeFor(new Offset("1"), 1)).isEqualTo(5_000);
		assertThat(this.keys.placeFor(new Offset("2"), 1)).isEqualTo(5_001);
		assertThat(this.keys.placeFor(new Offset("3"), 9_000)).isEqualTo(9_000);
	}

	private void fail(String key, String offset, MonotonicTime due) {
		this.keys.park(key, new Offset(offset), this.keys.placeFor(new Offset(offset), 10), due);
	}

	private MonotonicTime wait(String key, String offset, MonotonicTime now) {
		return this.keys.parkBehind(key, new Offset(offset), this.keys.placeFor(new Offset(offset), 10), now);
	}

	private void stored(String... offsets) {
		this.keys.committed(Set.of(), List.of(offsets).stream().map(Offset::new).toList());
	}

}
