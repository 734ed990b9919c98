package io.github.shardkeeper.endtoend;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.YearMonth;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.stream.LongStream;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

import org.springframework.jdbc.core.simple.JdbcClient;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardPositions;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTopics;
import io.github.shardkeeper.cluster.ClusterSignals;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.cluster.ClusterParameters;
import io.github.shardkeeper.test.EmbeddedGroup;

/**
 * Beans and types of the reader that the code of the guides uses. A page is compiled as
 * if it stood in a class that has them.
 */
abstract class GuideSurroundings {

	ShardTemplate shards;

	ShardStateReader states;

	ShardPositions positions;

	ShardTopics topics;

	ClusterSignals signals;

	Map<String, Price> cache;

	Bank bank;

	Booking booking;

	Ratings ratings;

	Database jdbc;

	Users users;

	Mails server;

	Mails inbox;

	EmbeddedGroup group;

	ClusterParameters parameters;

	ThreadPoolExecutor pool;

	Order one;

	Order two;

	Instant deployedAt;

	static ConditionFactory await() {
		return Awaitility.await();
	}

	int write(Object sql, Balance balance, ShardContext shard) {
		throw new UnsupportedOperationException();
	}

	record Account(long cents, String currency) {

	}

	record Visit(String client, String page) {

	}

	static class AccountLockedException extends RuntimeException {

	}

	record Order(String customer, long number) {

	}

	record Balance(String account, BigDecimal amount) {

	}

	record Price(String article) {

	}

	record Payment(String account) {

	}

	record Mail(long number) {

	}

	record Profile(long visits) {

		static final Profile EMPTY = new Profile(0);

		Profile plus(Visit visit) {
			return new Profile(this.visits + 1);
		}

	}

	interface TokenCache {

		String keyId();

		String secret();

		String securityToken();

	}

	interface Audit {

		void begins(List<ShardRecord<?>> records);

		void handled(List<ShardRecord<?>> records);

		void failed(List<ShardRecord<?>> records, Exception failure);

		void sent(String topic, String key, Offset offset);

		void notSent(String topic, String key, Throwable failure);

	}

	interface Bank {

		CompletableFuture<Void> transfer(Payment payment);

	}

	interface Booking {

		void book(Order order);

		void book(String customer, Order order, String source);

		long ordersUntilTheMove(String customer);

		CompletableFuture<Void> bookAsync(Order order);

		long invoice(String tenant, long after);

	}

	interface Database extends JdbcClient {

		void insertAll(List<Visit> visits);

	}

	interface Ratings {

		CompletableFuture<String> find(String client);

	}

	interface Reports {

		void write(YearMonth month, Token token);

	}

	interface Users {

		LongStream ids();

		void index(long id);

		void expire(long id);

	}

	interface Mails {

		List<Mail> mailsAfter(String mailbox, long number);

		void store(Mail mail);

	}

	static class VisitCounter {

		void count(Visit visit, ShardState state) {
			state.increment(visit.client(), 1);
		}

	}

	interface Countries {

		int number(String country);

	}

	interface RegionTable {

		String zoneOf(String shard);

	}

	interface RestOfASource extends ShardSource {

		@Override
		default ShardReader openReader() {
			throw new UnsupportedOperationException();
		}

		@Override
		default Map<ShardId, Offset> before(StartPosition position, Collection<ShardId> shards) {
			return Map.of();
		}

		@Override
		default void close() {
		}

	}

	static class VisitsApplication {

	}

	/** Spring Web is not on the tests' class path. */
	@interface RestController {

	}

	@interface GetMapping {

		String value();

	}

	@interface PostMapping {

		String value();

	}

	@interface RequestParam {

		boolean required() default true;

	}

	@interface RequestBody {

	}

}
