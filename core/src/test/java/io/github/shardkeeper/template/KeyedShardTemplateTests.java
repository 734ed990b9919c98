package io.github.shardkeeper.template;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import io.github.shardkeeper.RecordTooLargeException;
import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.ShardSelector;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Appended;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.source.PayloadConverterTests;
import io.github.shardkeeper.source.ShardAppender.NewRecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

class KeyedShardTemplateTests {

	private final Map<String, TopicShards> topics = new ConcurrentHashMap<>(
			Map.of("orders", TopicShards.count(4), "visits", TopicShards.count(3)));

	private final ManualAppender appender = new ManualAppender(true);

	private SendObserver observer = SendObserver.NONE;

	private final KeyedShardTemplate template = template(Map.of(), null);

	private KeyedShardTemplate template(Map<String, ShardSelector> selectors, ShardSelector selector) {
		return new KeyedShardTemplate(SendTopics.of(() -> this.topics, this.appender),
				new JsonPayloadConverter(new JsonMapper()), new SendSettings(100, 10, 1000), selectors, selector,
				this.observer);
	}

	@Test
	void hashOfTheKeySelectsTheShard() {
		// Murmur2 without its sign: 1357151166 and 479470107.
		assertThat(this.template.shardFor("orders", "foobar")).isEqualTo(ShardId.of("orders", 1357151166 % 4));
		assertThat(this.template.shardFor("orders", "abc")).isEqualTo(ShardId.of("orders", 479470107 % 4));
	}

	@Test
	void keysReachEveryShard() {
		Set<ShardId> reached = new HashSet<>();
		for (int i = 0; i < 1000; i++) {
			reached.add(this.template.shardFor("orders", "key" + i));
		}

		assertThat(reached).containsExactlyInAnyOrder(ShardId.of("orders", 0), ShardId.of("orders", 1),
				ShardId.of("orders", 2), ShardId.of("orders", 3));
	}

	@Test
	void recordIsAppendedToTheShardOfItsKey() {
		Appended sent = this.template.send("orders", "abc", "hello");

		assertThat(sent).isEqualTo(new Appended(this.template.shardFor("orders", "abc"), new Offset("1")));
		assertThat(this.appender.records()).singleElement().satisfies((record) -> {
			assertThat(record.shard()).isEqualTo(sent.shard());
			assertThat(record.key()).isEqualTo("abc");
			assertThat(record.payload()).isEqualTo("hello".getBytes());
			assertThat(record.headers()).isEmpty();
		});
	}

	@Test
	void recordsAreAppendedInOrder() {
		List<Appended> sent = this.template.sendAll("orders",
				List.of(new Outgoing("a", 1), new Outgoing("b", 2), new Outgoing("a", 3)));

		assertThat(sent).extracting(Appended::offset)
			.containsExactly(new Offset("1"), new Offset("2"), new Offset("3"));
		assertThat(sent.get(0).shard()).isEqualTo(sent.get(2).shard());
		assertThat(this.appender.payloads()).containsExactly("1", "2", "3");
		assertThat(this.template.sendAll("orders", List.of())).isEmpty();
	}

	@Test
	void headersAreSent() {
		this.template.send("orders",
				new Outgoing("a", 1).withHeader("tenant", "acme").withHeader("lang", "de").withHeader("lang", "en"));

		assertThat(this.appender.records().get(0).headers()).isEqualTo(Map.of("tenant", "acme", "lang", "en"));
	}

	@Test
	void recordsWithoutKeyGoToTheShardsInTurn() {
		List<Integer> shards = IntStream.range(0, 8)
			.map((i) -> Integer.parseInt(this.template.send("orders", Outgoing.of(i)).shard().id()))
			.boxed()
			.toList();

		assertThat(shards.subList(0, 4)).containsExactlyInAnyOrder(0, 1, 2, 3);
		assertThat(shards.subList(4, 8)).isEqualTo(shards.subList(0, 4));
		assertThat(this.appender.records()).allSatisfy((record) -> assertThat(record.key()).isNull());
	}

