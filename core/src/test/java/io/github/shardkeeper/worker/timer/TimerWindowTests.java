package io.github.shardkeeper.worker.timer;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.checkpoint.StoredTimer;
import io.github.shardkeeper.checkpoint.TimerId;

import static org.assertj.core.api.Assertions.assertThat;

class TimerWindowTests {

	private final TimerWindow window = new TimerWindow();

	@Test
	void knowsNothingBeforeItHasReadAndAllOnceTheStoreHasNoMore() {
		assertThat(this.window.needsReading()).isTrue();
		assertThat(this.window.beginReading()).isNull();
		read(timer("a", 10), timer("b", 20));
		assertThat(this.window.needsReading()).isFalse();
		assertThat(this.window.isComplete()).isFalse();
		this.window.remove(id("a"));
		this.window.remove(id("b"));
		assertThat(this.window.needsReading()).isTrue();
		assertThat(this.window.beginReading()).isEqualTo(timer("b", 20));
		read();

		assertThat(this.window.isComplete()).isTrue();
		assertThat(this.window.needsReading()).isFalse();
		assertThat(this.window.first()).isNull();
	}

	@Test
	void keepsOnlyWhatIsDueBeforeItsHorizon() {
		read(timer("a", 10), timer("b", 20));
		this.window.put(timer("c", 19));
		this.window.put(timer("d", 20));
		this.window.put(timer("e", 5));

		assertThat(this.window.all()).containsExactly(timer("e", 5), timer("a", 10), timer("c", 19), timer("b", 20));
	}

	@Test
	void replacedTimerIsThereOnceOrNotAtAll() {
		read(timer("a", 10), timer("b", 20));
		this.window.put(timer("a", 15));
		assertThat(this.window.all()).containsExactly(timer("a", 15), timer("b", 20));
		this.window.put(timer("a", 30));

		assertThat(this.window.all()).containsExactly(timer("b", 20));
	}

	/** The store may not know yet what was changed since. */
	@Test
	void readingAddsNothingOfWhichMoreIsKnown() {
		read(timer("a", 10));
		this.window.put(timer("b", 5));
		this.window.read(List.of(timer("b", 12), timer("c", 13), timer("d", 14)), id("c")::equals);

		assertThat(this.window.all()).containsExactly(timer("b", 5), timer("a", 10), timer("d", 14));
	}

	@Test
	void fullWindowDropsTheLatestAndReadsThemAgainLater() {
		read();
		IntStream.range(0, 2_002).forEach((i) -> this.window.put(timer("t" + i, 10_000 - i)));
		List<StoredTimer> kept = all();
		assertThat(kept).hasSize(2_000);
		assertThat(kept.get(0)).isEqualTo(timer("t2001", 7_999));
		assertThat(this.window.isComplete()).isFalse();
		StoredTimer last = kept.get(1_999);
		assertThat(last).isEqualTo(timer("t2", 9_998));
		this.window.put(timer("late", 9_999));
		assertThat(all()).doesNotContain(timer("late", 9_999));

		kept.forEach((timer) -> this.window.remove(timer.id()));
		assertThat(this.window.needsReading()).isTrue();
		assertThat(this.window.beginReading()).isNotNull()
			.satisfies((after) -> assertThat(after.due()).isAfterOrEqualTo(last.due())
				.isBefore(Instant.ofEpochSecond(9_999)));
	}

	@Test
	void fullWindowHasTimersOfOneTimeAndReadsTheOthersOnceTheseAreDone() {
		read();
		IntStream.range(0, 2_500).forEach((i) -> this.window.put(timer("t" + i, 10)));
		assertThat(all()).hasSize(2_000);
		assertThat(this.window.needsReading()).isFalse();
		all().forEach((timer) -> this.window.remove(timer.id()));

		assertThat(this.window.needsReading()).isTrue();
		assertThat(this.window.beginReading()).isNotNull()
			.satisfies((after) -> assertThat(after.due()).isBefore(Instant.ofEpochSecond(10)));
	}

	/** It may be before the last one that was read, in the order of the store. */
	@Test
	void readingBeginsAgainIfOneWasNotKeptMeanwhile() {
		read(timer("a", 10), timer("b", 20));
		this.window.put(timer("c", 20));
		assertThat(this.window.beginReading()).isNotNull()
			.satisfies((after) -> assertThat(after.due()).isBefore(Instant.ofEpochSecond(20)));
		this.window.put(timer("d", 20));
		read();
		assertThat(this.window.isComplete()).isFalse();
		this.window.beginReading();
		read();

		assertThat(this.window.isComplete()).isTrue();
	}

	/** The store may have earlier ones than before. */
	@Test
	void readingAgainKeepsWhatIsKnownAndLooksForEarlierOnes() {
		read(timer("a", 10), timer("b", 20));
		this.window.readAgain();
		assertThat(this.window.needsReading()).isTrue();
		assertThat(this.window.beginReading()).isNull();
		read(timer("c", 5), timer("b", 20));

		assertThat(this.window.needsReading()).isFalse();
		assertThat(this.window.all()).containsExactly(timer("c", 5), timer("a", 10), timer("b", 20));
	}

	private void read(StoredTimer... page) {
		this.window.read(List.of(page), (id) -> false);
	}

	private List<StoredTimer> all() {
		List<StoredTimer> all = new ArrayList<>();
		this.window.all().forEach(all::add);
		return all;
	}

	private static StoredTimer timer(String key, long due) {
		return new StoredTimer(id(key), Instant.ofEpochSecond(due));
	}

	private static TimerId id(String key) {
		return new TimerId(key, "remind");
	}

}
