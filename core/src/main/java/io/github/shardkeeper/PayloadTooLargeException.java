package io.github.shardkeeper;

/**
 * A payload is longer than {@code shardkeeper.template.max-payload-size}. Nothing was
 * sent, and a retry does not help: send less, or a reference to where it is.
 */
public class PayloadTooLargeException extends IllegalArgumentException {

	/**
	 * Creates the exception.
	 * @param topic where the payload was to go
	 * @param bytes its length
	 * @param mostBytes the limit
	 */
	public PayloadTooLargeException(String topic, long bytes, long mostBytes) {
		super(("A payload for the topic '%s' has %,d bytes; 'shardkeeper.template.max-payload-size' allows %,d. "
				+ "Raise the limit here and at the consumers, or send a reference to where the data is.")
			.formatted(topic, bytes, mostBytes));
	}

}
