package io.github.shardkeeper;

/**
 * Thrown if a payload is larger than {@code shardkeeper.template.max-payload-size}.
 * Nothing was sent, and a retry does not help.
 */
public class PayloadTooLargeException extends IllegalArgumentException {

	/**
	 * Creates the exception.
	 * @param topic the topic of the record
	 * @param bytes the size of the payload in bytes
	 * @param mostBytes the limit in bytes
	 */
	public PayloadTooLargeException(String topic, long bytes, long mostBytes) {
		super(("A payload for the topic '%s' has %,d bytes; 'shardkeeper.template.max-payload-size' allows %,d. "
				+ "Raise the limit here and at the consumers, or send a reference to where the data is.")
			.formatted(topic, bytes, mostBytes));
	}

}