	@Test
	void recordMayNameItsShard() {
		ShardTemplate selecting = this.template.with((topic, record, shards) -> 0);

		assertThat(selecting.send("orders", new Outgoing("abc", 1).toShard(2)).shard())
			.isEqualTo(ShardId.of("orders", 2));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.template.send("orders", new Outgoing("abc", 1).toShard(4)))
			.withMessageContaining("shard 4")
			.withMessageContaining("0 to 3");
	}

	@Test
	void selectorOfTheCallPrecedesThatOfTheTopicAndTheGeneralOne() {
		ShardTemplate selecting = template(Map.of("orders", (topic, record, shards) -> 1),
				(topic, record, shards) -> shards - 1);

		assertThat(selecting.send("orders", "abc", 1).shard()).isEqualTo(ShardId.of("orders", 1));
		assertThat(selecting.send("visits", "abc", 1).shard()).isEqualTo(ShardId.of("visits", 2));
		assertThat(selecting.with((topic, record, shards) -> 0).send("orders", "abc", 1).shard())
			.isEqualTo(ShardId.of("orders", 0));
	}

	@Test
	void selectorMayDeferToTheKeyAndMustReturnAnExistingShard() {
		assertThat(this.template.with((topic, record, shards) -> ShardSelector.BY_KEY).send("orders", "abc", 1).shard())
			.isEqualTo(this.template.shardFor("orders", "abc"));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.template.with(new Last()).sendAsync("orders", "abc", 1))
			.withMessageContaining(Last.class.getName())
			.withMessageContaining("shard 4");
	}

	@Test
	void errorOfASelectorFailsItsSendAndNoOther() {
		ShardTemplate failing = this.template.with((topic, record, shards) -> {
			throw new NoClassDefFoundError("caused by the test");
		});
		assertThatExceptionOfType(NoClassDefFoundError.class).isThrownBy(() -> failing.send("orders", "abc", 1));

		assertThat(this.template.send("orders", "abc", 1).shard()).isEqualTo(this.template.shardFor("orders", "abc"));
	}

	@Test
	void higherNumberOfShardsAppliesFromTheNextRecord() {
		this.topics.put("orders", TopicShards.count(400));

		assertThat(this.template.send("orders", "abc", 1).shard()).isEqualTo(ShardId.of("orders", 479470107 % 400));
	}

	@Test
	void unknownTopicIsRejected() {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> this.template.send("order", "k", "hello"))
			.satisfies((ex) -> {
				assertThat(ex.getDescription()).contains("'order'", "[orders, visits]");
				assertThat(ex.getAction()).contains("shardkeeper.topics.[order].shards");
			});
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> this.template.shardFor("order", "k"));
	}

	@Test
	void nothingIsSentIfOnePayloadCannotBeWritten() {
		assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> this.template.sendAll("orders",
				List.of(new Outgoing("a", 1), new Outgoing("b", new PayloadConverterTests.Endless()))));

		assertThat(this.appender.records()).isEmpty();
	}

	@Test
	void nothingIsSentIfOneRecordIsTooLarge() {
		String longest = "é".repeat(49) + "e";
		assertThat(longest.getBytes(StandardCharsets.UTF_8)).hasSize(99);
		assertThatExceptionOfType(RecordTooLargeException.class)
			.isThrownBy(() -> this.template.sendAll("orders",
					List.of(new Outgoing("a", longest), new Outgoing("b", longest + "!"))))
			.withMessageContaining("101 bytes")
			.withMessageContaining("'shardkeeper.max-record-size' allows 100");
		assertThat(this.appender.records()).isEmpty();

		this.template.send("orders", "a", longest);
	}

	@Test
	void keyAndHeadersCountToo() {
		List<Outgoing> largest = List.of(new Outgoing("k".repeat(99), "p"),
				new Outgoing(null, "p").withHeader("name", "v".repeat(95)),
				new Outgoing(null, "p").withHeader("n".repeat(98), "v"));
		for (Outgoing record : largest) {
			Outgoing larger = record.withHeader("m", "");
			assertThatExceptionOfType(RecordTooLargeException.class)
				.isThrownBy(() -> this.template.send("orders", larger))
				.withMessageContaining("101 bytes (key, headers and payload)");
			assertThatExceptionOfType(RecordTooLargeException.class)
				.isThrownBy(() -> this.template.sendAsync("orders", larger));
			assertThatExceptionOfType(RecordTooLargeException.class).as("a ShardOutput")
				.isThrownBy(() -> this.template.prepare("orders", larger));
		}
		assertThat(this.appender.records()).isEmpty();

		this.template.sendAll("orders", largest);
		assertThat(this.appender.records()).extracting(NewRecord::size).containsExactly(100L, 100L, 100L);
	}

	@Test
	void observerDoesNotMakeARecordTooLarge() {
		this.observer = (shard, key, headers) -> {
			headers.put("trace", "123");
			return (offset, failure) -> {
			};
		};
		KeyedShardTemplate observed = template(Map.of(), null);
		observed.send("orders", "k", "p".repeat(91));
		observed.send("orders", "k", "p".repeat(92));

		assertThat(this.appender.records()).extracting(NewRecord::headers)
			.containsExactly(Map.of("trace", "123"), Map.of());
	}

	@Test
	void textThatUtf8CannotRepresentIsRefused() {
		String half = "a\uD83D";
		for (Outgoing record : List.of(new Outgoing(half, "p"), new Outgoing("k", half),
				Outgoing.of("p").withHeader(half, "v"), Outgoing.of("p").withHeader("name", half),
				Outgoing.of("p").withId(half))) {
			assertThatIllegalArgumentException().isThrownBy(() -> this.template.send("orders", record))
				.withMessageContaining("surrogate");
		}
		assertThatIllegalArgumentException().isThrownBy(() -> this.template.shardFor("orders", half))
			.withMessageContaining("The key of a record has half of a surrogate pair, \\ud83d at index 1");
		assertThat(this.appender.records()).isEmpty();

		this.template.send("orders", "\uD83D\uDE00", "\uD83D\uDE00");
	}

	@Test
	void closedTemplateRejectsRecords() {
		this.template.close();

		assertThatExceptionOfType(SendFailedException.class).isThrownBy(() -> this.template.send("orders", "a", 1))
			.satisfies((ex) -> assertThat(ex.mayHaveBeenAppended()).isFalse());
		assertThat(this.appender.records()).isEmpty();
	}

	@Test
	void observerSeesEveryRecordAndMayAddHeaders() {
		List<String> heard = new ArrayList<>();
		this.observer = (shard, key, headers) -> {
			headers.put("trace", "7");
			heard.add(shard + " " + key);
			return (offset, failure) -> heard.add(offset + " " + failure);
		};

		template(Map.of(), null).send("orders", new Outgoing("a", 1).withHeader("tenant", "acme").toShard(3));

		assertThat(this.appender.records().get(0).headers()).isEqualTo(Map.of("tenant", "acme", "trace", "7"));
		assertThat(heard).containsExactly("orders/3 a", new Offset("1") + " null");
	}

	private static final class Last implements ShardSelector {

		@Override
		public int select(String topic, Outgoing record, int shards) {
			return shards;
		}

	}

	/** Its convention and its handlers are the application's own code. */
	@Test
	void failingObserverPreventsItsRecordAndBlocksNothing() {
		AtomicInteger failures = new AtomicInteger(1);
		this.observer = (shard, key, headers) -> {
			if (failures.getAndDecrement() > 0) {
				throw new IllegalStateException("caused by the test");
			}
			return (offset, failure) -> {
			};
		};
		KeyedShardTemplate observed = template(Map.of(), null);
		assertThatExceptionOfType(SendFailedException.class).isThrownBy(() -> observed.sendAsync("orders", "a", 1))
			.withMessageContaining("caused by the test")
			.satisfies((ex) -> assertThat(ex.mayHaveBeenAppended()).isFalse());
		failures.set(0);
		observed.sendAll("orders", List.of(new Outgoing("a", 2)));

		assertTimeoutPreemptively(Duration.ofSeconds(20), observed::close);
		assertThat(this.appender.payloads()).containsExactly("2");
	}

	@Test
	void recordsBeforeAFailingObserverAreSentAndTheExceptionSaysSo() {
		this.observer = (shard, key, headers) -> {
			if (key.equals("b")) {
				throw new IllegalStateException("caused by the test");
			}
			return (offset, failure) -> {
			};
		};
		KeyedShardTemplate observed = template(Map.of(), null);
		assertThatExceptionOfType(SendFailedException.class)
			.isThrownBy(() -> observed.sendAll("orders", List.of(new Outgoing("a", 1), new Outgoing("b", 2))))
			.satisfies((ex) -> assertThat(ex.mayHaveBeenAppended()).isTrue());

		assertTimeoutPreemptively(Duration.ofSeconds(20), observed::close);
		assertThat(this.appender.payloads()).containsExactly("1");
	}

}
