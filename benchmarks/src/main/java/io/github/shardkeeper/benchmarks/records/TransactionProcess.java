package io.github.shardkeeper.benchmarks.records;

import java.io.IOException;
import java.util.List;
import java.util.Map;

import javax.sql.DataSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.benchmarks.ChildProcess.Figures;

/**
 * A process with one handler of records that updates accounts. Each request names a
 * group, in which an application of this process reads all records from their beginning.
 * Has no state.
 */
final class TransactionProcess {

	/** As many calls at a time as Shardkeeper has threads, and some for its commits. */
	private static final int CONNECTIONS = 24;

	private TransactionProcess() {
	}

	/**
	 * Replies with {@code rate} and {@code micros}, the processor time per record.
	 * @param arguments contender, port of Redis, Kafka's servers, topic, shards, records
	 * per shard, port of the database
	 */
	public static void main(String[] arguments) throws IOException {
		Transactions contender = Transactions.valueOf(arguments[0]);
		Input input = new Input(Integer.parseInt(arguments[1]), arguments[2], arguments[3],
				Integer.parseInt(arguments[4]), Integer.parseInt(arguments[5]),
				DatabaseProcess.url(Integer.parseInt(arguments[6])));
		JdbcTemplate database = new JdbcTemplate(new DriverManagerDataSource(input.database()));
		Figures.serve((group) -> {
			Accounts.create(database, input.shards());
			Tally tally = consume(contender, input, group);
			Accounts.verify(database, (long) input.shards() * input.recordsPerShard());
			Figures.print("rate", tally.rate(), "micros", tally.processorMicrosPerRecord());
		});
	}

	private static Tally consume(Transactions contender, Input input, String group) {
		System.gc();
		Tally tally = new Tally(input.shards(), input.recordsPerShard(), contender.isByKey() ? Accounts.PER_SHARD : 0);
		Map<String, Object> properties = Map.ofEntries(Map.entry("spring.data.redis.port", input.redis()),
				Map.entry("spring.kafka.bootstrap-servers", input.kafka()),
				Map.entry("spring.datasource.url", input.database()),
				Map.entry("spring.datasource.hikari.maximum-pool-size", CONNECTIONS),
				Map.entry("shardkeeper.group", group), Map.entry("shardkeeper.jdbc.initialize-schema", "always"),
				Map.entry("shardkeeper.topics." + input.topic() + ".source", "kafka"),
				Map.entry("shardkeeper.topics." + input.topic() + ".shards", input.shards()),
				Map.entry("shardkeeper.consumer.ordering", contender.isByKey() ? "key" : "shard"),
				Map.entry("shardkeeper.consumer.batch-size", Transactions.LIST),
				Map.entry("shardkeeper.consumer.transaction", contender.isFenced() ? "jdbc" : "none"),
				Map.entry("spring.kafka.consumer.group-id", group),
				Map.entry("spring.kafka.consumer.auto-offset-reset", "earliest"),
				Map.entry("benchmark.topic", input.topic()));
		try (ConfigurableApplicationContext application = new SpringApplicationBuilder(Application.class)
			.web(WebApplicationType.NONE)
			.properties(properties)
			.initializers((context) -> {
				context.getBeanFactory().registerSingleton("tally", tally);
				((GenericApplicationContext) context).registerBean(handler(contender));
			})
			.run("--spring.autoconfigure.exclude=")) {
			if (contender.isByHand()) {
				application.getBean(OffsetsByHand.class)
					.start(input.topic(), input.shards(), group, contender.takesLists());
			}
			tally.awaitCompletion();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException("Interrupted while records are consumed", ex);
		}
		tally.verify();
		return tally;
	}

	private static Class<?> handler(Transactions contender) {
		return switch (contender) {
			case SINGLE, SINGLE_BY_KEY -> OneRecord.class;
			case SINGLE_WITHOUT -> OneRecordInItsTransaction.class;
			case LISTS -> ManyRecords.class;
			case LISTS_WITHOUT -> ManyRecordsInTheirTransaction.class;
			case SINGLE_BY_HAND, LISTS_BY_HAND -> OffsetsByHand.class;
		};
	}

	/**
	 * What is read, and what it is written to.
	 *
	 * @param redis Redis' port
	 * @param kafka Kafka's servers
	 * @param database the address of the database
	 */
	private record Input(int redis, String kafka, String topic, int shards, int recordsPerShard, String database) {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Accounts accounts(DataSource dataSource, Tally tally) {
			return new Accounts(new JdbcTemplate(dataSource), tally);
		}

		@Bean
		TransactionTemplate transactions(PlatformTransactionManager manager) {
			return new TransactionTemplate(manager);
		}

	}

	/** One record per call, in Shardkeeper's transaction. */
	record OneRecord(Accounts accounts) {

		@ShardConsumer("${benchmark.topic}")
		public void handle(byte[] payload) {
			this.accounts.book(payload);
		}

	}

	/** One record per call, in a transaction that does not have the offset. */
	record OneRecordInItsTransaction(Accounts accounts, TransactionTemplate transactions) {

		@ShardConsumer("${benchmark.topic}")
		public void handle(byte[] payload) {
			this.transactions.executeWithoutResult((status) -> this.accounts.book(payload));
		}

	}

	/** A list of records per call, in Shardkeeper's transaction. */
	record ManyRecords(Accounts accounts) {

		@ShardConsumer("${benchmark.topic}")
		public void handle(List<byte[]> payloads) {
			this.accounts.book(payloads);
		}

	}

	/** A list of records per call, in a transaction that does not have the offset. */
	record ManyRecordsInTheirTransaction(Accounts accounts, TransactionTemplate transactions) {

		@ShardConsumer("${benchmark.topic}")
		public void handle(List<byte[]> payloads) {
			this.transactions.executeWithoutResult((status) -> this.accounts.book(payloads));
		}

	}

}
