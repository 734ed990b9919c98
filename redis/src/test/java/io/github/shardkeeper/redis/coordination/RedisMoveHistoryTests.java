package io.github.shardkeeper.redis.coordination;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.domain.Range;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.stream.MapRecord;

import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.history.MoveHistory;
import io.github.shardkeeper.history.MoveHistory.Bounds;
import io.github.shardkeeper.history.MoveHistory.Page;
import io.github.shardkeeper.history.MoveHistory.PhaseAges;
import io.github.shardkeeper.history.MoveHistory.PhaseTimes;
import io.github.shardkeeper.history.MoveHistoryContract;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.MoveCause;
import io.github.shardkeeper.shard.MovePhase;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@OnEveryRedis
class RedisMoveHistoryTests extends MoveHistoryContract {

	private static final Bounds BOUNDS = new Bounds(1_000, Duration.ofDays(1));

	private final String group = UUID.randomUUID().toString();

	private final String key = RedisServer.PREFIX + ":{" + this.group + "}:moves";

	private final RedisServer server = new RedisServer(this.group);

	private final RedisConnector connector = new RedisConnector(RedisClients.sharedFactory());

	private final StringRedisTemplate redis = new StringRedisTemplate(RedisClients.sharedFactory());

	@Override
	protected MoveHistory create(Bounds bounds) {
		return new RedisMoveHistory(this.connector, RedisServer.PREFIX, this.group, Duration.ofSeconds(30), bounds);
	}

	@Override
	protected void pass(Duration time) {
		this.server.advance(time);
	}

	@AfterEach
	void close() {
		this.server.empty();
		this.connector.stop();
	}

	@Test
	void entriesOfOthersAreLeftOut() {
		MoveHistory history = create(BOUNDS);
		history.append(List.of(move(1)));
		this.redis.opsForStream().add(this.key, Map.of("shard", "not a shard"));
		this.redis.opsForStream()
			.add(this.key, Map.of("shard", "visits/1", "from", "", "to", "<b>", "token", "x", "cause", "MAGIC"));
		this.redis.opsForStream().add(this.key, Map.of("phases", "visits/1\nvisits/1 x 1 2 3\n\u0000\n-/1 2 3 4 5"));
		history.append(List.of(move(2)));

		Page page = history.read(null, 10);
		assertThat(moves(page)).containsExactly(move(2), move(1));
		assertThat(page.phases()).isEmpty();
	}

	/** Members of both versions are in a group during a rolling update. */
	@Test
	void entriesOfTheFirstFormatAndOfALaterOneAreRead() {
		MoveHistory history = create(BOUNDS);
		this.redis.opsForStream().add(this.key, ofTheFirstFormat("JOIN"));
		Map<String, String> later = ofTheFirstFormat("ECLIPSE");
		later.putAll(Map.of("former", "3", "why", "line\none", "by", "\u202Ezoë", "weather", "rain"));
		this.redis.opsForStream().add(this.key, later);
		this.redis.opsForStream().add(this.key, Map.of("phases", "visits/1 4 0 11 0 12 13", "weather", "rain"));

		Page page = history.readAfter(null, 10);
		assertThat(moves(page)).containsExactly(
				new ShardMove(ShardId.of("visits", 1), null, MemberId.of("b", "1"), new Token(4), MoveCause.JOIN, 1, 2,
						3),
				new ShardMove(ShardId.of("visits", 1), null, MemberId.of("b", "1"), new Token(4), new Token(3),
						MoveCause.UNKNOWN, 1, 2, 3, "line one", " zoë"));
		assertThat(page.phases())
			.containsExactly(new PhaseTimes(ShardId.of("visits", 1), new Token(4), Map.of(MovePhase.ACQUIRED, 11L)));
	}

	private static Map<String, String> ofTheFirstFormat(String cause) {
		return new LinkedHashMap<>(Map.of("shard", "visits/1", "from", "", "to", "b~1", "token", "4", "cause", cause,
				"planned", "1", "released", "2", "assigned", "3"));
	}

	/**
	 * Members of the first version look for the fields of a move, and leave out entries
	 * without.
	 */
	@Test
	void fieldsOfTheFirstFormatStayAndPhasesHaveNone() {
		MoveHistory history = create(BOUNDS);
		history.append(List.of(move(1)));
		history.appendPhases(List.of(new PhaseAges(ShardId.of("visits", 1), new Token(2), Map.of())));

		assertThat(this.redis.opsForStream().range(this.key, Range.unbounded())).extracting(MapRecord::getValue)
			.extracting(Map::keySet)
			.containsExactly(
					new LinkedHashSet<>(
							List.of("shard", "from", "to", "token", "cause", "planned", "released", "assigned")),
					Set.of("phases"));
	}

	@Test
	void keyOfAnotherTypeIsNamed() {
		this.redis.opsForValue().set(this.key, "text");
		MoveHistory history = create(BOUNDS);

		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> history.read(null, 10))
			.withMessageContaining("the key " + this.key + " holds a value of another type, not the stream");
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> history.append(moves(0, 1)))
			.withMessageContaining("the key " + this.key + " holds a value of another type, not the stream")
			.matches(StoreUnavailableException::isRefusal);
		assertThat(refused()).containsKey("write the history of moves");
		this.redis.delete(this.key);
		history.append(moves(0, 1));
		assertThat(refused()).isEmpty();
	}

	@Test
	void fullRedisRefusesWhatNobodyNeedsAndAnswersReads() {
		try (EmbeddedRedis full = EmbeddedRedis.start("--maxmemory-policy", "noeviction")) {
			LettuceConnectionFactory factory = RedisClients.factory(full);
			RedisConnector own = new RedisConnector(factory);
			MoveHistory history = new RedisMoveHistory(own, RedisServer.PREFIX, this.group, Duration.ofSeconds(30),
					BOUNDS);
			PhaseAges phases = new PhaseAges(ShardId.of("visits", 1), new Token(2), Map.of());
			history.append(moves(0, 1));
			full.call((commands) -> commands.configSet("maxmemory", "1"));

			assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> history.append(moves(1, 2)))
				.matches(StoreUnavailableException::isRefusal);
			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> history.appendPhases(List.of(phases)))
				.withMessageContaining("OOM");
			assertThat(own.refusedOperations().reasons()).containsKey("write the history of moves");
			assertThat(moves(history.read(null, 10))).isEqualTo(moves(0, 1));
			full.call((commands) -> commands.configSet("maxmemory", "0"));
			history.appendPhases(List.of(phases));
			assertThat(own.refusedOperations().reasons()).isEmpty();
			own.stop();
			factory.destroy();
		}
	}

	private Map<String, String> refused() {
		return this.connector.refusedOperations().reasons();
	}

}
