package io.github.shardkeeper.kafka;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;

import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;

/**
 * Keys and header values as text. Bytes that are not UTF-8, such as numbers or UUIDs of
 * other serializers, become {@code base64:} and their Base64 form, so that different keys
 * stay different. Has no state.
 */
final class RecordText {

	private static final String BINARY = "base64:";

	private static final char REPLACEMENT = '\ufffd';

	private RecordText() {
	}

	static String of(byte[] bytes) {
		String text = new String(bytes, StandardCharsets.UTF_8);
		return (text.indexOf(REPLACEMENT) >= 0) ? checked(text, ByteBuffer.wrap(bytes)) : text;
	}

	/** The replacement may be in the bytes, or stand for some that are not UTF-8. */
	private static String checked(String text, ByteBuffer bytes) {
		try {
			StandardCharsets.UTF_8.newDecoder().decode(bytes.duplicate());
			return text;
		}
		catch (CharacterCodingException ex) {
			byte[] copy = new byte[bytes.remaining()];
			bytes.duplicate().get(copy);
			return BINARY + Base64.getEncoder().encodeToString(copy);
		}
	}

	/** Returns the bytes of which a text was made. */
	static byte[] bytes(String text) {
		if (text.startsWith(BINARY)) {
			try {
				return Base64.getDecoder().decode(text.substring(BINARY.length()));
			}
			catch (IllegalArgumentException ex) {
				// A text that only begins like that.
			}
		}
		return text.getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * Returns the bytes to send for a text, from which the same text is made again: those
	 * that are not UTF-8 if the text is their Base64 form.
	 */
	static byte[] sent(String text) {
		byte[] bytes = bytes(text);
		return of(bytes).equals(text) ? bytes : text.getBytes(StandardCharsets.UTF_8);
	}

	/** Of several headers of one name the last one counts; no value is an empty text. */
	static Map<String, String> headers(Headers headers, boolean tombstone) {
		Map<String, String> texts = null;
		if (tombstone) {
			texts = new LinkedHashMap<>();
			texts.put(KafkaShardSource.TOMBSTONE, "true");
		}
		for (Header header : headers) {
			if (texts == null) {
				texts = new LinkedHashMap<>();
			}
			byte[] value = header.value();
			texts.put(header.key(), (value != null) ? of(value) : "");
		}
		return (texts != null) ? texts : Map.of();
	}

	/** Reads keys, without a copy of their bytes. */
	static final class KeyDeserializer implements Deserializer<@Nullable String> {

		@Override
		public @Nullable String deserialize(String topic, byte @Nullable [] data) {
			return (data != null) ? of(data) : null;
		}

		@Override
		public @Nullable String deserialize(String topic, Headers headers, @Nullable ByteBuffer data) {
			if (data == null) {
				return null;
			}
			if (!data.hasArray()) {
				byte[] copy = new byte[data.remaining()];
				data.get(copy);
				return of(copy);
			}
			String text = new String(data.array(), data.arrayOffset() + data.position(), data.remaining(),
					StandardCharsets.UTF_8);
			return (text.indexOf(REPLACEMENT) >= 0) ? checked(text, data) : text;
		}

	}

}
