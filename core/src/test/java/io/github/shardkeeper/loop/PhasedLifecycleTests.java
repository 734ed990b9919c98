package io.github.shardkeeper.loop;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class PhasedLifecycleTests {

	private final List<String> steps = new ArrayList<>();

	private final PhasedLifecycle lifecycle = new PhasedLifecycle(7) {
		@Override
		protected void doStart() {
			PhasedLifecycleTests.this.steps.add("begins " + isRunning());
		}

		@Override
		protected void doStop() {
			PhasedLifecycleTests.this.steps.add("ends " + isRunning());
		}
	};

	@Test
	void isRunningWhenItBeginsAndNotWhenItEnds() {
		assertThat(this.lifecycle.isRunning()).isFalse();

		this.lifecycle.start();
		this.lifecycle.stop();

		assertThat(this.steps).containsExactly("begins true", "ends false");
		assertThat(this.lifecycle.getPhase()).isEqualTo(7);
	}

	@Test
	void beginsOncePerRun() {
		this.lifecycle.start();
		this.lifecycle.start();
		this.lifecycle.stop();
		this.lifecycle.start();

		assertThat(this.steps).containsExactly("begins true", "ends false", "begins true");
	}

}
