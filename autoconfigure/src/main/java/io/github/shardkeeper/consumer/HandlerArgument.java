package io.github.shardkeeper.consumer;

import java.util.Collection;
import java.util.List;

import org.springframework.core.ResolvableType;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;

/**
 * What a parameter of a handler's method is for.
 */
enum HandlerArgument {

	PAYLOAD, RECORD, PAYLOADS, RECORDS, CONTEXT, STATE, ACKNOWLEDGMENT,
	/** A part of a record that {@link MessageArguments} know, but for its payload. */
	MESSAGE;

	static HandlerArgument of(ResolvableType type) {
		Class<?> resolved = type.resolve(Object.class);
		if (resolved == ShardContext.class) {
			return CONTEXT;
		}
		if (resolved == ShardState.class) {
			return STATE;
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

	/** Whether it could be a batch as well as a payload. */
	static boolean isAmbiguous(ResolvableType type) {
		Class<?> resolved = type.resolve(Object.class);
		return resolved == Collection.class || resolved == Iterable.class;
	}

	/** Whether it is a record, or several, or what is in them. */
	boolean isOfRecords() {
		return ordinal() <= RECORDS.ordinal();
	}

	/** Whether it is many records. */
	boolean isBatch() {
		return this == PAYLOADS || this == RECORDS;
	}

	/** Whether it is one record or many, not only what is in them. */
	boolean isWhole() {
		return this == RECORD || this == RECORDS;
	}

	/** Where in its type the payload's type stands. */
	ResolvableType payload(ResolvableType type) {
		return switch (this) {
			case RECORD -> type.as(ShardRecord.class).getGeneric(0);
			case PAYLOADS -> type.getGeneric(0);
			case RECORDS -> type.getGeneric(0).as(ShardRecord.class).getGeneric(0);
			default -> type;
		};
	}

}
