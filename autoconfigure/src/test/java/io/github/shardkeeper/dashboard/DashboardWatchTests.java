package io.github.shardkeeper.dashboard;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;

/** Viewers who come, stay too long and go, at times that the tests set. */
class DashboardWatchTests {

	private final ManualLoops loops = new ManualLoops();

	private MonotonicTime now = MonotonicClock.SYSTEM.now();

	private int reads;

	private String summary = "{}";

	private final DashboardWatch watch = new DashboardWatch(this.loops, () -> this.now, () -> {
		this.reads++;
		return this.summary;
	});

	@BeforeEach
	void start() {
		this.watch.start();
	}

	private DashboardViewer join() {
		return this.watch.join(() -> {
		}).orElseThrow();
	}

	private void after(Duration time) throws InterruptedException {
		this.now = this.now.plus(time);
		this.loops.step();
	}

	@Test
	void aStreamEndsAfterItsTimeAndMakesRoom() throws InterruptedException {
		DashboardViewer old = join();
		after(DashboardWatch.LONGEST_STREAM.minusMillis(1));
		DashboardViewer young = join();
		assertThat(old.isEnded()).isFalse();

		after(Duration.ofMillis(1));

		assertThat(old.isEnded()).isTrue();
		assertThat(young.isEnded()).isFalse();
		assertThat(this.watch.viewers()).isOne();
	}

	@Test
	void viewersWhoNeverLeaveDoNotKeepOthersOut() throws InterruptedException {
		IntStream.range(0, DashboardWatch.MOST_VIEWERS).forEach((number) -> join());
		assertThat(this.watch.join(() -> {
		})).isEmpty();

		after(DashboardWatch.LONGEST_STREAM);

		assertThat(this.watch.viewers()).isZero();
		assertThat(this.watch.join(() -> {
		})).isPresent();
	}

	@Test
	void changesAreOfferedOnceAndNothingIsReadWithoutViewers() throws InterruptedException {
		DashboardViewer viewer = join();
		after(Duration.ZERO);
		assertThat(viewer.poll()).isEqualTo(new DashboardViewer.Message("{}"));
		after(Duration.ofSeconds(1));
		assertThat(viewer.poll()).as("the same").isNull();
		this.summary = "{\"generation\":2}";
		after(Duration.ofSeconds(1));
		assertThat(viewer.poll()).isEqualTo(new DashboardViewer.Message(this.summary));

		viewer.leave();
		int before = this.reads;
		after(Duration.ofSeconds(10));

		assertThat(this.reads).isEqualTo(before);
	}

	/** Runs steps when a test says so. */
	private static final class ManualLoops implements Loops {

		private final List<Step> steps = new ArrayList<>();

		void step() throws InterruptedException {
			for (Step step : this.steps) {
				step.run();
			}
		}

		@Override
		public Loop start(String name, Step step) {
			this.steps.add(step);
			return new Loop() {

				@Override
				public void wake() {
				}

				@Override
				public void close() {
				}

			};
		}

		@Override
		public Loop startForeground(String name, Step step) {
			return start(name, step);
		}

	}

}
