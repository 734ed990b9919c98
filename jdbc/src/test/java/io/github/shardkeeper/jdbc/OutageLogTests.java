package io.github.shardkeeper.jdbc;

import java.time.Duration;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import org.springframework.boot.test.system.CapturedOutput;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.testsupport.CapturesOutput;
import io.github.shardkeeper.testsupport.SettableClock;

import static org.assertj.core.api.Assertions.assertThat;

@CapturesOutput
class OutageLogTests {

	private final SettableClock clock = new SettableClock();

	private final OutageLog outages = new OutageLog("shop", this.clock);

	@BeforeEach
	void speak() {
		setLevel(Level.INFO);
	}

	@AfterEach
	void silence() {
		setLevel(null);
	}

	/** Other tests of this module log errors only. */
	static void setLevel(Level level) {
		((Logger) LoggerFactory.getLogger(OutageLog.class)).setLevel(level);
	}

	@Test
	void causesOfAnOutageAndItsEndAreLoggedOnce(CapturedOutput output) {
		this.outages.succeeded();
		for (int i = 0; i < 3; i++) {
			this.outages.failed(failure("refused"));
			this.outages.failed(failure("reset"));
		}
		this.clock.advance(OutageLog.QUIET);
		this.outages.succeeded();
		this.outages.succeeded();

		assertThat(output.getOut()).containsOnlyOnce("The database of group 'shop' cannot be used; retrying. refused")
			.containsOnlyOnce("still cannot be used, for another reason. reset")
			.containsOnlyOnce("The database replies again; group 'shop' continues");
	}

	/** One shard may succeed where another one fails. */
	@Test
	void outageLastsUntilNothingFailsForAWhile(CapturedOutput output) {
		for (int i = 0; i < 5; i++) {
			this.outages.failed(failure("refused"));
			this.clock.advance(OutageLog.QUIET.minusMillis(1));
			this.outages.succeeded();
		}
		assertThat(output.getOut()).containsOnlyOnce("cannot be used").doesNotContain("replies again");
		this.clock.advance(Duration.ofMillis(1));
		this.outages.succeeded();

		assertThat(output).contains("replies again");
		this.outages.failed(failure("refused"));
		assertThat(output.getOut().split("cannot be used; retrying")).as("the next outage").hasSize(3);
	}

	private static StoreUnavailableException failure(String message) {
		return new StoreUnavailableException(message, null);
	}

}
