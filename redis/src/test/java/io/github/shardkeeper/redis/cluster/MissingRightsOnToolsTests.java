package io.github.shardkeeper.redis.cluster;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.ScoredValue;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.protocol.CommandType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.ClusterParameters;
import io.github.shardkeeper.cluster.barrier.BarrierStore;
import io.github.shardkeeper.cluster.lock.LockStore;
import io.github.shardkeeper.cluster.parameter.ParameterStore;
import io.github.shardkeeper.cluster.session.ViewStore;
import io.github.shardkeeper.cluster.signal.SignalStore.Handled;
import io.github.shardkeeper.cluster.signal.SignalStore.Listening;
import io.github.shardkeeper.cluster.signal.SignalStore.Outcome;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.redis.LuaScript;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.redis.coordination.RedisCoordinationStore;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A script of the cluster tools for which Redis refuses one command, whichever it is, its
 * keys or its channels, for want of a right: the exception names the right, and the same
 * call succeeds once it is granted. The same calls succeed at {@code maxmemory}.
 */
@OnEveryRedis
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("proof")
class MissingRightsOnToolsTests {

	private static final Duration LONG = Duration.ofHours(1);

	/** Without it, the script does the same in a slower way. */
	private static final Set<String> NOT_NEEDED = Set.of("hsetnx");

	private static final MemberId A = MemberId.of("a", "1");

	private static final MemberId B = MemberId.of("b", "1");

	private static final MemberId GONE = MemberId.of("gone", "1");

	private final EmbeddedRedis redis = EmbeddedRedis.start("--maxmemory-policy", "noeviction");

	private final LettuceConnectionFactory factory = RedisClients.factory(this.redis);

	private final RedisConnector connector = new RedisConnector(this.factory);

	private final RedisCoordinationStore group = new RedisCoordinationStore(this.connector, "test", "group", LONG);

	private final ClusterLink link = new ClusterLink(this.connector, "test", "group", Duration.ofSeconds(10),
			ReplicaWait.NONE);

	private final Stores stores = new Stores(this.redis, this.group, new RedisLockStore(this.link),
			new RedisBarrierStore(this.link), new RedisSignalStore(this.link), new RedisParameterStore(this.link),
			new RedisViewStore(this.link));

	/** The commands that are called, by operation. */
	private final Map<Operation, Set<String>> called = new EnumMap<>(Operation.class);

	@BeforeEach
	void prepare() {
		grantAll();
		this.redis.call((commands) -> commands.configSet("maxmemory", "0"));
		// FLUSHALL is slow on Redis 7.
		List<String> keys = this.redis.call((commands) -> commands.keys("*"));
		this.redis.call((commands) -> keys.isEmpty() ? 0 : commands.del(keys.toArray(String[]::new)));
		this.stores.join(A);
		HeartbeatReply.Alive leads = (HeartbeatReply.Alive) this.group.heartbeat(A, Seen.NOTHING, true,
				LoadReport.NONE);
		this.group.endClaims(A, leads.epoch(), leads.claimsUntilMillis());
		this.stores.join(B);
		this.stores.views.read(A, "a");
	}

	@AfterAll
	void close() {
		this.link.close();
		this.group.close();
		this.connector.stop();
		this.factory.destroy();
		this.redis.close();
	}

	private void grantAll() {
		acl(AclSetuserArgs.Builder.allCommands().allKeys().allChannels());
	}

	private void acl(AclSetuserArgs rule) {
		this.redis.call((commands) -> commands.aclSetuser("default", rule));
	}

	@Test
	void everyScriptIsTried() throws IOException {
		Set<String> files = new TreeSet<>();
		for (Resource file : new PathMatchingResourcePatternResolver()
			.getResources("classpath*:io/github/shardkeeper/redis/cluster/*.lua")) {
			files.add(String.valueOf(file.getFilename()));
		}

		assertThat(Stream.of(Operation.values())
			.flatMap((operation) -> Stream.of(operation.files))
			.filter((file) -> !file.equals("cluster.lua"))
			.distinct())
			.containsExactlyInAnyOrderElementsOf(files.stream().filter((file) -> !file.equals("cluster.lua")).toList());
	}

