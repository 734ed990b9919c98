package io.github.shardkeeper.operations.request;

import java.security.Principal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import org.springframework.boot.test.system.CapturedOutput;

import io.github.shardkeeper.ShardOperationEvent;
import io.github.shardkeeper.operations.request.OperationAudit.Operation;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.testsupport.CapturesOutput;

import static org.assertj.core.api.Assertions.assertThat;

@CapturesOutput
class OperationAuditTests {

	private static final Instant NOW = Instant.parse("2026-11-24T03:00:00Z");

	private static final ShardId SHARD = ShardId.of("orders", 3);

	private final List<ShardOperationEvent> events = new ArrayList<>();

	private final OperationAudit audit = new OperationAudit("shop", this.events::add, () -> NOW);

	@Test
	void operationIsOneLineAndOneEvent(CapturedOutput output) {
		ShardOperationEvent event = this.audit.record(
				new Operation("seek", "orders", SHARD, null, "ada", "deploy was bad"),
				List.of("orders/3 goes back to offset 7", "its state is kept"));

		assertThat(this.events).containsExactly(event);
		assertThat(event).isEqualTo(new ShardOperationEvent("shop", "seek", "orders", SHARD, null, "ada",
				"deploy was bad", List.of("orders/3 goes back to offset 7", "its state is kept"), NOW));
		assertThat(output).contains("INFO")
			.contains("Operation 'seek' on orders/3 in group 'shop', requested by ada, "
					+ "reason: deploy was bad: orders/3 goes back to offset 7; its state is kept");
	}

	@Test
	void textsOfCallersCannotForgeALineAndAreBounded(CapturedOutput output) {
		String forged = "ada\r\n2026 INFO forged\u2028\u202e\u0000" + "x".repeat(10_000);
		List<String> effects = IntStream.range(0, 1_000).mapToObj((i) -> forged).toList();

		ShardOperationEvent event = this.audit
			.record(new Operation("drain", null, null, forged, OperationAudit.caller(null, forged), forged), effects);

		assertThat(event.effects()).hasSize(21).last().isEqualTo("and 980 more");
		assertThat(event.by()).hasSizeLessThanOrEqualTo(200);
		assertThat(event.member()).hasSizeLessThanOrEqualTo(200);
		assertThat(event.reason()).hasSizeLessThanOrEqualTo(500);
		assertThat(event.toString()).doesNotContain("\r", "\n", "\u2028", "\u202e", "\u0000");
		assertThat(output.getAll().lines().filter((line) -> line.contains("forged"))).singleElement()
			.asString()
			.contains("Operation 'drain'");
	}

	@Test
	void nameThatIsSentDoesNotReplaceTheAuthenticatedOne() {
		Principal ada = () -> "ada";

		assertThat(OperationAudit.caller(ada, null)).isEqualTo("ada");
		assertThat(OperationAudit.caller(ada, "ada")).isEqualTo("ada");
		assertThat(OperationAudit.caller(ada, "root")).isEqualTo("ada (named root in the request)");
		assertThat(OperationAudit.caller(null, " bob ")).isEqualTo("bob");
		assertThat(OperationAudit.caller(null, "\n")).isEqualTo(OperationAudit.UNKNOWN_CALLER);
		assertThat(OperationAudit.caller(null, null)).isEqualTo(OperationAudit.UNKNOWN_CALLER);
	}

	@Test
	void emojisAndOtherScriptsStayAsTheyAre() {
		String name = "Łukasz عمر 👩‍💻";

		assertThat(OperationAudit.caller(null, name)).isEqualTo(name);
	}

}
