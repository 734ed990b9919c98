package io.github.shardkeeper.endtoend;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.h2.jdbcx.JdbcConnectionPool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * The guide's way to fence writes to a database: the table is the guide's, and so are the
 * statements.
 */
class FencingGuideTests {

	private static final BigDecimal TWO = BigDecimal.valueOf(2);

	private static final Path GUIDE = Path.of("..", "docs", "guides", "handlers.md");

	private final JdbcConnectionPool database = JdbcConnectionPool.create("jdbc:h2:mem:fencing", "sa", "");

	private final JdbcClient jdbc = JdbcClient.create(this.database);

	private final Accounts accounts = new Accounts(this.jdbc);

	@BeforeEach
	void createTheGuidesTable() throws IOException {
		String guide = Files.readString(GUIDE);
		int begin = guide.indexOf("create table account");
		this.jdbc.sql(guide.substring(begin, guide.indexOf(';', begin))).update();
	}

	@AfterEach
	void close() {
		this.jdbc.sql("drop table account").update();
		this.database.dispose();
	}

	@Test
	void olderOwnerCannotOverwriteNewerOwnersRow() {
		this.accounts.book(new Balance("ann", BigDecimal.TEN), owner(5));
		this.accounts.book(new Balance("ann", BigDecimal.ONE), owner(6));

		assertThatExceptionOfType(DuplicateKeyException.class)
			.isThrownBy(() -> this.accounts.book(new Balance("ann", TWO), owner(5)));
		assertThat(balance("ann")).isEqualByComparingTo(BigDecimal.ONE);
	}

	@Test
	void olderOwnerCannotInsertAfterNewerOwner() {
		ShardContext frozen = owner(5);
		// Between the old owner's two statements, a new one writes.
		this.accounts.afterUpdate = () -> new Accounts(this.jdbc).book(new Balance("ann", BigDecimal.ONE), owner(6));

		assertThatExceptionOfType(DuplicateKeyException.class)
			.isThrownBy(() -> this.accounts.book(new Balance("ann", TWO), frozen));
		assertThat(balance("ann")).isEqualByComparingTo(BigDecimal.ONE);
	}

	@Test
	void ownerWritesRepeatedly() {
		this.accounts.book(new Balance("ann", BigDecimal.TEN), owner(5));
		this.accounts.book(new Balance("ann", BigDecimal.ONE), owner(5));
		this.accounts.book(new Balance("bob", TWO), owner(5));

		assertThat(balance("ann")).isEqualByComparingTo(BigDecimal.ONE);
		assertThat(balance("bob")).isEqualByComparingTo(TWO);
	}

	/** The guide shows the code of this test, line by line. */
	@Test
	void guideShowsTheSameStatements() throws IOException {
		String source = Files
			.readString(Path.of("src", "test", "java").resolve(getClass().getName().replace('.', '/') + ".java"))
			.replace("this.afterUpdate.run();", "");
		String text = Files.readString(Path.of("..").resolve("docs/guides/handlers.md"));
		List<String> blocks = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL)
			.matcher(text)
			.results()
			.map((block) -> block.group(1))
			.filter((block) -> block.contains("token <= :token"))
			.toList();

		assertThat(blocks).hasSize(1);
		assertThat(blocks.get(0)).contains('"' + Accounts.UPDATE + '"', '"' + Accounts.INSERT + '"');
		for (String member : blocks.get(0).split("\n\n")) {
			assertThat(plain(source)).contains(plain(member));
		}
	}

	private static String plain(String code) {
		return code.lines().map(String::strip).filter((line) -> !line.isEmpty()).collect(Collectors.joining("\n"));
	}

	private BigDecimal balance(String account) {
		return this.jdbc.sql("select balance from account where id = :id")
			.param("id", account)
			.query(BigDecimal.class)
			.single();
	}

	private static ShardContext owner(long token) {
		ShardContext shard = mock(ShardContext.class);
		given(shard.shard()).willReturn(ShardId.of("balances", 1));
		given(shard.token()).willReturn(new Token(token));
		return shard;
	}

	/** The guide's handler. */
	static class Accounts {

		static final String UPDATE = "update account set balance = :balance, token = :token where id = :id and token <= :token";

		static final String INSERT = "insert into account (id, balance, token) values (:id, :balance, :token)";

		private final JdbcClient jdbc;

		private Runnable afterUpdate = () -> {
		};

		Accounts(JdbcClient jdbc) {
			this.jdbc = jdbc;
		}

		@ShardConsumer("balances")
		void book(Balance balance, ShardContext shard) {
			if (write(UPDATE, balance, shard) == 0) {
				this.afterUpdate.run();
				// There is no such row, or a newer owner has written it; then this fails.
				write(INSERT, balance, shard);
			}
		}

		private int write(String sql, Balance balance, ShardContext shard) {
			return this.jdbc.sql(sql)
				.param("id", balance.account())
				.param("balance", balance.amount())
				.param("token", shard.token().value())
				.update();
		}

	}

	record Balance(String account, BigDecimal amount) {

	}

}
