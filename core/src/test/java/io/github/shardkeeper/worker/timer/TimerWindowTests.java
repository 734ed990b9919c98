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
		assertThat(this.window.readUpTo()).isNull();
		read(timer("a", 10), timer("b", 20));
		assertThat(this.window.needsReading()).isFalse();
		assertThat(this.window.isComplete()).isFalse();
		this.window.remove(id("a"));
		this.window.remove(id("b"));
		assertThat(this.window.needsReading()).isTrue();
		assertThat(this.window.readUpTo()).isEqualTo(timer("b", 20));
		read();

		assertThat(this.window.isComplete()).isTrue();
		assertThat(this.window.needsReading()).isFalse();
		assertThat(this.window.first()).isNull();
	}

	@Test
	void keepsOnlyWhatIsDueUpToItsHorizon() {
		read(timer("a", 10), timer("b", 20));
		this.window.put(timer("c", 20));
		this.window.put(timer("d", 21));
		this.window.put(timer("e", 5));

		assertThat(this.window.all()).containsExactly(timer("e", 5), timer("a", 10), timer("b", 20), timer("c", 20));
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
		IntStream.range(0, 2_001).forEach((i) -> this.window.put(timer("t" + i, 10_000 - i)));
		List<StoredTimer> kept = all();
		assertThat(kept).hasSize(1_000);
		assertThat(kept.get(0)).isEqualTo(timer("t2000", 8_000));
		assertThat(this.window.isComplete()).isFalse();
		StoredTimer last = kept.get(999);
		this.window.put(timer("late", last.due().getEpochSecond() + 2));
		assertThat(all()).doesNotContain(timer("late", last.due().getEpochSecond() + 2));

		kept.forEach((timer) -> this.window.remove(timer.id()));
		assertThat(this.window.needsReading()).isTrue();
		assertThat(this.window.readUpTo()).isNotNull()
			.satisfies((after) -> assertThat(after.due()).isBetween(last.due(), last.due().plusSeconds(1)));
	}

	/**
	 * The store has an order of its own for them, so it could not be asked for the rest.
	 */
	@Test
	void timersOfOneTimeAreDroppedTogether() {
		read();
		this.window.put(timer("first", 5));
		IntStream.range(0, 2_000).forEach((i) -> this.window.put(timer("t" + i, 10)));

		assertThat(all()).containsExactly(timer("first", 5));
		assertThat(this.window.readUpTo()).isNotNull()
			.satisfies((after) -> assertThat(after.due()).isBefore(Instant.ofEpochSecond(10)));
	}

	/** The store may have earlier ones than before. */
	@Test
	void readingAgainKeepsWhatIsKnownAndLooksForEarlierOnes() {
		read(timer("a", 10), timer("b", 20));
		this.window.readAgain();
		assertThat(this.window.needsReading()).isTrue();
		assertThat(this.window.readUpTo()).isNull();
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
