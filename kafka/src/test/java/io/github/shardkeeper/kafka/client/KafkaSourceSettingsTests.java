package io.github.shardkeeper.kafka.client;

import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.github.shardkeeper.kafka.KafkaShardSource;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class KafkaSourceSettingsTests {

	@ParameterizedTest
	@CsvSource({ "fetch.max.wait.ms,consumer", "max.request.size,producer", "default.api.timeout.ms,admin" })
	void propertyThatIsNoNumberFailsStartup(String property, String client) {
		KafkaSourceSettings settings = settings(Map.of("bootstrap.servers", "kafka:9092", property, "1MB"));

		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> new KafkaShardSource(settings))
			.withMessageContaining("The property '%s' of Kafka's %s is '1MB'".formatted(property, client))
			.withMessageContaining("'spring.kafka.%s.*'".formatted(client));
	}

	@Test
	void textHasNoCredentials() {
		assertThat(settings(Map.of("bootstrap.servers", "kafka:9092", "sasl.jaas.config", "password='secret'")))
			.hasToString(
					"KafkaSourceSettings[servers=kafka:9092, topics={orders=%s}, refreshInterval=PT5S, mirrorGroup=null]"
						.formatted(KafkaTopic.named("orders")));
	}

	@Test
	void adminClientGivesUpASilentBrokerSoonUnlessTheApplicationSetsATimeout() {
		assertThat(settings(Map.of()).adminProperties("")).containsEntry("request.timeout.ms", 5000);
		assertThat(settings(Map.of("request.timeout.ms", 7000)).adminProperties("")).containsEntry("request.timeout.ms",
				7000);
		assertThat(settings(Map.of("default.api.timeout.ms", "60000")).adminProperties(""))
			.containsEntry("request.timeout.ms", 5000);
		// Kafka would refuse a request timeout that is longer.
		assertThat(settings(Map.of("default.api.timeout.ms", "3000")).adminProperties(""))
			.containsEntry("request.timeout.ms", 3000);
	}

	@Test
	void adminClientWakesBeforeACallAtASilentBrokerEndsUnlessTheApplicationSetsAnAge() {
		assertThat(settings(Map.of()).adminProperties("")).containsEntry("metadata.max.age.ms", 2000);
		assertThat(settings(Map.of("metadata.max.age.ms", 60000)).adminProperties(""))
			.containsEntry("metadata.max.age.ms", 60000);
	}

	private static KafkaSourceSettings settings(Map<String, Object> client) {
		return KafkaSourceSettings.of(Map.of("orders", KafkaTopic.named("orders")), client);
	}

}
