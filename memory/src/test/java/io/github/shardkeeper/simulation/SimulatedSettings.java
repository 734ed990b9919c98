package io.github.shardkeeper.simulation;

import java.time.Duration;
import java.util.random.RandomGenerator;

import io.github.shardkeeper.worker.TestSettings;
import io.github.shardkeeper.worker.shard.ConsumerSettings;
import io.github.shardkeeper.worker.shard.ConsumerSettings.AfterDelays;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.shard.ConsumerSettings.OnFailure;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;
import io.github.shardkeeper.worker.shard.ConsumerSettings.StateRead;

/**
 * Consumer settings of the simulated instances.
 *
 * @param consumer the settings
 * @param batches whether the handler takes lists
 * @param putsAside whether records that keep failing are put aside; some do
 */
record SimulatedSettings(ConsumerSettings consumer, boolean batches, boolean putsAside, boolean byHand) {

	/** Commits when there is nothing more to do, and tries on without an end. */
	static final SimulatedSettings ORDINARY = new SimulatedSettings(
			new TestSettings().commits(CommitMode.BATCH, Duration.ofSeconds(1), 500)
				.maxAttempts(TestSettings.ENDLESS)
				.get(),
			false, false, false);

	/** The same with another moment at which entries of the state are read. */
	SimulatedSettings withState(StateRead read) {
		return new SimulatedSettings(TestSettings.with(this.consumer, read), this.batches, this.putsAside, this.byHand);
	}

	static SimulatedSettings any(RandomGenerator random) {
		TestSettings settings = new TestSettings();
		boolean inOrder = random.nextInt(3) == 0;
		boolean byHand = inOrder && random.nextInt(3) == 0;
		CommitMode mode = random.nextInt(3) == 0 ? CommitMode.BATCH : CommitMode.BACKGROUND;
		settings.commits(byHand ? CommitMode.MANUAL : mode, Duration.ofMillis(random.nextInt(10, 5000)),
				random.nextInt(1, 30));
		if (!inOrder) {
			settings.ordering(random.nextBoolean() ? Ordering.KEY : Ordering.NONE, random.nextInt(2, 9));
		}
		settings.maxAhead(random.nextBoolean() ? 1000 : random.nextInt(1, 10));
		settings.buffer(random.nextInt(1, 30), 1_000_000);
		boolean batches = inOrder && random.nextInt(2) == 0;
		settings.batchSize(random.nextInt(2, 10));
		boolean putsAside = random.nextBoolean();
		settings.maxAttempts(TestSettings.ENDLESS);
		if (putsAside) {
			settings.maxAttempts(random.nextInt(1, 4));
			boolean parks = !byHand && settings.get().ordering() != Ordering.NONE && random.nextBoolean();
			if (parks || random.nextInt(3) > 0) {
				settings.onFailure(parks ? OnFailure.PARK_KEY : OnFailure.RETRY_QUEUE,
						Duration.ofMillis(random.nextInt(1, 3000)), Duration.ofMillis(random.nextInt(1, 3000)));
				// Often so few that the shard halts.
				settings.parking(random.nextInt(1, 4), random.nextInt(1, 12), AfterDelays.DEAD_LETTER);
			}
			if (random.nextInt(5) == 0) {
				// Everything from the tenth record on is too large, and is put aside.
				settings.maxRecordBytes(1).maxConversionFailures(0);
			}
		}
		return new SimulatedSettings(settings.get(), batches, putsAside, byHand);
	}

	Ordering ordering() {
		return this.consumer.ordering();
	}

	/** Whether an owner can write everything back that the store has lost. */
	boolean restores() {
		return this.consumer.stateRead() == StateRead.ON_ACQUISITION;
	}

	/** Whether no record is handled before those before it count. */
	boolean isStrict() {
		return this.consumer.ordering() == Ordering.SHARD && !this.putsAside;
	}

	/** Whether records of one key are handled in their order. */
	boolean keepsOrder() {
		return this.consumer.ordering() != Ordering.NONE
				&& !(this.putsAside && this.consumer.onFailure() == OnFailure.RETRY_QUEUE);
	}

}
