package io.github.shardkeeper.worker;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

import javax.sql.DataSource;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.AbstractDataSource;

import io.github.shardkeeper.OnShardTimer;
import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.ShardTimer;
import io.github.shardkeeper.ShardTimers;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CallTransactions;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.CommitHistory;
import io.github.shardkeeper.checkpoint.CommitHistory.LastCommit;
import io.github.shardkeeper.checkpoint.DeadLetterStore.StoredDeadLetter;
import io.github.shardkeeper.checkpoint.Outbox;
import io.github.shardkeeper.checkpoint.Replies;
import io.github.shardkeeper.checkpoint.TimerId;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.handler.ShardHandlerDetector;
import io.github.shardkeeper.jdbc.JdbcDataPlane;
import io.github.shardkeeper.jdbc.TestDataPlane;
import io.github.shardkeeper.jdbc.TestDatabase;
import io.github.shardkeeper.output.OutputSettings;
import io.github.shardkeeper.output.OutputTargets;
import io.github.shardkeeper.output.TestTargets;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.source.SequencedAppender;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.state.StateCache;
import io.github.shardkeeper.state.value.StateValues;
import io.github.shardkeeper.testsupport.MoreInProof;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.testsupport.Schedules;
import io.github.shardkeeper.testsupport.SettableClock;
import io.github.shardkeeper.testsupport.TimersInForce;
import io.github.shardkeeper.testsupport.UnreliableNetwork;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.worker.record.BufferBudget;
import io.github.shardkeeper.worker.shard.ConsumerEvents;
import io.github.shardkeeper.worker.shard.ConsumerMeters;
import io.github.shardkeeper.worker.shard.ConsumerSettings;
import io.github.shardkeeper.worker.shard.ConsumerSettings.OnFailure;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;
import io.github.shardkeeper.worker.shard.ConsumerSettings.StateRead;
import io.github.shardkeeper.worker.shard.WorkerContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Seeded schedules of one shard whose handler writes rows of a database in memory, with
 * the real worker and the real statements, shard by shard or key by key. Owners die, or
 * freeze in the middle of a call and wake up when others have replaced them; calls of
 * other keys begin and end while one is open; handlers fail; the end of a transaction may
 * be lost, or its reply, or it may take effect later; and so may each request to append
 * what the calls send to other topics. Calls set, replace and cancel timers, too, and put
 * entries that expire. A process may begin again with the shard under the same token,
 * while a commit of its abandoned worker is on its way. Afterwards each record has one
 * row or one dead letter, in the order of its key, the state has counted each row, each
 * timer has fired once unless it was replaced or cancelled, what has expired is gone, and
 * each target has one record for each row; at least one if the database has failed over
 * to a replica that lacked commits. Each rule that keeps it so is broken on purpose once,
 * and that is found.
 */
@MoreInProof
@Promise({ "Records exactly once", "Timers fire once" })
class TransactedSchedulesTests {

	private static final int SCHEDULES = Schedules.count("shardkeeper.transacted.schedules", 30, 400);

	private static final int SCHEDULES_WITH_FAILOVERS = Math.max(1, SCHEDULES / 10);

	private static final int MOST_SCHEDULES = 10_000;

	private static HikariDataSource database;

	private final Logger logger = (Logger) LoggerFactory.getLogger("io.github.shardkeeper");

	private Level before;

	@BeforeAll
	static void open() {
		database = new HikariDataSource();
		// A lock whose transaction ends late is not waited for: there is one thread.
		database.setJdbcUrl("jdbc:h2:mem:schedules;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=1");
		database.setMaximumPoolSize(64);
		database.setMinimumIdle(0);
		TestDatabase.H2.createTables(database);
		JdbcTemplate jdbc = new JdbcTemplate(database);
		jdbc.execute("create table booked (seq bigint generated by default as identity, run varchar(100) not null, "
				+ "id int not null, record_key varchar(10) not null)");
		jdbc.execute("create index booked_run on booked (run)");
		Replica.createTables(jdbc);
	}

	@AfterAll
	static void close() {
		database.close();
	}

	@BeforeEach
	void silence() {
		this.before = this.logger.getLevel();
		this.logger.setLevel(Level.OFF);
	}

	@AfterEach
	void speak() {
		this.logger.setLevel(this.before);
	}

