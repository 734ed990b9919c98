package io.github.shardkeeper.operations;

import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import org.springframework.context.Lifecycle;

import io.github.shardkeeper.operations.request.OperationRefusedException;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Stops and starts the consumption of this instance while its application runs. Stopping
 * drains all shards, which may take as long as a handover: it runs on a thread of its
 * own. Thread-safe.
 */
final class ConsumptionSwitch {

	private static final Logger logger = PrintableLogger.of(ConsumptionSwitch.class);

	private final Lifecycle consumption;

	private final BooleanSupplier closing;

	private final String group;

	/** The thread that stops; {@code null} if none has. */
	private @Nullable Thread leaving;

	/**
	 * Creates a switch.
	 * @param closing returns whether the application shuts down
	 */
	ConsumptionSwitch(Lifecycle consumption, BooleanSupplier closing, String group) {
		this.consumption = consumption;
		this.closing = closing;
		this.group = group;
	}

	synchronized String leave(boolean dryRun) {
		if (isLeaving()) {
			return "It is already leaving the group";
		}
		if (!this.consumption.isRunning()) {
			return "It has already left the group, or never joined it";
		}
		if (dryRun) {
			return "It would release all its shards in order, stop consuming, and leave the group until it is restarted or told to 'join'; the application stays up";
		}
		Thread thread = new Thread(this::stop, "shardkeeper-leave");
		thread.setDaemon(true);
		thread.start();
		this.leaving = thread;
		return "It releases all its shards in order, stops consuming, and leaves the group until it is restarted or told to 'join'; the application stays up";
	}

	private void stop() {
		try {
			this.consumption.stop();
		}
		catch (RuntimeException ex) {
			logger.error("Leaving group '{}' on request failed; restart the instance", this.group, ex);
		}
	}

	synchronized String join(boolean dryRun) {
		if (isLeaving()) {
			throw OperationRefusedException
				.conflict("It is still leaving the group: try again once its shards are released");
		}
		if (this.consumption.isRunning()) {
			return "It is already in the group";
		}
		if (this.closing.getAsBoolean()) {
			throw OperationRefusedException.conflict("Its application shuts down: it does not join the group again");
		}
		if (dryRun) {
			return "It would join the group and consume again";
		}
		try {
			this.consumption.start();
		}
		catch (ShardkeeperConfigurationException ex) {
			throw OperationRefusedException.conflict(String.valueOf(ex.getMessage()));
		}
		return this.consumption.isRunning() ? "It joins the group and consumes again"
				: "It does not join the group, because its application has no @ShardConsumer method";
	}

	private boolean isLeaving() {
		return this.leaving != null && this.leaving.isAlive();
	}

}
