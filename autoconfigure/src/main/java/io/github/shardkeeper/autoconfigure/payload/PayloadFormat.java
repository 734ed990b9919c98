package io.github.shardkeeper.autoconfigure.payload;

import org.springframework.util.ClassUtils;

import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.source.PayloadConverter;

/**
 * Names of payload formats, as far as they can be told: of a converter of an application
 * only its class is known, which another application may have under another name.
 */
public final class PayloadFormat {

	private PayloadFormat() {
	}

	public static String of(PayloadConverter converter) {
		return (converter.getClass() == JsonPayloadConverter.class) ? "JSON"
				: ClassUtils.getUserClass(converter).getName();
	}

}
