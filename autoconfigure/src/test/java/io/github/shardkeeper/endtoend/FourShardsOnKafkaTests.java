package io.github.shardkeeper.endtoend;

import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.test.EmbeddedKafka;

class FourShardsOnKafkaTests extends FourShardsContract {

	@Override
	String[] source(EmbeddedGroup group) {
		EmbeddedKafka kafka = EmbeddedKafka.shared();
		kafka.createTopic(group.name(), 4);
		return new String[] { "shardkeeper.topics.orders.source=kafka",
				"shardkeeper.kafka.topics.orders.name=" + group.name(),
				"spring.kafka.bootstrap-servers=" + kafka.bootstrapServers() };
	}

}
