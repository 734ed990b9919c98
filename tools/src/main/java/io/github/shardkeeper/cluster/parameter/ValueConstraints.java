package io.github.shardkeeper.cluster.parameter;

import java.lang.reflect.Field;

import org.jspecify.annotations.Nullable;

/** Constraints of Bean Validation, if the application has it. Thread-safe. */
@FunctionalInterface
public interface ValueConstraints {

	/** None. */
	ValueConstraints NONE = (field, value) -> null;

	/**
	 * Returns which constraint a value violates.
	 * @param field the field with the constraints, {@code null} for only those inside the
	 * value
	 * @return the constraint in words, {@code null} for none
	 */
	@Nullable String violation(@Nullable Field field, Object value);

}
