package io.github.shardkeeper.consumer;

import java.util.Locale;

import io.github.shardkeeper.handler.HandlerShape;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.worker.ConsumerSettings;
import io.github.shardkeeper.worker.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.ConsumerSettings.Ordering;

/**
 * Checks that a handler's method and the settings of its topic go together. Has no state.
 */
public final class HandlerSettingsCheck {

	private HandlerSettingsCheck() {
	}

	/**
	 * Checks them.
	 * @throws ShardkeeperConfigurationException when they do not
	 */
	public static void check(ShardHandler handler, ConsumerSettings settings) {
		boolean manual = settings.commits().mode() == CommitMode.MANUAL;
		boolean inOrder = settings.ordering() == Ordering.SHARD;
		if (handler.takesAcknowledgment() && !manual) {
			throw refused(handler, "takes an Acknowledgment, but 'consumer.commit.mode' is '%s'"
				.formatted(text(settings.commits().mode())), "Set the mode to 'manual', or remove the parameter");
		}
		if (manual && handler.shape() != HandlerShape.LOOP && !handler.takesAcknowledgment()) {
			throw refused(handler, "takes no Acknowledgment, but 'consumer.commit.mode' is 'manual'",
					"Add a parameter of type Acknowledgment, or set the mode to 'background'");
		}
		if (manual && !inOrder && handler.takesState()) {
			throw refused(handler,
					"takes a ShardState, but 'consumer.commit.mode' is 'manual' and 'consumer.ordering' is '%s'"
						.formatted(text(settings.ordering())),
					"State that later calls have seen cannot be left out of a commit: set the mode to 'background' or the ordering to 'shard'");
		}
		if (handler.shape() == HandlerShape.BATCH && !inOrder) {
			throw refused(handler,
					"takes a list of records, but 'consumer.ordering' is '%s'".formatted(text(settings.ordering())),
					"Set the ordering to 'shard', or take one record at a time");
		}
	}

	private static ShardkeeperConfigurationException refused(ShardHandler handler, String what, String instead) {
		return new ShardkeeperConfigurationException(
				"The @ShardConsumer method %s %s (for topic '%s').".formatted(handler.name(), what, handler.topic()),
				"%s; under 'shardkeeper.consumer' for all topics, or 'shardkeeper.topics.%s.consumer' for this one."
					.formatted(instead, handler.topic()));
	}

	private static String text(Enum<?> value) {
		return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
