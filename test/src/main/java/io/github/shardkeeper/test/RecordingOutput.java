package io.github.shardkeeper.test;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.ShardTemplate.Outgoing;

/**
 * Output for tests that call a handler's method themselves: it keeps the records that the
 * method sends, and sends nothing. Confined to one thread at a time.
 * <p>
 * <b>Not guaranteed.</b> It knows neither topics nor converters, so it accepts a topic
 * that is not configured, and a payload that cannot be written as JSON.
 */
public final class RecordingOutput implements ShardOutput {

	private final List<Sent> sent = new ArrayList<>();

	@Override
	public void send(String topic, Outgoing record) {
		Objects.requireNonNull(topic, "topic must not be null");
		Objects.requireNonNull(record, "record must not be null");
		if (record.id() != null) {
			throw new IllegalArgumentException(
					"A record for '%s' has an id, which a record that a call sends must not have".formatted(topic));
		}
		this.sent.add(new Sent(topic, record));
	}

	/**
	 * Returns all records.
	 * @return a copy, in the order in which they were sent
	 */
	public List<Sent> sent() {
		return List.copyOf(this.sent);
	}

	/**
	 * Returns the payloads of the records of one topic.
	 * @param topic the topic
	 * @return a copy, in the order in which they were sent
	 */
	public List<Object> payloads(String topic) {
		return this.sent.stream()
			.filter((each) -> each.topic().equals(topic))
			.map((each) -> each.record().payload())
			.toList();
	}

	/**
	 * A record that was sent.
	 *
	 * @param topic the topic
	 * @param record the record
	 */
	public record Sent(String topic, Outgoing record) {

	}

}
