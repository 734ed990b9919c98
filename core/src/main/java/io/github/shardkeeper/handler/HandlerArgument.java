package io.github.shardkeeper.handler;

import java.util.Collection;
import java.util.List;

import org.springframework.core.ResolvableType;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTimer;
import io.github.shardkeeper.ShardTimers;

/**
 * Role of a parameter of a handler's method.
 */
enum HandlerArgument {

	PAYLOAD, RECORD, PAYLOADS, RECORDS, CONTEXT, STATE, OUTPUT, TIMERS, TIMER, ACKNOWLEDGMENT,
	/** A value that {@link MessageArguments} fills, except the payload. */
	MESSAGE;

	static HandlerArgument of(ResolvableType type) {
		Class<?> resolved = type.resolve(Object.class);
		if (resolved == ShardContext.class) {
			return CONTEXT;
		}
		if (resolved == ShardState.class) {
			return STATE;
		}
		if (resolved == ShardOutput.class) {
			return OUTPUT;
		}
		if (resolved == ShardTimers.class) {
			return TIMERS;
		}
		if (resolved == ShardTimer.class) {
			return TIMER;
		}
		if (resolved == Acknowledgment.class) {
			return ACKNOWLEDGMENT;
		}
		if (resolved == ShardRecord.class) {
			return RECORD;
		}
		if (resolved == List.class) {
			return (type.getGeneric(0).resolve() == ShardRecord.class) ? RECORDS : PAYLOADS;
		}
		return PAYLOAD;
	}

	/** Returns whether a parameter of this type could be a batch or a payload. */
	static boolean isAmbiguous(ResolvableType type) {
		Class<?> resolved = type.resolve(Object.class);
		return resolved == Collection.class || resolved == Iterable.class;
	}

	boolean isOfRecords() {
		return ordinal() <= RECORDS.ordinal();
	}

	boolean isBatch() {
		return this == PAYLOADS || this == RECORDS;
	}

	/** Returns whether the method takes {@code ShardRecord}s, not only payloads. */
	boolean isWhole() {
		return this == RECORD || this == RECORDS;
	}

	/** Returns the payload's part of the parameter's type. */
	ResolvableType payload(ResolvableType type) {
		return switch (this) {
			case RECORD -> type.as(ShardRecord.class).getGeneric(0);
			case PAYLOADS -> type.getGeneric(0);
			case RECORDS -> type.getGeneric(0).as(ShardRecord.class).getGeneric(0);
			default -> type;
		};
	}

}
