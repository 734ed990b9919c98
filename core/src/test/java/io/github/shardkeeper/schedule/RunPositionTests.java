package io.github.shardkeeper.schedule;

import java.time.Instant;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.shard.Offset;

import static org.assertj.core.api.Assertions.assertThat;

/** Positions in a schedule as offsets. */
class RunPositionTests {

	private static final Instant THREE = Instant.parse("2026-11-23T03:00:00Z");

	@Test
	void positionIsReadAsItWasWritten() {
		RunPosition waiting = new RunPosition(THREE, null, false, THREE.minusSeconds(60), THREE.minusSeconds(3),
				"cron 0 0 3 * * * Europe/Berlin");
		RunPosition running = new RunPosition(THREE, THREE.plusMillis(4), false, null, null, "interval PT10S");
		RunPosition failed = new RunPosition(THREE, THREE.plusMillis(4), true, THREE, null, "cron ;by=1 UTC");

		assertThat(RunPosition.of(waiting.toOffset())).isEqualTo(waiting);
		assertThat(RunPosition.of(running.toOffset())).isEqualTo(running);
		assertThat(RunPosition.of(failed.toOffset())).isEqualTo(failed);
	}

	/** The format is in stores: what is written today must be readable tomorrow. */
	@Test
	void formatStays() {
		assertThat(new RunPosition(THREE, null, false, THREE.minusSeconds(60), THREE.minusSeconds(3),
				"cron 0 0 3 * * * Europe/Berlin")
			.toOffset()).hasToString(
					"next=2026-11-23T03:00:00Z;last=2026-11-23T02:59:00Z;ended=2026-11-23T02:59:57Z;by=cron 0 0 3 * * * Europe/Berlin");
		assertThat(RunPosition.of(new Offset("next=2026-11-23T03:00:00Z;later=2026-11-23T04:00:00Z;by=x")))
			.as("with a field of a later version")
			.isEqualTo(new RunPosition(THREE, null, false, null, null, "x"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "1731-0", "beginning", ";by=x", "next=;by=x", "next=soon;by=x",
			"last=2026-11-23T03:00:00Z;by=x", "next=2026-11-23T03:00:00Z" })
	void otherOffsetIsNoPosition(String offset) {
		assertThat(RunPosition.of(new Offset(offset))).isNull();
	}

}
