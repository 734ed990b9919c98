package io.github.shardkeeper.output;

import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.ShardTemplate.Outgoing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** What a call may not send. */
class OutputBufferTests {

	private final OutputBuffer output = new OutputSettings(new TestTargets(), 10, 1_000).open();

	/** It would be ignored. */
	@Test
	void idIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.output.send("invoices", new Outgoing("0", "payload").withId("order-17")))
			.withMessageContaining("'invoices'")
			.withMessageContaining("leave out withId(…), or send with ShardTemplate");

		assertThat(this.output.records()).isEmpty();
	}

	/** The script that appends it would end in the middle. */
	@Test
	void moreHeadersThanAScriptPassesOnAreRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.output.send("invoices", new Outgoing("0", "payload", headers(3_001), null)))
			.withMessageContaining("3,001 headers, but may have 3,000");
		this.output.send("invoices", new Outgoing("0", "payload", headers(3_000), null));

		assertThat(this.output.records()).hasSize(1);
	}

	@Test
	void recordsAfterASavepointAreTakenBack() {
		this.output.send("mails", new Outgoing(null, "kept"));
		Runnable outer = this.output.savepoint();
		this.output.send("mails", new Outgoing(null, "outer"));
		Runnable inner = this.output.savepoint();
		this.output.send("mails", new Outgoing(null, "inner"));

		inner.run();
		assertThat(this.output.records()).hasSize(2);
		this.output.send("mails", new Outgoing(null, "again"));
		outer.run();
		inner.run();
		assertThat(this.output.records()).hasSize(1);
	}

	private static Map<String, String> headers(int count) {
		return IntStream.range(0, count).boxed().collect(Collectors.toMap((i) -> "h" + i, (i) -> "v"));
	}

}
