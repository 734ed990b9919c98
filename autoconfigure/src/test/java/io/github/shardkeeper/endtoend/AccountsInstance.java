package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardOutput;

/**
 * An application that books transfers between accounts in a database, in lists or one by
 * one, and sends a receipt for each. A few of its calls fail after they have written and
 * sent, so nothing of them may stay.
 */
public final class AccountsInstance {

	static final String TOPIC = "transfers";

	static final String RECEIPTS = "receipts";

	static final int ACCOUNTS = 20;

	private AccountsInstance() {
	}

	public static void main(String[] args) {
		new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE).run(args);
	}

	/** A transfer, as text: its number, the two accounts, and the amount. */
	record Transfer(long id, int from, int to, int amount) {

		static Transfer random(long id) {
			ThreadLocalRandom random = ThreadLocalRandom.current();
			int from = random.nextInt(ACCOUNTS);
			return new Transfer(id, from, (from + 1 + random.nextInt(ACCOUNTS - 1)) % ACCOUNTS, 1 + random.nextInt(9));
		}

		static Transfer parse(String text) {
			String[] parts = text.split(" ");
			return new Transfer(Long.parseLong(parts[0]), Integer.parseInt(parts[1]), Integer.parseInt(parts[2]),
					Integer.parseInt(parts[3]));
		}

		String text() {
			return "%d %d %d %d".formatted(this.id, this.from, this.to, this.amount);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Object transfers(JdbcClient client, @Value("${accounts.batches}") boolean batches,
				@Value("${accounts.work:2ms}") Duration longestWork) {
			Ledger ledger = new Ledger(client, longestWork);
			return batches ? new InLists(ledger) : new OneByOne(ledger);
		}

	}

	private record Ledger(JdbcClient client, Duration longestWork) {

		void book(List<Transfer> transfers, ShardContext context, ShardOutput output) {
			// In the order of the accounts, so that there are no deadlocks.
			Map<Integer, Integer> sums = new TreeMap<>();
			for (Transfer transfer : transfers) {
				this.client.sql("insert into booked (id, shard, token) values (?, ?, ?)")
					.params(transfer.id(), context.shard().toString(), context.token().value())
					.update();
				output.send(RECEIPTS, Integer.toString(transfer.from()), Long.toString(transfer.id()));
				sums.merge(transfer.from(), -transfer.amount(), Integer::sum);
				sums.merge(transfer.to(), transfer.amount(), Integer::sum);
			}
			sums.forEach((account, sum) -> this.client.sql("update account set balance = balance + ? where id = ?")
				.params(sum, account)
				.update());
			ThreadLocalRandom random = ThreadLocalRandom.current();
			LockSupport.parkNanos(random.nextLong(this.longestWork.toNanos() + 1));
			if (random.nextInt(50) == 0) {
				throw new IllegalStateException("caused by the test");
			}
		}

	}

	private record OneByOne(Ledger ledger) {

		@ShardConsumer(TOPIC)
		void book(String transfer, ShardContext context, ShardOutput output) {
			this.ledger.book(List.of(Transfer.parse(transfer)), context, output);
		}

	}

	private record InLists(Ledger ledger) {

		@ShardConsumer(TOPIC)
		void book(List<String> transfers, ShardContext context, ShardOutput output) {
			this.ledger.book(transfers.stream().map(Transfer::parse).toList(), context, output);
		}

	}

}