	static Stream<Arguments> commands() {
		return Stream.of(Operation.values())
			.flatMap((operation) -> operation.script()
				.commands()
				.stream()
				.map((command) -> Arguments.of(operation, command)));
	}

	@ParameterizedTest(name = "{0} without {1}")
	@MethodSource("commands")
	void missingRightToACommandIsNamed(Operation operation, String command) {
		boolean needed = called(operation).contains(command) && !NOT_NEEDED.contains(command);
		operation.prepare(this.stores);
		acl(AclSetuserArgs.Builder
			.removeCommand(CommandType.valueOf(command.split("\\|")[0].toUpperCase(Locale.ROOT))));

		StoreUnavailableException refusal = attempt(operation);

		acl(AclSetuserArgs.Builder.allCommands());
		if (needed) {
			assertThat(refusal).isNotNull()
				.hasMessageContaining("lacks the right +" + command.split("\\|")[0])
				.hasMessageMatching(".*which the script (" + String.join("|", operation.files) + ") needs.*")
				.matches(StoreUnavailableException::isRefusal);
			operation.performOn(this.stores);
		}
		operation.verify(this.stores);
	}

	@ParameterizedTest
	@EnumSource
	void missingRightToTheKeysIsNamed(Operation operation) {
		operation.prepare(this.stores);
		acl(AclSetuserArgs.Builder.resetKeys().keyPattern("other:*"));

		StoreUnavailableException refusal = attempt(operation);

		grantAll();
		assertThat(refusal).isNotNull()
			.hasMessageContaining("lacks the right ~test:*")
			.matches(StoreUnavailableException::isRefusal);
		operation.performOn(this.stores);
		operation.verify(this.stores);
	}

	@ParameterizedTest
	@EnumSource
	void missingRightToTheChannelsIsNamed(Operation operation) {
		boolean needed = called(operation).contains("publish");
		operation.prepare(this.stores);
		acl(AclSetuserArgs.Builder.resetChannels());

		StoreUnavailableException refusal = attempt(operation);

		grantAll();
		if (needed) {
			assertThat(refusal).isNotNull()
				.hasMessageContaining("lacks the right &test:*")
				.matches(StoreUnavailableException::isRefusal);
			operation.performOn(this.stores);
		}
		operation.verify(this.stores);
	}

	@Test
	void missingRightToSubscribeIsNamed() {
		acl(AclSetuserArgs.Builder.resetChannels());
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> this.link.subscribe("a", (message) -> {
			}))
			.withMessageContaining("lacks the right &test:*")
			.matches(StoreUnavailableException::isRefusal);

