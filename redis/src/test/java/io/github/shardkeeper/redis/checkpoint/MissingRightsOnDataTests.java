package io.github.shardkeeper.redis.checkpoint;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.protocol.CommandType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.CommitHistory;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore.Retention;
import io.github.shardkeeper.checkpoint.DeadLetterStore.StoredDeadLetter;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.checkpoint.Outbox;
import io.github.shardkeeper.checkpoint.Replies;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;
import io.github.shardkeeper.checkpoint.StoredTimer;
import io.github.shardkeeper.checkpoint.TimerId;
import io.github.shardkeeper.checkpoint.WaitingRecord;
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.checkpoint.memory.MemoryDeadLetterStore;
import io.github.shardkeeper.redis.LuaScript;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A script of the data plane of which Redis refuses one command, whichever it is, for
 * want of a right writes nothing; repeated once the right is granted, it leaves what the
 * memory store has.
 */
@OnEveryRedis
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("proof")
@Promise({ "Nothing lost", "State exactly once" })
class MissingRightsOnDataTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(20);

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final Token TOKEN = new Token(1_767_225_600_123_456L);

	private static final Token NEXT = new Token(TOKEN.value() + 1);

	private final EmbeddedRedis redis = EmbeddedRedis.start("--maxmemory-policy", "noeviction");

	private final LettuceConnectionFactory factory = RedisClients.factory(this.redis);

	private final RedisConnector connector = new RedisConnector(this.factory);

	private final Stores onRedis = new Stores(new RedisCheckpointStore(this.connector, "test", "group", TIMEOUT),
			new RedisDeadLetterStore(this.connector, "test", "group", TIMEOUT));

	private Stores inMemory = Stores.inMemory();

	@BeforeEach
	void prepare() {
		acl(AclSetuserArgs.Builder.allCommands());
		this.redis.call((commands) -> commands.configSet("maxmemory", "0"));
		this.redis.call((commands) -> commands.flushall());
		this.inMemory = Stores.inMemory();
		prepare(this.onRedis);
		prepare(this.inMemory);
		assertThat(contents(this.onRedis)).isEqualTo(contents(this.inMemory));
	}

	@AfterAll
	void close() {
		this.onRedis.letters.close();
		this.onRedis.checkpoints.close();
		this.connector.stop();
		this.factory.destroy();
		this.redis.close();
	}

	private static void prepare(Stores stores) {
		stores.checkpoints.acquireNow(SHARD, TOKEN);
		stores.commit(new Commit(new CommitNumber(1, 0, 0), new Offset("3-0"), Set.of(new Offset("5-0")),
				Map.of("kept", "1", "changed", "1", "removed", "1"), List.of(retry("1-0"), retry("2-0")), Set.of(),
				List.of(record("3-0")))
			.withOutbox(Operation.outbox(false, List.of(), 1, 2, 3))
			.withTimers(Map.of(timer("kept"), Instant.EPOCH, timer("moved"), Instant.EPOCH, timer("removed"),
					Instant.EPOCH)));
		stores.checkpoints.seek(SHARD, new Offset("0"), false);
	}

	static Stream<Arguments> whatMayBeRefused() {
		return Stream.of(Operation.values())
			.flatMap((operation) -> operation.script.commands()
				.stream()
				.flatMap((command) -> Stream.of(false, true).map((full) -> Arguments.of(operation, command, full))));
	}

	@ParameterizedTest(name = "{0} without {1}, memory full: {2}")
	@MethodSource("whatMayBeRefused")
	void refusedScriptWritesNothingAndItsRetryIsExact(Operation operation, String command, boolean full) {
		Contents before = contents(this.onRedis);
		if (full) {
			this.redis.call((commands) -> commands.configSet("maxmemory", "1"));
		}
		acl(AclSetuserArgs.Builder.removeCommand(type(command)));

		StoreUnavailableException refusal = attempt(operation);

		acl(AclSetuserArgs.Builder.addCommand(type(command)));
		if (operation.writing.contains(command)) {
			assertThat(refusal).isNotNull();
		}
		if (refusal != null && !full) {
			assertThat(refusal).hasMessageContaining("+" + command);
		}
		// An acquisition may be refused when it has raised the fence: nobody is behind it
		// yet.
		if (refusal != null && operation != Operation.ACQUIRE) {
			assertThat(contents(this.onRedis)).as("after the refusal").isEqualTo(before);
		}
		this.redis.call((commands) -> commands.configSet("maxmemory", "0"));
		operation.performOn(this.onRedis);
		operation.performOn(this.inMemory);
		assertThat(contents(this.onRedis)).as("repeated").isEqualTo(contents(this.inMemory));
		Operation.ACQUIRE.performOn(this.onRedis);
		Operation.ACQUIRE.performOn(this.inMemory);
		assertThat(contents(this.onRedis)).as("for the next owner").isEqualTo(contents(this.inMemory));
	}

	private @Nullable StoreUnavailableException attempt(Operation operation) {
		try {
			operation.performOn(this.onRedis);
			return null;
		}
		catch (StoreUnavailableException ex) {
			return ex;
		}
	}

	private void acl(AclSetuserArgs rule) {
		this.redis.call((commands) -> commands.aclSetuser("default", rule));
	}

	private static CommandType type(String command) {
		return CommandType.valueOf(command.toUpperCase(Locale.ROOT));
	}

	private static Contents contents(Stores stores) {
		SeekRequest seek = stores.checkpoints.seeks(List.of(SHARD)).get(SHARD).pending();
		return new Contents(stores.checkpoints.read(SHARD), stores.checkpoints.commits(SHARD),
				Set.copyOf(stores.checkpoints.due(SHARD, 100, Long.MAX_VALUE, Set.of()).records()),
				stores.letters.countRetries(List.of(SHARD)),
				stores.list().stream().map(StoredDeadLetter::record).toList(), (seek != null) ? seek.after() : null,
				stores.checkpoints.outbox(SHARD, null, 100, 1_000_000).stream().map(Outbox.Entry::place).toList(),
				stores.checkpoints.timers(SHARD, null, 100));
	}

	private static TimerId timer(String name) {
		return new TimerId("key", name);
	}

	private static Commit.Retry retry(String offset) {
		return new Commit.Retry(record(offset), Duration.ZERO);
	}

	private static FailedRecord record(String offset) {
		Instant failed = Instant.parse("2026-01-01T00:00:00Z");
		return new FailedRecord(new Offset(offset), null, new byte[10], Map.of(), failed, 0, 0, "e", "s", failed);
	}

	/** Operation after {@link #prepare}. */
	private enum Operation {

		EXPIRE(DataScripts.STANDARD.expireDeadLetters(), "xtrim") {

			@Override
			void performOn(Stores stores) {
				stores.letters.expire(SHARD, new Retention(null, 0L));
			}

		},

		COMMIT(DataScripts.STANDARD.commit(), "hset", "hdel", "zadd", "zrem", "xadd") {

			@Override
			void performOn(Stores stores) {
				stores.commit(commit(new CommitNumber(2, 1, 0), 0));
			}

		},

		/** As after lost writes. */
		WRITE_BACK(DataScripts.STANDARD.commit(), "hset", "hdel", "zadd", "zrem", "xadd") {

			@Override
			void performOn(Stores stores) {
				stores.commit(commit(CommitNumber.ofWhole(2), 0));
			}

		},

		SEEKING_COMMIT(DataScripts.STANDARD.commit(), "hset", "hdel", "zadd", "zrem", "xadd") {

			@Override
			void performOn(Stores stores) {
				SeekRequest pending = stores.checkpoints.seeks(List.of(SHARD)).get(SHARD).pending();
				stores.commit(commit(new CommitNumber(2, 1, 0), (pending != null) ? pending.number() : 1));
			}

		},

		/** It removes nothing, and so needs fewer rights. */
		PARKING_COMMIT(DataScripts.STANDARD.commit(), "hset", "zadd") {

			@Override
			void performOn(Stores stores) {
				stores.commit(new Commit(new CommitNumber(2, 1, 0), new Offset("6-0"), Set.of(), Map.of(),
						List.of(retry("6-0")), Set.of(), List.of()));
			}

		},

		SENDING_COMMIT(DataScripts.STANDARD.commit(), "hset", "hdel", "zadd", "zrem", "xadd", "xdel") {

			@Override
			void performOn(Stores stores) {
				stores.commit(commit(new CommitNumber(2, 1, 0), 0)
					.withOutbox(outbox(false, List.of(place(1), place(3)), 4, 5)));
			}

		},

		/** Places all records again. */
		REPLACING_COMMIT(DataScripts.STANDARD.commit(), "hset", "hdel", "zadd", "zrem", "xadd", "xtrim") {

			@Override
			void performOn(Stores stores) {
				stores.commit(commit(CommitNumber.ofWhole(2), 0).withOutbox(outbox(true, List.of(), 4, 5)));
			}

		},

		/** Nothing waits in it. */
		EMPTYING_COMMIT(DataScripts.STANDARD.commit(), "hset", "hdel", "zadd", "zrem", "xadd", "xtrim") {

			@Override
			void performOn(Stores stores) {
				stores.commit(commit(CommitNumber.ofWhole(2), 0).withOutbox(outbox(true, List.of())));
			}

		},

		TIMERS_COMMIT(DataScripts.STANDARD.commit(), "hset", "zadd", "zrem") {

			@Override
			void performOn(Stores stores) {
				Map<TimerId, @Nullable Instant> timers = new HashMap<>(
						Map.of(timer("moved"), Instant.ofEpochMilli(5), timer("added"), Instant.EPOCH));
				timers.put(timer("removed"), null);
				stores.commit(Commit.of(new CommitNumber(2, 1, 0), new Offset("6-0"), Map.of()).withTimers(timers));
			}

		},

		/** Carries out a seek that removes the state, and so all timers. */
		CLEARING_COMMIT(DataScripts.STANDARD.commit(), "hset", "hdel", "zadd", "zrem", "xadd", "unlink") {

			@Override
			void performOn(Stores stores) {
				SeekRequest pending = stores.checkpoints.seeks(List.of(SHARD)).get(SHARD).pending();
				if (pending != null && !pending.clearsState()) {
					pending = stores.checkpoints.seek(SHARD, new Offset("0"), true);
				}
				Commit whole = commit(new CommitNumber(2, 1, 0), (pending != null) ? pending.number() : 1);
				stores.commit(new Commit(whole.number(), whole.offset(), whole.ahead(), whole.changes(),
						whole.retries(), whole.taken(), whole.deadLetters(), whole.seek(), whole.outbox(),
						Map.of(timer("set"), Instant.EPOCH), true));
			}

		},

		ACQUIRE(DataScripts.STANDARD.acquireShard(), "hset", "hdel") {

			@Override
			void performOn(Stores stores) {
				stores.checkpoints.acquireNow(SHARD, NEXT);
			}

		},

		SEEK(DataScripts.STANDARD.requestSeek(), "hset", "hdel") {

			@Override
			void performOn(Stores stores) {
				stores.checkpoints.seek(SHARD, new Offset("7-0"), true);
			}

		},

		COMPLETE(DataScripts.STANDARD.completeShard(), "hset", "hdel") {

			@Override
			void performOn(Stores stores) {
				stores.checkpoints.complete(SHARD, TOKEN, 1, 0);
			}

		},

		REMOVE(DataScripts.STANDARD.removeShard(), "unlink") {

			@Override
			void performOn(Stores stores) {
				stores.checkpoints.remove(SHARD.topic(), NEXT);
			}

		},

		SEND_BACK(DataScripts.STANDARD.sendBackDeadLetters(), "hset", "zadd", "xdel") {

			@Override
			void performOn(Stores stores) {
				stores.letters.sendBack(SHARD, stores.list());
			}

		},

		RETRY_WAITING(DataScripts.STANDARD.changeWaiting(), "zadd") {

			@Override
			void performOn(Stores stores) {
				stores.checkpoints.changeWaiting(SHARD, List.of(new Offset("1-0")), WaitingRecord.Change.RETRY_NOW);
			}

		},

		SEND_BACK_WAITING(DataScripts.STANDARD.changeWaiting(), "hset", "zadd") {

			@Override
			void performOn(Stores stores) {
				stores.checkpoints.changeWaiting(SHARD, List.of(new Offset("1-0"), new Offset("2-0")),
						WaitingRecord.Change.SEND_BACK);
			}

		},

		DROP_WAITING(DataScripts.STANDARD.changeWaiting(), "hset", "zrem", "hdel") {

			@Override
			void performOn(Stores stores) {
				stores.checkpoints.changeWaiting(SHARD, List.of(new Offset("1-0"), new Offset("2-0")),
						WaitingRecord.Change.DROP);
			}

		};

		private final LuaScript script;

		/** The commands that are known to be refused. */
		private final Set<String> writing;

		Operation(LuaScript script, String... writing) {
			this.script = script;
			this.writing = Set.of(writing);
		}

		/** May be repeated. */
		abstract void performOn(Stores stores);

		private static Outbox.Place place(long number) {
			return new Outbox.Place(TOKEN.value(), number);
		}

		private static Outbox.Changes outbox(boolean whole, List<Outbox.Place> removed, long... places) {
			ShardId target = ShardId.of("invoices", 2);
			return new Outbox.Changes(TOKEN.value(), place(5), Map.of(target, 5L),
					LongStream.of(places)
						.mapToObj((number) -> new Outbox.Entry(place(number), TOKEN.value(), target, number, "k",
								new byte[10], Map.of()))
						.toList(),
					removed, whole);
		}

		private static Commit commit(CommitNumber number, long seek) {
			Map<String, @Nullable String> changes = new HashMap<>(Map.of("changed", "2", "added", "2"));
			changes.put("removed", null);
			List<FailedRecord> letters = List.of(record("4-0"), record("1-0"));
			return new Commit(number, new Offset("6-0"), Set.of(new Offset("8-0")), changes,
					List.of(retry("2-0"), retry("6-0")), Set.of(new Offset("1-0"), new Offset("2-0")), letters, seek);
		}

	}

	/** The data plane of a group. */
	private record Stores(CheckpointStore checkpoints, DeadLetterStore letters) {

		static Stores inMemory() {
			MemoryCheckpointStore memory = new MemoryCheckpointStore();
			return new Stores(memory, new MemoryDeadLetterStore(memory));
		}

		void commit(Commit commit) {
			assertThat(Replies.await(this.checkpoints.commit(SHARD, TOKEN, commit)))
				.isEqualTo(CheckpointStore.CommitReply.COMMITTED);
		}

		List<StoredDeadLetter> list() {
			return this.letters.list(SHARD, null, 100);
		}

	}

	/** All that can be known of the shard, but for numbers of seeks. */
	private record Contents(Checkpoint checkpoint, CommitHistory commits, Set<FailedRecord> due,
			Map<ShardId, Long> retries, List<FailedRecord> letters, @Nullable Offset seek, List<Outbox.Place> outbox,
			List<StoredTimer> timers) {

	}

}