	@Test
	void everyRecordIsBookedOnceAndInTheOrderOfItsKey() {
		int owners = 0;
		int interleaved = 0;
		int overtaken = 0;
		for (long seed = 1; seed <= SCHEDULES; seed++) {
			Schedule schedule = new Schedule(seed, null, false);
			owners += schedule.run();
			interleaved += schedule.interleaved;
			overtaken += schedule.overtaken;
		}
		System.out.printf(
				"%d schedules with %d owners; %d steps were made within open transactions; "
						+ "%d commits had no reply when a process began again under its token%n",
				SCHEDULES, owners, interleaved, overtaken);
		assertThat(owners).isGreaterThan(2 * SCHEDULES);
		assertThat(interleaved).isGreaterThan(5 * SCHEDULES);
		assertThat(overtaken).isGreaterThan(SCHEDULES / 5);
	}

	@Test
	void everyRecordIsBookedOnceThoughTheDatabaseLosesCommits() {
		int lost = 0;
		for (long seed = 1; seed <= SCHEDULES_WITH_FAILOVERS; seed++) {
			Schedule schedule = new Schedule(seed, null, true);
			schedule.run();
			lost += schedule.lostRows;
		}
		System.out.printf("%d schedules with failovers of the database, which lost %d rows%n", SCHEDULES_WITH_FAILOVERS,
				lost);
		assertThat(lost).isGreaterThan(5 * SCHEDULES_WITH_FAILOVERS);
	}

	@ParameterizedTest
	@EnumSource
	@Tag("proof")
	void brokenRuleIsFound(Rule broken) {
		AssertionError found = null;
		long seed = 0;
		while (found == null && seed < MOST_SCHEDULES) {
			try {
				new Schedule(++seed, broken, broken.needsFailover()).run();
			}
			catch (AssertionError ex) {
				found = ex;
			}
		}
		assertThat(found).as("found within %d schedules", MOST_SCHEDULES).isNotNull();
		System.out.printf("Without the rule that %s: found by seed %d: %.120s%n", broken, seed, found.getMessage());
	}

	/** What keeps rows exactly once. */
	enum Rule {

		/** Otherwise an open transaction of an earlier owner is committed. */
		THE_COMMIT_REQUIRES_THE_TOKEN,
		/** Otherwise a late commit of one is taken for the first of the next. */
		WORKERS_UNDER_ONE_TOKEN_NUMBER_THEIR_COMMITS_APART,
		/** Otherwise an earlier owner commits after the new one has read. */
		THE_TOKEN_IS_RAISED_BEFORE_THE_OFFSET_IS_READ,
		/** Otherwise the rows of a call stay though it was rolled back. */
		ROWS_AND_OFFSET_ARE_ONE_TRANSACTION,
		/** Otherwise the next owner handles what was done after the offset again. */
		THE_NEXT_OWNER_KNOWS_WHAT_IS_DONE_AHEAD,
		/** Otherwise a record is neither handled nor stored. */
		FAILED_RECORDS_ARE_STORED_WITH_THE_OFFSET,
		/** Otherwise records of calls that were rolled back are sent. */
		RECORDS_ARE_FORWARDED_AFTER_THE_TRANSACTION,
		/** Otherwise an earlier owner adds what the new one sends, too. */
		THE_OUTBOX_IS_FENCED_WITH_THE_OFFSET,
		/** Otherwise a target takes a new record for one that it has. */
		NO_NUMBER_IS_GIVEN_TWICE,
		/** Otherwise a repeated request appends again. */
		TARGETS_KEEP_THE_NUMBERS,
		/** Otherwise what an owner has left is never sent. */
		THE_NEXT_OWNER_FORWARDS_WHAT_WAITS,
		/** Otherwise an owner goes on after commits that the database has lost. */
		A_COMMIT_REQUIRES_THE_ONE_BEFORE,
		/** Otherwise lost rows of an idle shard are missing until its next record. */
		OWNERS_COMPARE_THEIR_COMMITS_AFTER_A_FAILOVER,
		/** Otherwise they fire again for the next owner. */
		TIMERS_THAT_HAVE_FIRED_ARE_REMOVED,
		/** Otherwise nobody fires what an earlier owner has set. */
		THE_NEXT_OWNER_READS_THE_TIMERS,
		/** Otherwise the state grows for ever. */
		WHAT_HAS_EXPIRED_IS_REMOVED;

		boolean needsFailover() {
			return this == A_COMMIT_REQUIRES_THE_ONE_BEFORE || this == OWNERS_COMPARE_THEIR_COMMITS_AFTER_A_FAILOVER;
		}

	}

	private static final class Schedule {

		private static final ShardId SHARD = ShardId.of("orders", 1);

		private static final int STEPS = 60;

		/** Before the time of a timer, in the offset of its dead letter. */
		private static final String TIMER = "timer:";

		private static final int KEYS = 5;

		private static final int DEEPEST = 3;

		private final long seed;

		private final String run;

		private final Rule broken;

		private final RandomGenerator random;

		private final boolean byKey;

		private final ShardHandler handler;