		acl(AclSetuserArgs.Builder.allChannels().removeCommand(CommandType.SUBSCRIBE));
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> this.link.subscribe("a", (message) -> {
			}))
			.withMessageContaining("lacks the right +subscribe")
			.matches(StoreUnavailableException::isRefusal);
	}

	@ParameterizedTest
	@EnumSource
	void fullRedisAcceptsEveryScript(Operation operation) {
		operation.prepare(this.stores);
		this.redis.call((commands) -> commands.configSet("maxmemory", "1"));

		operation.performOn(this.stores);

		this.redis.call((commands) -> commands.configSet("maxmemory", "0"));
		operation.verify(this.stores);
	}

	/** Returns the commands that an operation calls in fact. */
	private Set<String> called(Operation operation) {
		Set<String> known = this.called.get(operation);
		if (known != null) {
			return known;
		}
		operation.prepare(this.stores);
		this.redis.call((commands) -> commands.configResetstat());
		operation.performOn(this.stores);
		String statistics = this.redis.call((commands) -> commands.info("commandstats"));
		Set<String> found = operation.script()
			.commands()
			.stream()
			.filter((command) -> statistics.contains("cmdstat_" + command.split("\\|")[0] + ":")
					|| statistics.contains("cmdstat_" + command + ":"))
			.collect(Collectors.toSet());
		this.called.put(operation, found);
		prepare();
		return found;
	}

	private @Nullable StoreUnavailableException attempt(Operation operation) {
		try {
			operation.performOn(this.stores);
			return null;
		}
		catch (StoreUnavailableException ex) {
			return ex;
		}
	}

	/** Operation of which each part of its script is tried. */
	private enum Operation {

		ACQUIRE("acquire-free-lock.lua", "cluster.lua", "locks.lua", "acquire-lock.lua") {

			@Override
			void performOn(Stores stores) {
				assertThat(stores.acquire(A, "a.1").outcome()).isEqualTo(LockStore.Outcome.GRANTED);
			}

		},

		ACQUIRE_AND_WAIT("acquire-free-lock.lua", "cluster.lua", "locks.lua", "acquire-lock.lua") {

			@Override
			void prepare(Stores stores) {
				stores.acquire(B, "b.1");
			}

			@Override
			void performOn(Stores stores) {
				assertThat(stores.acquire(A, "a.1").outcome()).isEqualTo(LockStore.Outcome.HELD);
			}

			@Override
			void verify(Stores stores) {
				stores.locks.release(B, "lock", "b.1");
				assertThat(stores.acquire(A, "a.1").outcome()).isEqualTo(LockStore.Outcome.GRANTED);
			}

		},

		RELEASE("release-unwanted-lock.lua", "cluster.lua", "locks.lua", "release-lock.lua") {

			@Override
			void prepare(Stores stores) {
				stores.acquire(A, "a.1");
				stores.acquire(B, "b.1");
			}

			@Override
			void performOn(Stores stores) {
				stores.locks.release(A, "lock", "a.1");
			}

			@Override
			void verify(Stores stores) {
				assertThat(stores.acquire(A, "a.2").outcome()).isEqualTo(LockStore.Outcome.HELD);
				assertThat(stores.acquire(B, "b.1").outcome()).isEqualTo(LockStore.Outcome.GRANTED);
			}

		},

		CHECK("locks.lua", "check-waiting.lua") {

			@Override
			void prepare(Stores stores) {
				stores.join(GONE);
				stores.acquire(GONE, "gone.1");
				stores.acquire(B, "b.1");
				stores.group.leaveGroup(GONE, Duration.ZERO);
			}

			@Override
			void performOn(Stores stores) {
				stores.locks.check(Map.of("b.1", "lock"));
			}

			@Override
			void verify(Stores stores) {
				assertThat(stores.locks.check(Map.of("b.1", "lock"))).containsExactly("b.1");
				assertThat(stores.locks.held(B)).containsEntry("lock", "b.1");
			}

		},

		READ_HELD("locks.lua", "read-held-locks.lua") {

			@Override
			void prepare(Stores stores) {
				stores.acquire(A, "a.1");
			}

			@Override
			void performOn(Stores stores) {
				assertThat(stores.locks.held(A)).containsOnly(Map.entry("lock", "a.1"));
			}

		},

		ENTER("barriers.lua", "enter-barrier.lua") {

			@Override
			void prepare(Stores stores) {
				stores.enter(A, "a.1");
			}

			@Override
			void performOn(Stores stores) {
				assertThat(stores.enter(B, "b.1")).isInstanceOf(BarrierStore.Entered.class);
			}

			@Override
			void verify(Stores stores) {
				assertThat(stores.enter(A, "a.1")).isInstanceOf(BarrierStore.Entered.class);
			}

		},

		LEAVE("barriers.lua", "leave-barrier.lua") {

			private long round;

			@Override
			void prepare(Stores stores) {
				stores.enter(A, "a.1");
				this.round = ((BarrierStore.Entered) stores.enter(B, "b.1")).round();
				stores.barriers.leave(A, "barrier", "a.1", this.round);
			}

			@Override
			void performOn(Stores stores) {
				assertThat(stores.barriers.leave(B, "barrier", "b.1", this.round)).isEqualTo(new BarrierStore.Over());
			}

			@Override
			void verify(Stores stores) {
				assertThat(stores.barriers.leave(A, "barrier", "a.1", this.round)).isEqualTo(new BarrierStore.Over());
				assertThat(stores.enter(A, "a.2")).isEqualTo(new BarrierStore.Waiting(1, 2));
			}

		},

		WITHDRAW("barriers.lua", "withdraw-from-barrier.lua") {

			private long round;

			@Override
			void prepare(Stores stores) {
				stores.enter(A, "a.1");
				this.round = ((BarrierStore.Entered) stores.enter(B, "b.1")).round();
			}

			@Override
			void performOn(Stores stores) {
				stores.barriers.withdraw(B, "barrier", "b.1", true);
			}

			@Override
			void verify(Stores stores) {
				assertThat(stores.barriers.leave(A, "barrier", "a.1", this.round))
					.isEqualTo(new BarrierStore.Broken(List.of(B)));
			}

		},

		SEND("signals.lua", "send-signal.lua") {

			@Override
			void prepare(Stores stores) {
				stores.acknowledge(A, Handled.NOTHING);
			}

			@Override
			void performOn(Stores stores) {
				stores.signals.send("signal", "payload", LONG, "a");
			}

			@Override
			void verify(Stores stores) {
				assertThat(stores.acknowledge(A, Handled.NOTHING)).containsOnlyKeys("signal");
			}

		},

		ACKNOWLEDGE("signals.lua", "acknowledge-signals.lua") {

			private long number;

			@Override
			void prepare(Stores stores) {
				stores.acknowledge(A, Handled.NOTHING);
				this.number = stores.signals.send("signal", "payload", LONG, "a");
			}

			@Override
			void performOn(Stores stores) {
				assertThat(stores.acknowledge(A, new Handled(this.number, Outcome.OK, ""))).isEmpty();
			}

			@Override
			void verify(Stores stores) {
				assertThat(stores.signals.acknowledgements("signal"))
					.containsOnly(Map.entry(A, new Handled(this.number, Outcome.OK, "")));
			}

		},

		READ_ACKNOWLEDGEMENTS("read-signal-acks.lua") {

			@Override
			void prepare(Stores stores) {
				stores.acknowledge(A, Handled.NOTHING);
			}

			@Override
			void performOn(Stores stores) {
				assertThat(stores.signals.acknowledgements("signal")).containsOnlyKeys(A);
			}

		},

		SET("parameters.lua", "set-parameter.lua") {

			@Override
			void prepare(Stores stores) {
				stores.fillHistory("parameter");
			}

			@Override
			void performOn(Stores stores) {
				stores.parameters.set("parameter", "2", "ann", ParameterStore.ANY_VERSION);
			}

			@Override
			void verify(Stores stores) {
				List<String> values = new ArrayList<>();
				stores.parameters.history("parameter").forEach((change) -> values.add(change.value()));
				assertThat(values).hasSize(100).startsWith("2", "1").containsOnlyOnce("2");
				assertThat(stores.parameters.read(0).entries()).hasSize(1)
					.allSatisfy((entry) -> assertThat(entry.change())
						.isEqualTo(stores.parameters.history("parameter").get(0)));
			}

		},

		READ_PARAMETERS("parameters.lua", "read-parameters.lua") {

			@Override
			void prepare(Stores stores) {
				stores.parameters.set("parameter", "1", "ann", ParameterStore.ANY_VERSION);
			}

			@Override
			void performOn(Stores stores) {
				assertThat(stores.parameters.read(0).entries()).hasSize(1);
			}

		},

		READ_HISTORY("parameters.lua", "read-parameter-history.lua") {

			@Override
			void prepare(Stores stores) {
				stores.parameters.set("parameter", "1", "ann", ParameterStore.ANY_VERSION);
			}

			@Override
			void performOn(Stores stores) {
				assertThat(stores.parameters.history("parameter")).hasSize(1);
			}

		},

		/** After a member has gone that had something of all tools. */
		READ_VIEW("locks.lua", "barriers.lua", "signals.lua", "read-view.lua", "explain-failed-freeing.lua") {

			private long round;

			@Override
			void prepare(Stores stores) {
				stores.join(GONE);
				stores.views.read(A, "a");
				stores.acquire(GONE, "gone.1");
				stores.acquire(B, "b.1");
				stores.locks.acquire(new LockStore.Request(A, "other", "a.2", Duration.ZERO, Duration.ZERO, true));
				stores.locks
					.acquire(new LockStore.Request(GONE, "other", "gone.2", Duration.ZERO, Duration.ZERO, true));
				stores.enter(A, "a.1");
				this.round = ((BarrierStore.Entered) stores.enter(GONE, "gone.1")).round();
				stores.acknowledge(GONE, Handled.NOTHING);
				stores.group.leaveGroup(GONE, Duration.ZERO);
			}

			@Override
			void performOn(Stores stores) {
				ViewStore.Reply reply = stores.views.read(A, "a");
				if (reply.failure() != null) {
					throw reply.failure();
				}
				assertThat(reply.members()).hasSize(2);
			}

			@Override
			void verify(Stores stores) {
				stores.locks.check(Map.of("b.1", "lock"));
				assertThat(stores.locks.held(B)).containsEntry("lock", "b.1");
				assertThat(stores.locks.check(Map.of("gone.2", "other"))).containsExactly("gone.2");
				assertThat(stores.barriers.leave(A, "barrier", "a.1", this.round))
					.isEqualTo(new BarrierStore.Broken(List.of(GONE)));
			}

		};

		private final String[] files;

		Operation(String... files) {
			this.files = files;
		}

		LuaScript script() {
			return List.of(this.files).contains("cluster.lua")
					? LuaScript.load(ClusterLink.class, ScriptOutputType.MULTI, this.files)
					: ClusterLink.script(ScriptOutputType.MULTI, this.files);
		}

		void prepare(Stores stores) {
		}

		/** May be repeated. */
		abstract void performOn(Stores stores);

		/** Checks what it has done. */
		void verify(Stores stores) {
			performOn(stores);
		}

	}

	/** The stores of the tools of a group. */
	private record Stores(EmbeddedRedis redis, RedisCoordinationStore group, RedisLockStore locks,
			RedisBarrierStore barriers, RedisSignalStore signals, RedisParameterStore parameters,
			RedisViewStore views) {

		void join(MemberId member) {
			this.group.joinGroup(member, new MemberDescription(new TreeMap<>(), ApplicationVersion.UNKNOWN), LONG,
					LONG);
		}

		LockStore.Reply acquire(MemberId session, String ticket) {
			return this.locks
				.acquire(new LockStore.Request(session, "lock", ticket, Duration.ZERO, Duration.ZERO, true));
		}

		BarrierStore.Reply enter(MemberId session, String ticket) {
			return this.barriers.enter(new BarrierStore.Request(session, "barrier", ticket, 2, 0));
		}

		/** One more change removes the oldest one. */
		void fillHistory(String name) {
			@SuppressWarnings("unchecked")
			ScoredValue<String>[] entries = IntStream.rangeClosed(1, ClusterParameters.HISTORY_LENGTH)
				.mapToObj((version) -> ScoredValue.just(0, "%s|%016d|1|V|ann|1".formatted(name, version)))
				.toArray(ScoredValue[]::new);
			this.redis.call((commands) -> commands.zadd("test:{group}:parameterHistory", entries));
		}

		@Nullable Map<String, ?> acknowledge(MemberId session, Handled handled) {
			return this.signals.acknowledge(session, Map.of("signal", new Listening(handled, Duration.ofHours(1))));
		}

	}

}
