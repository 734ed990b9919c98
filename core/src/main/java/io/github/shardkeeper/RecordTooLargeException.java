package io.github.shardkeeper;

/**
 * Thrown if key, headers and payload of a record to send are larger than
 * {@code shardkeeper.max-record-size}. Nothing was sent, and a retry does not help.
 */
public class RecordTooLargeException extends IllegalArgumentException {

	/**
	 * Creates the exception.
	 * @param topic the topic of the record
	 * @param bytes the size of key, headers and payload in bytes
	 * @param maxBytes the limit in bytes
	 */
	public RecordTooLargeException(String topic, long bytes, long maxBytes) {
		super(("A record for the topic '%s' has %,d bytes (key, headers and payload); 'shardkeeper.max-record-size' allows %,d. "
				+ "Raise the limit here and in the applications that consume the topic, or send a reference to where the data is.")
			.formatted(topic, bytes, maxBytes));
	}

}