		/** Connections whose commits are on their way. */
		private final List<Connection> late = new ArrayList<>();

		/** Owners that were replaced, and do not know it. */
		private final List<Owner> frozen = new ArrayList<>();

		private final List<CheckpointStore> stores = new ArrayList<>();

		private final Targets targets = new Targets();

		/** To the store and to the targets, as far as nobody waits for the reply. */
		private final UnreliableNetwork requests;

		private boolean calm;

		private boolean failing;

		private int depth;

		private int interleaved;

		/** Commits that were not answered when their worker was abandoned. */
		private int overtaken;

		private Owner owner;

		private int fed;

		private int tokens;

		/** Time that has passed, by the clock of all owners. */
		private Duration passed = Duration.ZERO;

		private final boolean failsOver;

		/** Of failovers alone, so that there is the same schedule without them. */
		private final RandomGenerator failovers;

		private final Replica replica;

		private int lostRows;

		Schedule(long seed, Rule broken, boolean failsOver) {
			this.seed = seed;
			this.failsOver = failsOver;
			this.failovers = new Random(seed);
			this.run = broken + "-" + seed + (failsOver ? "-with-failovers" : "");
			this.broken = broken;
			this.replica = new Replica(database, this.run);
			this.random = new Random(seed);
			this.requests = new UnreliableNetwork(this.random);
			this.byKey = this.random.nextInt(3) > 0;
			DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
			beans.registerSingleton("handler", new Booking());
			this.handler = new ShardHandlerDetector(beans, new JsonPayloadConverter(new JsonMapper()))
				.detect(Map.of("orders", 2))
				.get("orders");
			this.owner = new Owner();
		}

		/** Returns how many owners there were. */
		int run() {
			try {
				for (int step = 0; step < STEPS; step++) {
					step();
					if (this.failsOver) {
						mayFailOver();
					}
				}
				settle();
				if (this.failsOver) {
					// No record comes that would find it.
					failOver();
					compare();
					rest();
				}
			}
			finally {
				Thread.interrupted();
				this.late.forEach(Schedule::commitLate);
				this.stores.forEach(CheckpointStore::close);
			}
			verify();
			return this.tokens;
		}

		private void verify() {
			JdbcDataPlane plane = TestDataPlane.create(database, this.run, InstantSource.system());
			Map<String, List<Integer>> booked = new TreeMap<>();
			List<Integer> all = new ArrayList<>();
			new JdbcTemplate(database).query("select id, record_key from booked where run = ? order by seq", (row) -> {
				booked.computeIfAbsent(row.getString(2), (key) -> new ArrayList<>()).add(row.getInt(1));
				all.add(row.getInt(1));
			}, this.run);
			int rows = all.size();
			List<String> timersGivenUp = new ArrayList<>();
			for (StoredDeadLetter letter : plane.deadLetters().list(SHARD, null, 1_000)) {
				String offset = letter.record().offset().value();
				if (offset.startsWith(TIMER)) {
					timersGivenUp.add(offset.substring(TIMER.length(), offset.indexOf(':', TIMER.length())));
				}
				else {
					all.add(Integer.parseInt(offset));
				}
			}
			List<Integer> expected = new ArrayList<>();
			for (int number = 1; number <= this.fed; number++) {
				expected.add(number);
			}
			assertThat(all).as("seed %d: rows and dead letters", this.seed)
				.containsExactlyInAnyOrderElementsOf(expected);
			booked.forEach((key, ids) -> assertThat(ids).as("seed %d: order of %s", this.seed, key).isSorted());
			verifySent(booked);
			try (CheckpointStore store = plane.checkpoints(null)) {
				Checkpoint checkpoint = store.read(SHARD);
				if (this.fed > 0) {
					assertThat(checkpoint.offset()).as("seed %d: offset", this.seed)
						.isEqualTo(new Offset(Integer.toString(this.fed)));
				}
				assertThat(checkpoint.state().getOrDefault("rows", "0")).as("seed %d: state", this.seed)
					.isEqualTo(Integer.toString(rows));
				List<String> wrong = TimersInForce.wrong(checkpoint.state());
				// What is a dead letter does not hold up those that are due later.
				wrong.removeIf((timer) -> timer.contains(TimersInForce.OVERTAKES)
						&& timersGivenUp.stream().anyMatch((due) -> timer.contains("dueAt=" + due + "]")));
				assertThat(wrong).as("seed %d: timers", this.seed).isEmpty();
				assertThat(TimersInForce.left(checkpoint.state())).as("seed %d: timers left", this.seed)
					.hasSizeLessThanOrEqualTo(timersGivenUp.size());
				assertThat(store.timers(SHARD, null, 10)).as("seed %d: stored timers", this.seed).isEmpty();
				assertThat(checkpoint.state().keySet()).as("seed %d: entries that expire", this.seed)
					.noneMatch((key) -> key.startsWith(Booking.EXPIRING) || key.startsWith(Booking.WRONG));
			}
		}

