package io.github.shardkeeper.benchmarks.moves.group;

import java.util.HashMap;
import java.util.Map;

/**
 * What is not at its default at Kafka. Immutable.
 *
 * @param broker settings of the broker
 * @param consumer settings of the consumers
 * @param heartbeatMillis the time between two heartbeats, which is at its default or one
 * of these settings
 */
record KafkaSettings(Map<String, String> broker, Map<String, String> consumer, long heartbeatMillis) {

	/** The rules by which partitions are shared out. */
	enum Protocol {

		RANGE("range", Map.of("partition.assignment.strategy", "org.apache.kafka.clients.consumer.RangeAssignor")),

		COOPERATIVE("cooperative-sticky",
				Map.of("partition.assignment.strategy", "org.apache.kafka.clients.consumer.CooperativeStickyAssignor")),

		CONSUMER("new protocol", Map.of("group.protocol", "consumer"));

		private final String title;

		private final Map<String, String> properties;

		Protocol(String title, Map<String, String> properties) {
			this.title = title;
			this.properties = properties;
		}

		String title() {
			return this.title;
		}

	}

	/** Session 45 s, heartbeats every 3 s, or every 5 s in the new protocol. */
	static KafkaSettings defaults(Protocol protocol) {
		return new KafkaSettings(Map.of(), protocol.properties, (protocol == Protocol.CONSUMER) ? 5000 : 3000);
	}

	/**
	 * Other sessions, with limits of the broker that allow them. In the new protocol they
	 * are the broker's own.
	 * @param sessionMillis how long a member may be silent
	 * @param heartbeatMillis the time between two heartbeats
	 */
	static KafkaSettings sessions(Protocol protocol, int sessionMillis, int heartbeatMillis) {
		String session = String.valueOf(sessionMillis);
		String heartbeat = String.valueOf(heartbeatMillis);
		Map<String, String> consumer = new HashMap<>(protocol.properties);
		if (protocol != Protocol.CONSUMER) {
			consumer.put("session.timeout.ms", session);
			consumer.put("heartbeat.interval.ms", heartbeat);
		}
		return new KafkaSettings(
				Map.of("group.min.session.timeout.ms", session, "group.consumer.min.session.timeout.ms", session,
						"group.consumer.session.timeout.ms", session, "group.consumer.min.heartbeat.interval.ms",
						heartbeat, "group.consumer.heartbeat.interval.ms", heartbeat),
				consumer, heartbeatMillis);
	}

}
