package io.github.shardkeeper.redis.coordination;

import java.util.Map;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.TopicShards;

import static org.assertj.core.api.Assertions.assertThat;

/** Members of different versions of this library read what the others wrote. */
class DescriptionFormatTests {

	@Test
	void descriptionIsWrittenAsDocumented() {
		assertThat(DescriptionFormat.write(description("1.4.2")))
			.isEqualTo("{\"topics\":{\"visits\":8},\"version\":\"1.4.2\"}");
	}

	@Test
	void writtenDescriptionIsReadBack() {
		MemberDescription odd = description("1|\"2\"\n");

		assertThat(DescriptionFormat.read(DescriptionFormat.write(odd))).isEqualTo(odd);
	}

	@Test
	void missingVersionIsUnknown() {
		String json = "{\"topics\":{\"visits\":8}}";

		assertThat(DescriptionFormat.read(json)).isEqualTo(description(""));
		assertThat(DescriptionFormat.write(description(""))).isEqualTo(json);
		assertThat(DescriptionFormat.read("{\"topics\":{\"visits\":8},\"version\":null}")).isEqualTo(description(""));
		assertThat(DescriptionFormat.read("{\"topics\":{\"visits\":8},\"version\":{\"major\":1}}"))
			.isEqualTo(description(""));
	}

	@Test
	void exactListsAreNamed() {
		MemberDescription described = new MemberDescription(
				new TreeMap<>(Map.of("tenants", TopicShards.NONE.with("acme").exactly(), "visits", TopicShards.count(8),
						"none", TopicShards.NONE.exactly())),
				ApplicationVersion.UNKNOWN);
		String json = "{\"topics\":{\"none\":0,\"tenants\":0,\"visits\":8},\"shards\":{\"tenants\":\"acme\"},"
				+ "\"exact\":[\"none\",\"tenants\"]}";

		assertThat(DescriptionFormat.write(described)).isEqualTo(json);
		assertThat(DescriptionFormat.read(json)).isEqualTo(described);
	}

	/** Its shards would be taken from their owners. */
	@Test
	void listThatCannotBeReadIsNotExact() {
		MemberDescription read = DescriptionFormat
			.read("{\"topics\":{\"tenants\":2},\"shards\":{\"tenants\":\"a|b\"},\"exact\":[\"tenants\",7]}");

		assertThat(read.topicShards()).containsEntry("tenants", TopicShards.count(2));
	}

	@Test
	void hiddenSubscriptionIsWrittenAsReapExpectsIt() {
		MemberDescription hidden = new MemberDescription(description("1").topicShards(), new ApplicationVersion("1"), 1,
				null, null, true);

		assertThat(DescriptionFormat.write(hidden)).contains("\"hidden\":true");
		assertThat(DescriptionFormat.read(DescriptionFormat.write(hidden))).isEqualTo(hidden);
	}

	/** Whatever a member calls its version, zone, topics and shards. */
	@Test
	void nothingElseLooksLikeAHiddenSubscription() {
		String odd = "\"hidden\":true";
		MemberDescription described = new MemberDescription(
				new TreeMap<>(Map.of("hidden", TopicShards.count(1).with("true", "0"))), new ApplicationVersion(odd), 1,
				odd, odd);

		assertThat(DescriptionFormat.write(described)).doesNotContain(odd);
		assertThat(DescriptionFormat.read(DescriptionFormat.write(described))).isEqualTo(described);
	}

	@Test
	void fieldsOfANewerVersionAreIgnored() {
		assertThat(DescriptionFormat
			.read("{\"colour\":\"a\",\"topics\":{\"visits\":8},\"more\":{\"topics\":[1]},\"version\":\"1.4.2\"}"))
			.isEqualTo(description("1.4.2"));
	}

	@Test
	void missingCapacityZoneAndStrategyHaveDefaults() {
		MemberDescription large = new MemberDescription(new TreeMap<>(Map.of("visits", TopicShards.count(8))),
				ApplicationVersion.UNKNOWN, 4, "eu-1", "sticky, visits: range");
		String json = "{\"topics\":{\"visits\":8},\"capacity\":4,\"zone\":\"eu-1\",\"strategy\":\"sticky, visits: range\"}";

		assertThat(DescriptionFormat.write(large)).isEqualTo(json);
		assertThat(DescriptionFormat.read(json)).isEqualTo(large);
		assertThat(DescriptionFormat.read("{\"topics\":{\"visits\":8}}")).satisfies((old) -> {
			assertThat(old.capacity()).isEqualTo(1);
			assertThat(old.zone()).isNull();
			assertThat(old.strategy()).isNull();
		});
	}

	/** Older versions read the number, and ignore the rest. */
	@Test
	void shardsThatAreNotCountedAreWrittenAsText() {
		TopicShards shards = TopicShards.count(4)
			.with("4", "1")
			.with("5", "1")
			.with("6", "2", "3")
			.with("7")
			.with("8")
			.with("spare");
		MemberDescription split = new MemberDescription(
				new TreeMap<>(Map.of("plain", TopicShards.count(2), "visits", shards)), ApplicationVersion.UNKNOWN);
		String json = "{\"topics\":{\"plain\":2,\"visits\":4},\"shards\":{\"visits\":\"4:5<1 6<2,3 7:8 spare\"}}";

		assertThat(DescriptionFormat.write(split)).isEqualTo(json);
		assertThat(DescriptionFormat.read(json)).isEqualTo(split);
	}

	@Test
	void countedShardsAreANumber() {
		MemberDescription large = new MemberDescription(new TreeMap<>(Map.of("visits", TopicShards.count(100_000))),
				ApplicationVersion.UNKNOWN);

		assertThat(DescriptionFormat.write(large)).isEqualTo("{\"topics\":{\"visits\":100000}}");
		assertThat(DescriptionFormat.read(DescriptionFormat.write(large))).isEqualTo(large);
	}

	@ParameterizedTest
	@ValueSource(strings = { "4:<1", "4<", "4;5", "a:b", "{}", " ", "4<4" })
	void unknownShardFormatIsIgnored(String shards) {
		assertThat(DescriptionFormat.read("{\"topics\":{\"visits\":8},\"shards\":{\"visits\":\"" + shards + "\"}}"))
			.isEqualTo(description(""));
		assertThat(DescriptionFormat.read("{\"topics\":{\"visits\":8},\"shards\":{\"visits\":[4]}}"))
			.isEqualTo(description(""));
	}

	@ParameterizedTest
	@ValueSource(strings = { "-3", "0", "null", "\"many\"", "{}", "1e30", "0.5" })
	void invalidCapacityIsOne(String capacity) {
		assertThat(DescriptionFormat.read("{\"topics\":{},\"capacity\":" + capacity + "}").capacity()).isEqualTo(1);
	}

	private static MemberDescription description(String version) {
		return new MemberDescription(new TreeMap<>(Map.of("visits", TopicShards.count(8))),
				new ApplicationVersion(version));
	}

}