		private void verifySent(Map<String, List<Integer>> booked) {
			List<Integer> rows = booked.values().stream().flatMap(List::stream).toList();
			if (this.failsOver) {
				assertThat(this.targets.received(TestTargets.MAILS)).as("seed %d: mails", this.seed).containsAll(rows);
				return;
			}
			assertThat(this.targets.received(TestTargets.MAILS)).as("seed %d: mails", this.seed)
				.containsExactlyInAnyOrderElementsOf(rows);
			for (ShardId invoices : List.of(TestTargets.INVOICES, TestTargets.OTHER_INVOICES)) {
				assertThat(this.targets.received(invoices)).as("seed %d: %s", this.seed, invoices)
					.containsExactlyInAnyOrderElementsOf(
							rows.stream().filter((number) -> invoices.id().equals(invoices(number))).toList());
			}
			booked.forEach((key,
					ids) -> assertThat(this.targets.received(TestTargets.MAILS).stream().filter(ids::contains).toList())
						.as("seed %d: order of the mails of %s", this.seed, key)
						.isSorted());
			if (!this.byKey) {
				assertThat(this.targets.received(TestTargets.MAILS)).as("seed %d: order of the mails", this.seed)
					.isSorted();
			}
		}

		/** Returns the id of the shard of {@code invoices}. */
		private static String invoices(int number) {
			return (number % 3 == 0) ? "1" : "0";
		}

		private void step() {
			if (this.broken == Rule.WORKERS_UNDER_ONE_TOKEN_NUMBER_THEIR_COMMITS_APART && this.random.nextInt(3) == 0) {
				// Otherwise it takes a thousand schedules.
				beginTwice();
				return;
			}
			switch (this.random.nextInt(11)) {
				case 0, 1, 2 -> feed(1 + this.random.nextInt(6));
				case 3 -> this.failing = this.random.nextBoolean();
				case 4 -> arrive();
				case 5 -> {
					if (this.random.nextInt(3) == 0) {
						replace();
					}
				}
				case 6 -> List.copyOf(this.frozen).forEach(Owner::run);
				case 7 -> this.owner.pass(Duration.ofMillis(this.random.nextInt(8_000)));
				case 8 -> {
					if (this.failsOver) {
						// Not both: a claim that is not granted, and commits that are
						// lost.
						replace();
					}
					else if (this.random.nextBoolean()) {
						this.owner.beginAgain();
					}
					else {
						beginTwice();
					}
				}
				default -> this.owner.runOne();
			}
			if (this.random.nextInt(3) == 0) {
				this.owner.run();
			}
		}

		/** Steps that are made while the transaction of a call is open. */
		private void meanwhile() {
			if (this.calm || this.depth == DEEPEST || this.random.nextInt(3) > 0) {
				return;
			}
			this.depth++;
			boolean interrupted = Thread.interrupted();
			for (int i = this.random.nextInt(4); i >= 0; i--) {
				step();
				this.interleaved++;
				interrupted |= Thread.interrupted();
			}
			this.depth--;
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}

		private void feed(int more) {
			this.fed += more;
			this.owner.deliver();
		}

		private void arrive() {
			this.requests.arrive();
			int number = this.random.nextInt(1 + this.late.size());
			for (int i = 0; i < number && !this.late.isEmpty(); i++) {
				commitLate(this.late.remove(this.random.nextInt(this.late.size())));
			}
		}

		/** The owner is dead, or wakes up later. */
		private void replace() {
			if (this.random.nextBoolean()) {
				this.frozen.add(this.owner);
			}
			else {
				this.owner.dead = true;
			}
			this.owner = new Owner();
			this.owner.run();
		}

		/**
		 * A new owner begins again before its first commit is answered, which removes
		 * what an earlier owner has sent, or stores a failed record.
		 */
		private void beginTwice() {
			replace();
			this.owner.pass(Duration.ofMillis(this.random.nextInt(8_000)));
			this.owner.beginAgain();
			arrive();
			this.failing = this.random.nextBoolean();
			feed(1 + this.random.nextInt(6));
		}

		private void mayFailOver() {
			switch (this.failovers.nextInt(6)) {
				case 0, 1 -> this.replica.copy();
				case 2 -> {
					failOver();
					if (this.failovers.nextBoolean()) {
						compare();
					}
				}
				default -> {
					// It works.
				}
			}
			replaceIfEnded();
		}

