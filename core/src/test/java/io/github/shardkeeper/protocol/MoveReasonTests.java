package io.github.shardkeeper.protocol;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.assignment.Reason;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

import static org.assertj.core.api.Assertions.assertThat;

class MoveReasonTests {

	private static final MemberId ONE = MemberId.of("one", "1");

	private static final MemberId TWO = MemberId.of("two", "1");

	private static final ShardId SHARD = ShardId.of("orders", 1);

	@ParameterizedTest
	@EnumSource(Reason.class)
	void everyReasonSurvivesItsText(Reason reason) {
		MoveReason moved = new MoveReason(reason, ONE, TWO, null);

		assertThat(MoveReason.parse(moved.text())).contains(moved);
		assertThat(moved.sentence(SHARD)).isEqualTo("orders/1 moves from two~1 to one~1: " + reason.text());
	}

	@Test
	void sentencesAreThoseOfTheLeader() {
		assertThat(new MoveReason(Reason.KEPT, ONE, null, null).sentence(SHARD))
			.isEqualTo("orders/1 stays with one~1: no rule requires a move");
		assertThat(new MoveReason(Reason.PLACED, ONE, null, null).sentence(SHARD))
			.startsWith("orders/1 goes to one~1: it had no remaining owner");
		assertThat(new MoveReason(Reason.PLACED, ONE, null, null).text()).isEqualTo("PLACED|one~1||");
	}

	@Test
	void ownWordsOfAStrategyAreShortenedAndInOneLine() {
		MoveReason chosen = new MoveReason(Reason.CHOSEN, ONE, null, "a|b\n<i>" + "x".repeat(1_000));

		assertThat(chosen.text()).hasSizeLessThan(250).doesNotContain("\n");
		assertThat(MoveReason.parse(chosen.text())).contains(chosen);
		assertThat(chosen.sentence(SHARD)).startsWith("orders/1 goes to one~1: a|b <i>xxx");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "SHARE", "SHARE|one~1|", "LATER|one~1||", "SHARE|one||", "SHARE|one~1|two|",
			"{\"reason\":\"SHARE\"}" })
	void otherTextsAreIgnored(String text) {
		assertThat(MoveReason.parse(text)).isEmpty();
	}

	@Test
	void tooLongTextIsIgnored() {
		assertThat(MoveReason.parse("CHOSEN|one~1||" + "x".repeat(2_000))).isEmpty();
	}

}
