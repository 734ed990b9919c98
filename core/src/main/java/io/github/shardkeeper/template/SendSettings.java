package io.github.shardkeeper.template;

/**
 * Bounds of what is sent. Immutable.
 *
 * @param maxPayloadBytes the longest payload, in bytes
 * @param maxInFlight how many records may be sent and not yet answered
 * @param maxInFlightBytes how many bytes these may have; a longer record waits until it
 * is the only one
 */
public record SendSettings(long maxPayloadBytes, int maxInFlight, long maxInFlightBytes) {

	/** As without any settings. */
	public static final SendSettings DEFAULT = new SendSettings(1024 * 1024, 10_000, 16 * 1024 * 1024);

}