		/**
		 * No transaction that is open survives it, and who was frozen meanwhile has no
		 * lease to begin another one.
		 */
		private void failOver() {
			this.frozen.forEach((owner) -> owner.dead = true);
			this.frozen.clear();
			this.late.forEach(Schedule::rollBack);
			this.late.clear();
			this.lostRows += this.replica.promote();
		}

		/** As after an outage, and each time when offsets are copied. */
		private void compare() {
			if (this.broken != Rule.OWNERS_COMPARE_THEIR_COMMITS_AFTER_A_FAILOVER) {
				this.owner.compare();
				replaceIfEnded();
			}
		}

		/** It acquires the shard again, under another token. */
		private void replaceIfEnded() {
			if (this.owner.worker.ended().isDone()) {
				this.owner.dead = true;
				this.owner = new Owner();
				this.owner.run();
			}
		}

		private void settle() {
			this.calm = true;
			this.requests.calm();
			this.failing = false;
			while (!this.late.isEmpty() || !this.requests.isEmpty()) {
				arrive();
			}
			replace();
			rest();
		}

		private void rest() {
			for (int i = 0; i < 12; i++) {
				this.owner.pass(Duration.ofSeconds(15));
				List.copyOf(this.frozen).forEach(Owner::run);
			}
		}

		/** Until then the transaction has its locks. */
		private static void commitLate(Connection real) {
			try (real) {
				real.commit();
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
		}

		private static void rollBack(Connection real) {
			try (real) {
				real.rollback();
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
		}

		private static String key(int number) {
			return "k" + number * 7 % KEYS;
		}

		private Instant now() {
			return Instant.EPOCH.plus(this.passed);
		}

		private final class Booking {

			private static final String EXPIRING = "expiring ";

			private static final String WRONG = "wrong entry: ";

			@ShardConsumer("orders")
			void handle(ShardRecord<String> record, ShardState state, ShardOutput output, ShardTimers timers) {
				Schedule schedule = Schedule.this;
				int number = Integer.parseInt(record.offset().value());
				Owner caller = Owner.CALLER.get();
				state.increment("rows", 1);
				caller.rows.update("insert into booked (run, id, record_key) values (?, ?, ?)", schedule.run, number,
						key(number));
				output.send("invoices", invoices(number), Integer.toString(number));
				output.send("mails", null, Integer.toString(number));
				TimersInForce.handle(key(number), number, state, timers, now());
				expire(key(number), number, state);
				boolean fails = schedule.failing && schedule.random.nextInt(3) == 0;
				meanwhile();
				if (fails) {
					throw new IllegalStateException("caused by the test");
				}
			}

			/** Checks the entry of a key that expires, and puts it again. */
			private void expire(String key, int number, ShardState state) {
				long now = now().toEpochMilli();
				long expiresAt = state.get("expires " + key, Long.class).orElse(0L);
				if (state.get(EXPIRING + key, Integer.class).isPresent() != now < expiresAt) {
					state.put(WRONG + key + " at " + now, expiresAt);
				}
				Duration ttl = Duration.ofMillis(1 + number * 7919 % 20_000);
				state.put(EXPIRING + key, number, ttl);
				state.put("expires " + key, now + ttl.toMillis());
			}

			@OnShardTimer
			void due(ShardTimer timer, ShardState state) {
				TimersInForce.fire(timer, true, state, now());
				meanwhile();
			}

		}

		/** A process that owns the shard, with its connections to the database. */
		private final class Owner {

			/** Owner whose code runs on this thread. */
			private static final ThreadLocal<Owner> CALLER = new ThreadLocal<>();

			private final SettableClock clock = new SettableClock();

			private final ManualThreads threads = new ManualThreads(this.clock);

			private final Lease lease = new Lease(Duration.ofDays(1), this.clock.now());

			private final Reader reader = new Reader();

			private final JdbcTemplate rows;

			private final JdbcDataPlane plane;

			private final CheckpointStore store;

			private final Token token = new Token(++Schedule.this.tokens);

			private WorkerContext context;

			private ShardWorker worker;

			private CompletableFuture<CommitReply> lastCommit = CompletableFuture.completedFuture(null);

			private boolean dead;

			private int delivered = -1;

			Owner() {
				Schedule schedule = Schedule.this;
				DataSource connections = new Connections(this);
				this.rows = new JdbcTemplate(
						(schedule.broken == Rule.ROWS_AND_OFFSET_ARE_ONE_TRANSACTION) ? database : connections);
				this.plane = TestDataPlane.create(connections, schedule.run,
						InstantSource.fixed(Instant.parse("2026-01-01T00:00:00Z")));
				this.store = this.plane.checkpoints(null);
				schedule.stores.add(this.store);
				this.lease.renew(this.clock.now(), this.clock.now());
				this.context = context();
				this.worker = worker(CompletableFuture.completedFuture(null));
			}

			private WorkerContext context() {
				Schedule schedule = Schedule.this;
				ConsumerSettings consumer = new TestSettings()
					.ordering(schedule.byKey ? Ordering.KEY : Ordering.SHARD, 4)
					.maxAttempts((schedule.seed % 2 == 0) ? TestSettings.ENDLESS : 1)
					.onFailure(OnFailure.DEAD_LETTER)
					.stateRead((schedule.seed % 3 == 0) ? StateRead.ON_USE : StateRead.ON_ACQUISITION)
					.get();
				return new WorkerContext("group",
						new WorkerContext.Stores(network(), this.reader,
								new OutputSettings(schedule.targets, 20, 1_000_000)),
						new WorkerContext.Runtime(this.clock, Schedule.this::now, this.threads, this.threads.timer()),
						new WorkerContext.Topics((topic) -> consumer, new BufferBudget(Long.MAX_VALUE),
								new StateCache(1_000_000), new StateValues(new JsonMapper(), List.of())),
						new WorkerContext.Observers(ConsumerMeters.NONE, ConsumerEvents.NONE,
								(shard, token, fence, completed) -> {
								}, false),
						this.lease);
			}

			private ShardWorker worker(CompletableFuture<Void> predecessorEnded) {
				return new ShardWorker(SHARD, this.token, MemberId.of("me", "1"), Schedule.this.handler, this.context,
						predecessorEnded);
			}

			/**
			 * Its claim is not granted, so it abandons the shard; then it hears that it
			 * has the shard nevertheless.
			 */
			void beginAgain() {
				as(() -> {
					ShardWorker abandoned = this.worker;
					Schedule.this.overtaken += this.lastCommit.isDone() ? 0 : 1;
					if (Schedule.this.broken == Rule.WORKERS_UNDER_ONE_TOKEN_NUMBER_THEIR_COMMITS_APART) {
						this.context = context();
					}
					this.worker = worker(abandoned.ended());
					abandoned.abandon();
				});
				run();
			}

			/**
			 * The store, whose threads are no part of this: what others wait for is
			 * answered at once.
			 */
			private CheckpointStore network() {
				return (CheckpointStore) Proxy.newProxyInstance(CheckpointStore.class.getClassLoader(),
						new Class<?>[] { CheckpointStore.class }, (proxy, method, arguments) -> {
							if (method.getName().equals("acquire")) {
								return now(() -> acquire((ShardId) arguments[0], (Token) arguments[1], true));
							}
							if (method.getName().equals("acquireWithoutState")) {
								return now(() -> acquire((ShardId) arguments[0], (Token) arguments[1], false));
							}
							if (method.getName().equals("commit")) {
								return send((ShardId) arguments[0], (Token) arguments[1],
										commit((Commit) arguments[2]));
							}
							if (method.getName().equals("timers")
									&& Schedule.this.broken == Rule.THE_NEXT_OWNER_READS_THE_TIMERS) {
								return List.of();
							}
							if (method.getName().equals("transactions")) {
								return new Transactions(this);
							}
							return invoke(this.store, method, arguments);
						});
			}

			private CompletableFuture<CommitReply> send(ShardId shard, Token token, Commit commit) {
				this.lastCommit = Schedule.this.requests.transfer(() -> this.store.commit(shard, token, commit).join(),
						() -> new StoreUnavailableException("lost, caused by the test", null));
				return this.lastCommit;
			}

			private Commit commit(Commit commit) {
				if (Schedule.this.broken == Rule.WHAT_HAS_EXPIRED_IS_REMOVED) {
					return withoutRemovals(commit);
				}
				return (Schedule.this.broken != Rule.FAILED_RECORDS_ARE_STORED_WITH_THE_OFFSET
						|| Schedule.this.random.nextInt(3) > 0) ? commit
								: new Commit(commit.number(), commit.offset(), commit.ahead(), commit.changes(),
										List.of(), Set.of(), List.of());
			}

			private Acquisition acquire(ShardId shard, Token token, boolean withState) {
				Checkpoint early = (Schedule.this.broken == Rule.THE_TOKEN_IS_RAISED_BEFORE_THE_OFFSET_IS_READ)
						? this.store.read(shard) : null;
				if (early != null) {
					meanwhile();
				}
				Acquisition reply = Replies
					.await(withState ? this.store.acquire(shard, token) : this.store.acquireWithoutState(shard, token));
				if (!(reply instanceof Acquisition.Acquired acquired)) {
					return reply;
				}
				Checkpoint read = (early != null) ? early : acquired.checkpoint();
				if (Schedule.this.broken == Rule.THE_NEXT_OWNER_KNOWS_WHAT_IS_DONE_AHEAD) {
					read = new Checkpoint(read.offset(), Set.of(), read.state(), read.retryDueIn());
				}
				return new Acquisition.Acquired(read, acquired.seeks(), acquired.lastCommit(), acquired.before(),
						acquired.acquisition(), outbox(acquired.outbox()));
			}

			private Outbox outbox(Outbox stored) {
				if (Schedule.this.broken == Rule.THE_NEXT_OWNER_FORWARDS_WHAT_WAITS) {
					return new Outbox(stored.era(), stored.last(), stored.numbers(), 0);
				}
				if (Schedule.this.broken == Rule.NO_NUMBER_IS_GIVEN_TWICE) {
					Map<ShardId, Long> numbers = new TreeMap<>(stored.numbers());
					numbers.replaceAll((target, number) -> number - 1);
					return new Outbox(stored.era(), stored.last(), numbers, stored.entries());
				}
				return stored;
			}

			Schedule schedule() {
				return Schedule.this;
			}

			void run() {
				as(() -> {
					this.worker.wake();
					this.threads.runAll();
				});
			}

			/** Compares what it has committed with what the database has. */
			void compare() {
				LastCommit accepted = this.worker.acceptedByDatabase();
				if (accepted != null && commits().lacks(accepted)) {
					this.worker.commitsLost();
					run();
				}
			}

			private CommitHistory commits() {
				try {
					return this.store.commits(SHARD);
				}
				catch (StoreUnavailableException ex) {
					// Asks until there is an answer.
					return commits();
				}
			}

			void runOne() {
				as(() -> {
					this.worker.wake();
					if (this.threads.hasTasks()) {
						this.threads.runOne();
					}
				});
			}

			void pass(Duration duration) {
				Schedule.this.passed = Schedule.this.passed.plus(duration);
				as(() -> this.threads.pass(duration));
				this.lease.renew(this.clock.now(), this.clock.now());
			}

			/** Not if it is dead; what runs on this thread meanwhile is paused. */
			private void as(Runnable code) {
				if (this.dead) {
					return;
				}
				Owner outer = CALLER.get();
				CALLER.set(this);
				try {
					code.run();
				}
				finally {
					CALLER.set(outer);
				}
				deliver();
			}

			/** Delivers what was not delivered since the reader has started. */
			void deliver() {
				if (this.reader.sink(SHARD) == null || this.delivered < 0) {
					return;
				}
				while (this.delivered < Schedule.this.fed) {
					this.delivered++;
					this.reader.deliver(SHARD, this.delivered, key(this.delivered), "\"r" + this.delivered + "\"");
				}
			}

			private final class Reader extends TestReader {

				@Override
				public void start(ShardId shard, Offset after, RecordSink sink) {
					super.start(shard, after, sink);
					Owner.this.delivered = (after != null) ? Integer.parseInt(after.value()) : 0;
				}

			}

		}

		/** The transactions of an owner, with what is broken in its outbox. */
		private record Transactions(Owner owner) implements CallTransactions {

			@Override
			public Result call(ShardId shard, Token token, Call call) {
				return real().call(shard, token, new Call() {

					@Override
					public void run() throws Throwable {
						call.run();
					}

					@Override
					public Commit commit() throws Throwable {
						Commit commit = call.commit();
						return Transactions.this.owner.schedule().broken(Transactions.this.owner, token, commit);
					}

					@Override
					public Runnable savepoint() {
						return call.savepoint();
					}

				});
			}

			@Override
			public Duration lockWait() {
				return real().lockWait();
			}

			private CallTransactions real() {
				return this.owner.store.transactions(SHARD.topic());
			}

		}

		private Commit broken(Owner caller, Token token, Commit commit) {
			if (this.broken == Rule.RECORDS_ARE_FORWARDED_AFTER_THE_TRANSACTION) {
				for (Outbox.Entry entry : commit.outbox().added()) {
					this.targets.reliable.append(
							new SequencedAppender.Sequence("group/" + SHARD, entry.era(), token.value()),
							new SequencedAppender.Batch(entry.target(), entry.number(), entry.number() - 1, 0, List
								.of(new NewRecord(entry.target(), entry.key(), entry.payload(), entry.headers()))));
				}
			}
			if (this.broken == Rule.THE_OUTBOX_IS_FENCED_WITH_THE_OFFSET) {
				TestDataPlane.writeOutbox(caller.plane, SHARD, commit.outbox());
				return commit.withOutbox(Outbox.Changes.NONE);
			}
			if (this.broken == Rule.TIMERS_THAT_HAVE_FIRED_ARE_REMOVED) {
				Map<TimerId, Instant> timers = new HashMap<>(commit.timers());
				timers.keySet().removeIf((id) -> TimersInForce.isFired(commit.changes(), id.key(), id.name()));
				return commit.withTimers(timers);
			}
			return (this.broken == Rule.WHAT_HAS_EXPIRED_IS_REMOVED) ? withoutRemovals(commit) : commit;
		}

		private static Commit withoutRemovals(Commit commit) {
			Map<String, String> changes = new HashMap<>(commit.changes());
			changes.entrySet()
				.removeIf((change) -> change.getKey().startsWith(Booking.EXPIRING) && change.getValue() == null);
			return new Commit(commit.number(), commit.offset(), commit.ahead(), changes, commit.retries(),
					commit.taken(), commit.deadLetters(), commit.seek(), commit.outbox(), commit.timers(),
					commit.clearsState());
		}

		/** The targets, whose replies may be lost or late, as may the requests. */
		private final class Targets implements OutputTargets, SequencedAppender {

			private final TestTargets reliable = new TestTargets();

			@Override
			public NewRecord prepare(String topic, Outgoing outgoing) {
				return this.reliable.prepare(topic, outgoing);
			}

			@Override
			public SequencedAppender appender(String topic) {
				return this;
			}

			@Override
			public CompletableFuture<Reply> append(Sequence sequence, Batch batch) {
				return Schedule.this.requests.transfer(() -> appendNow(sequence, batch),
						() -> new SendFailedException("lost, caused by the test", null, true));
			}

			private Reply appendNow(Sequence sequence, Batch batch) {
				if (Schedule.this.broken == Rule.TARGETS_KEEP_THE_NUMBERS) {
					this.reliable.appendAgain(batch.records());
					return new Reply.Appended(0);
				}
				return this.reliable.append(sequence, batch).join();
			}

			List<Integer> received(ShardId shard) {
				return this.reliable.received(shard).stream().map(Integer::valueOf).toList();
			}

		}

		/** Connections of an owner. The end of a transaction may be lost, or late. */
		private final class Connections extends AbstractDataSource {

			private final Owner owner;

			Connections(Owner owner) {
				this.owner = owner;
			}

			@Override
			public Connection getConnection() throws SQLException {
				if (this.owner.dead) {
					throw lost();
				}
				Connection real = database.getConnection();
				boolean[] left = { false };
				return (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
						new Class<?>[] { Connection.class }, (proxy, method, arguments) -> {
							if (left[0]) {
								// Nobody reaches it any more; it ends by itself.
								return switch (method.getName()) {
									case "isClosed" -> true;
									case "isValid", "getAutoCommit", "isReadOnly" -> false;
									default -> null;
								};
							}
							if (method.getName().equals("prepareStatement")) {
								arguments[0] = statement((String) arguments[0]);
							}
							if (method.getName().equals("commit")) {
								commit(real, left);
								return null;
							}
							return invoke(real, method, arguments);
						});
			}

			private String statement(String sql) {
				if (Schedule.this.broken == Rule.THE_COMMIT_REQUIRES_THE_TOKEN) {
					return sql.replace("and token = ? and acquired_at", "and (token = ? or 1 = 1) and acquired_at");
				}
				if (Schedule.this.broken == Rule.A_COMMIT_REQUIRES_THE_ONE_BEFORE) {
					return sql.replace("and commit_number = ?", "and (commit_number = ? or 1 = 1)");
				}
				return sql;
			}

			private void commit(Connection real, boolean[] left) throws SQLException {
				if (this.owner.dead) {
					real.rollback();
					throw lost();
				}
				switch (Schedule.this.calm ? 9 : Schedule.this.random.nextInt(30)) {
					case 0 -> {
						real.rollback();
						throw lost();
					}
					case 1 -> {
						real.commit();
						throw lost();
					}
					case 2 -> {
						left[0] = true;
						Schedule.this.late.add(real);
						throw lost();
					}
					default -> real.commit();
				}
			}

			private static SQLException lost() {
				return new SQLNonTransientConnectionException("lost, caused by the test", "08006");
			}

			@Override
			public Connection getConnection(String username, String password) {
				throw new UnsupportedOperationException();
			}

		}

		private static Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
			try {
				return method.invoke(target, arguments);
			}
			catch (InvocationTargetException ex) {
				throw ex.getTargetException();
			}
		}

		private static <T> CompletableFuture<T> now(Supplier<T> step) {
			try {
				return CompletableFuture.completedFuture(step.get());
			}
			catch (RuntimeException ex) {
				Throwable cause = (ex.getCause() instanceof StoreUnavailableException) ? ex.getCause() : ex;
				return CompletableFuture.failedFuture(cause);
			}
		}

	}

}
