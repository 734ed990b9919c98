package io.github.shardkeeper.cluster.parameter;

import java.lang.annotation.Annotation;
import java.lang.reflect.Field;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.time.temporal.TemporalAmount;

import org.springframework.core.ResolvableType;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.util.ClassUtils;
import org.springframework.util.unit.DataSize;

/**
 * The type of a parameter. Immutable.
 *
 * @param type the type, a wrapper instead of a primitive type
 * @param descriptor the type with the annotations of its field, such as
 * {@code @DurationUnit}
 */
record ValueType(Type type, TypeDescriptor descriptor) {

	static ValueType of(Class<?> type) {
		Class<?> resolved = ClassUtils.resolvePrimitiveIfNecessary(type);
		return new ValueType(resolved, TypeDescriptor.valueOf(resolved));
	}

	static ValueType of(Field field, Class<?> bean) {
		ResolvableType resolvable = ResolvableType.forField(field, bean);
		Class<?> raw = ClassUtils.resolvePrimitiveIfNecessary(resolvable.resolve(Object.class));
		Type type = (field.getType().isPrimitive() || resolvable.getType() instanceof TypeVariable) ? raw
				: resolvable.getType();
		Annotation[] annotations = field.getAnnotations();
		return new ValueType(type, new TypeDescriptor(resolvable, raw, annotations));
	}

	/** Whether values are written as in configuration properties, and not as JSON. */
	boolean isPlain() {
		Class<?> raw = this.descriptor.getObjectType();
		return ClassUtils.isSimpleValueType(raw) || TemporalAmount.class.isAssignableFrom(raw) || raw == DataSize.class;
	}

	boolean isSameAs(ValueType other) {
		return this.type.equals(other.type);
	}

	@Override
	public String toString() {
		return this.type.getTypeName();
	}

}
