package io.github.shardkeeper.source;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import io.github.shardkeeper.ShardTemplate.Appended;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.ShardAppender.NewRecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class KeyedShardTemplateTests {

	private final List<NewRecord> appended = new ArrayList<>();

	private final KeyedShardTemplate template = new KeyedShardTemplate(Map.of("orders", 4), this::append,
			new PayloadConverter(new JsonMapper()));

	@Test
	void theKeysHashNamesTheShard() {
		// Murmur2 without its sign: 1357151166 and 479470107.
		assertThat(this.template.shardFor("orders", "foobar")).isEqualTo(ShardId.of("orders", 1357151166 % 4));
		assertThat(this.template.shardFor("orders", "abc")).isEqualTo(ShardId.of("orders", 479470107 % 4));
	}

	@Test
	void keysReachEveryShardAndNoOther() {
		Set<ShardId> reached = new HashSet<>();
		for (int i = 0; i < 1000; i++) {
			reached.add(this.template.shardFor("orders", "key" + i));
		}

		assertThat(reached).containsExactlyInAnyOrder(ShardId.of("orders", 0), ShardId.of("orders", 1),
				ShardId.of("orders", 2), ShardId.of("orders", 3));
	}

	@Test
	void sendsToThatShard() {
		Appended sent = this.template.send("orders", "abc", "hello");

		assertThat(sent).isEqualTo(new Appended(this.template.shardFor("orders", "abc"), new Offset("1")));
		assertThat(this.appended).singleElement().satisfies((record) -> {
			assertThat(record.shard()).isEqualTo(sent.shard());
			assertThat(record.key()).isEqualTo("abc");
			assertThat(record.payload()).isEqualTo("hello".getBytes());
		});
	}

	@Test
	void sendsSeveralInOrder() {
		List<Appended> sent = this.template.sendAll("orders",
				List.of(new Outgoing("a", 1), new Outgoing("b", 2), new Outgoing("a", 3)));

		assertThat(sent).extracting(Appended::offset)
			.containsExactly(new Offset("1"), new Offset("2"), new Offset("3"));
		assertThat(sent.get(0).shard()).isEqualTo(sent.get(2).shard());
		assertThat(this.appended).extracting((record) -> new String(record.payload())).containsExactly("1", "2", "3");
		assertThat(this.template.sendAll("orders", List.of())).isEmpty();
	}

	@Test
	void anUnknownTopicIsRefused() {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> this.template.send("order", "k", "hello"))
			.satisfies((ex) -> {
				assertThat(ex.getDescription()).contains("'order'", "[orders]");
				assertThat(ex.getAction()).contains("shardkeeper.topics.[order].shards");
			});
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> this.template.shardFor("order", "k"));
	}

	@Test
	void nothingIsSentWhenOnePayloadCannotBeWritten() {
		assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> this.template.sendAll("orders",
				List.of(new Outgoing("a", 1), new Outgoing("b", new PayloadConverterTests.Endless()))));

		assertThat(this.appended).isEmpty();
	}

	private List<Offset> append(List<NewRecord> records) {
		List<Offset> offsets = new ArrayList<>();
		for (NewRecord record : records) {
			this.appended.add(record);
			offsets.add(new Offset(Integer.toString(this.appended.size())));
		}
		return offsets;
	}

}
