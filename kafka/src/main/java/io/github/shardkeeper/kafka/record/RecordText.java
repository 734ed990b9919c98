package io.github.shardkeeper.kafka.record;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;

import org.apache.kafka.common.ClusterResource;
import org.apache.kafka.common.ClusterResourceListener;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;

/**
 * Keys and header values as text. Bytes that are not UTF-8, such as numbers or UUIDs of
 * other serializers, become {@code base64:} and their Base64 form, so that different keys
 * stay different. Has no state.
 */
public final class RecordText {

	/** Name of the header of records without a value; its value is {@code true}. */
	public static final String TOMBSTONE = "kafka.tombstone";

	/**
	 * What the name of a header begins with that says of the header of the remaining name
	 * that it has no value, and is not just empty; its value is {@code true}.
	 */
	public static final String NULL_PREFIX = "kafka.null.";

	private static final String BINARY = "base64:";

	private static final char REPLACEMENT = '\ufffd';

	/** What the names of all reserved headers begin with. */
	private static final String RESERVED = "kafka.";

	private static final String TRUE = "true";

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

	/**
	 * Returns the bytes from which a text is made: those that are not UTF-8 if the text
	 * is their Base64 form.
	 */
	static byte[] sent(String text) {
		if (text.startsWith(BINARY)) {
			try {
				byte[] bytes = Base64.getDecoder().decode(text.substring(BINARY.length()));
				if (of(bytes).equals(text)) {
					return bytes;
				}
			}
			catch (IllegalArgumentException ex) {
				// A text that only begins like that.
			}
		}
		return text.getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * Returns headers as texts. Of several headers of one name the last one counts. One
	 * without a value is an empty text, and has a second one that says so. A producer's
	 * own headers of reserved names are left out: they would say what Kafka did not.
	 * @param tombstone whether the record has no value
	 */
	public static Map<String, String> headers(Headers headers, boolean tombstone) {
		Map<String, String> texts = null;
		boolean withoutValue = false;
		for (Header header : headers) {
			String name = header.key();
			if (isReserved(name)) {
				continue;
			}
			if (texts == null) {
				texts = new LinkedHashMap<>();
			}
			byte[] value = header.value();
			texts.put(name, (value != null) ? of(value) : "");
			if (value == null) {
				texts.put(NULL_PREFIX + name, TRUE);
				withoutValue = true;
			}
			else if (withoutValue) {
				texts.remove(NULL_PREFIX + name);
			}
		}
		if (tombstone) {
			texts = (texts != null) ? texts : new LinkedHashMap<>();
			texts.put(TOMBSTONE, TRUE);
		}
		return (texts != null) ? texts : Map.of();
	}

	/** Adds the headers of which texts were made, or which they stand for. */
	public static void addTo(Headers headers, Map<String, String> texts) {
		texts.forEach((name, value) -> {
			if (!isReserved(name)) {
				boolean none = value.isEmpty() && texts.containsKey(NULL_PREFIX + name);
				headers.add(name, none ? null : sent(value));
			}
		});
	}

	public static boolean isTombstone(Map<String, String> texts) {
		return texts.containsKey(TOMBSTONE);
	}

	private static boolean isReserved(String name) {
		return name.startsWith(RESERVED) && (name.equals(TOMBSTONE) || name.startsWith(NULL_PREFIX));
	}

	/**
	 * Reads keys, without a copy of their bytes; and tells of new metadata, because of
	 * all that a consumer is given it notifies only this. Confined to the thread that
	 * polls.
	 */
	public static final class KeyDeserializer implements Deserializer<@Nullable String>, ClusterResourceListener {

		private final Runnable onMetadata;

		public KeyDeserializer(Runnable onMetadata) {
			this.onMetadata = onMetadata;
		}

		@Override
		public void onUpdate(ClusterResource cluster) {
			this.onMetadata.run();
		}

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
