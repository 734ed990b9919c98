package io.github.shardkeeper.cluster;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * Binds a field of a bean to a {@linkplain ClusterParameters parameter} of the group. The
 * field gets the value before the bean's initialization methods run, and each later one
 * on another thread. Its value before that is the default, unless
 * {@code shardkeeper.parameters.<name>} is set.
 * <p>
 * The field is {@code volatile}, and neither {@code static} nor {@code final}; otherwise
 * the bean cannot be created. Constraints of Bean Validation on the field are checked
 * before a value takes effect, if the application has a {@code Validator}. A constructor
 * sees the default.
 */
@Target(ElementType.FIELD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface ClusterParameter {

	/**
	 * Name of the parameter: 1 to 100 letters, digits, dots, dashes or underscores.
	 */
	String value();

}
