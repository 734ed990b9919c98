package io.github.shardkeeper.text;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Objects;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.PatternLayout;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

@Isolated("simulations switch logs off")
class PrintableLoggerTests {

	private static final String HOSTILE = "a\r\n2026-11-25 ERROR forged\u001b[2J\u2028b";

	private final ch.qos.logback.classic.Logger target = (ch.qos.logback.classic.Logger) LoggerFactory
		.getLogger(PrintableLoggerTests.class);

	private final Logger logger = PrintableLogger.of(PrintableLoggerTests.class);

	private final ListAppender<ILoggingEvent> events = new ListAppender<>() {

		@Override
		protected void append(ILoggingEvent event) {
			// Known only now.
			event.getCallerData();
			super.append(event);
		}

	};

	@BeforeEach
	void capture() {
		this.events.start();
		this.target.addAppender(this.events);
		this.target.setAdditive(false);
	}

	@AfterEach
	void end() {
		this.target.detachAppender(this.events);
		this.target.setAdditive(true);
		this.target.setLevel(null);
	}

	@Test
	void argumentsAndMessagesStayInTheirLine() {
		this.logger.warn("{} and {}", HOSTILE, List.of(HOSTILE));
		this.logger.atError().log(HOSTILE);
		this.logger.info("{} {} {}", 1, null, HOSTILE);

		assertThat(lines()).hasSize(3).allSatisfy(PrintableLoggerTests::assertPrintable);
	}

	@Test
	void failuresStayInTheirLines() {
		IOException cause = new IOException(HOSTILE);
		cause.addSuppressed(new IllegalStateException(HOSTILE, cause));

		this.logger.error("failed", new IllegalArgumentException("harmless", cause));

		List<String> lines = lines();
		assertThat(lines).allSatisfy(PrintableLoggerTests::assertPrintable)
			.anyMatch((line) -> line.contains("java.io.IOException: a") && line.contains("forged"))
			.anyMatch((line) -> line.contains("java.lang.IllegalArgumentException: harmless"))
			.anyMatch((line) -> line.contains("at " + PrintableLoggerTests.class.getName()));
		assertThat(lines).noneMatch((line) -> line.startsWith("2026"));
	}

	@Test
	void failureWithoutAnythingHostileIsLoggedAsItIs() {
		IllegalStateException failure = new IllegalStateException("harmless", new IOException("too"));

		assertThat(PrintableFailure.of(failure)).isSameAs(failure);
	}

	@Test
	void failureThatCannotBePrintedIsLogged() {
		this.logger.error("failed", new IllegalStateException() {

			@Override
			public String getMessage() {
				throw new UnsupportedOperationException(HOSTILE);
			}

		});

		assertThat(lines()).allSatisfy(PrintableLoggerTests::assertPrintable)
			.anyMatch((line) -> line.contains("whose message cannot be read: java.lang.UnsupportedOperationException"));
	}

	@Test
	void failureWhoseTextIsAnErrorIsLogged() {
		this.logger.error("failed", new IllegalStateException() {

			@Override
			public String getMessage() {
				throw new StackOverflowError();
			}

		});

		assertThat(lines()).anyMatch((line) -> line.contains("whose message cannot be read: java.lang.StackOverflow"));
	}

	@Test
	void replacementPrintsTheClassOfTheOriginal() {
		StringWriter printed = new StringWriter();

		PrintableFailure.of(new IOException(HOSTILE)).printStackTrace(new PrintWriter(printed, true));

		assertThat(printed.toString()).startsWith("java.io.IOException: a  2026-11-25 ERROR forged [2J b");
	}

	@Test
	void hugeValuesAreCut() {
		this.logger.warn("{}", "x".repeat(5_000_000), new IOException("y".repeat(5_000_000)));

		assertThat(String.join("", lines())).hasSizeLessThan(50_000);
	}

	@Test
	void callerIsTheOneWhoLogs() {
		this.logger.info("here");

		assertThat(this.events.list.get(0).getCallerData()[0].getMethodName()).isEqualTo("callerIsTheOneWhoLogs");
	}

	@Test
	void levelIsThatOfTheLogger() {
		this.target.setLevel(Level.WARN);

		this.logger.info("not logged");
		this.logger.warn("logged");

		assertThat(this.logger.isInfoEnabled()).isFalse();
		assertThat(this.events.list).extracting(ILoggingEvent::getMessage).containsExactly("logged");
		assertThat(this.events.list.get(0).getLoggerName()).isEqualTo(PrintableLoggerTests.class.getName());
	}

	/** Returns what would be in a log file. */
	private List<String> lines() {
		PatternLayout layout = new PatternLayout();
		layout.setContext((LoggerContext) LoggerFactory.getILoggerFactory());
		layout.setPattern("LINE %level %msg%n%ex");
		layout.start();
		StringBuilder text = new StringBuilder();
		this.events.list.forEach((event) -> text.append(Objects.requireNonNull(layout.doLayout(event))));
		return text.toString().lines().toList();
	}

	private static void assertPrintable(String line) {
		assertThat(line)
			.matches("(LINE |\\s+at |\\s*Caused by: |\\s*Suppressed: |\\s+\\.\\.\\. |[a-z.]+[A-Za-z.$0-9]+([:,]|$)).*");
		assertThat(line.strip().chars()).noneMatch((c) -> c == '\r' || c == '\u001b' || c == '\u2028');
	}

}
