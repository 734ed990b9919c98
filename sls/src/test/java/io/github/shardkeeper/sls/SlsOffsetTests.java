package io.github.shardkeeper.sls;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.shard.Offset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class SlsOffsetTests {

	/** 1447299606896632356. */
	private static final String CURSOR = "MTQ0NzI5OTYwNjg5NjYzMjM1Ng==";

	/** 1447299606896632357. */
	private static final String NEXT = "MTQ0NzI5OTYwNjg5NjYzMjM1Nw==";

	@ParameterizedTest
	@ValueSource(strings = { "begin", CURSOR, CURSOR + ":0", CURSOR + ":12345", CURSOR + ":4:" + NEXT })
	void textIsParsedAndWritten(String text) {
		assertThat(SlsOffset.parse(new Offset(text)).toOffset().value()).isEqualTo(text);
	}

	@ParameterizedTest
	@ValueSource(strings = { "earliest", "unknown", "1731-0", "42", ":0", CURSOR + ":", CURSOR + ":-1", CURSOR + ":01",
			CURSOR + ":1:", CURSOR + ":1:x", CURSOR + ":12345678901234567890", "abcd", "bm90IGEgbnVtYmVy",
			CURSOR + ":1:" + NEXT + ":2", " " + CURSOR })
	void otherTextIsRefused(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> SlsOffset.parse(new Offset(text)))
			.withMessageContaining("'" + text + "' is no offset of an SLS topic");
	}

	@Test
	void readingResumesAfterTheLog() {
		SlsOffset inside = SlsOffset.parse(new Offset(CURSOR + ":4"));
		assertThat(inside.readFrom()).isEqualTo(CURSOR);
		assertThat(inside.skip()).isEqualTo(5);

		SlsOffset last = SlsOffset.parse(new Offset(CURSOR + ":4:" + NEXT));
		assertThat(last.readFrom()).isEqualTo(NEXT);
		assertThat(last.skip()).isZero();

		assertThat(SlsOffset.before(CURSOR).skip()).isZero();
		assertThat(SlsOffset.BEGIN.readFrom()).isNull();
	}

	@Test
	void positionBeforeALogIsThatAfterItsPredecessor() {
		assertThat(SlsOffset.parse(new Offset(CURSOR + ":4:" + NEXT)).previous()).hasToString(CURSOR + ":3");
		assertThat(SlsOffset.parse(new Offset(CURSOR + ":0")).previous()).hasToString(CURSOR);
		assertThat(SlsOffset.before(CURSOR).previous()).hasToString(CURSOR);
		assertThat(SlsOffset.BEGIN.previous()).hasToString("begin");
	}

	@Test
	void cursorsAreComparedAsNumbers() {
		// 9 and 10: not in the order of their texts.
		assertThat(SlsOffset.isBefore("OQ==", "MTA=")).isTrue();
		assertThat(SlsOffset.isBefore("MTA=", "OQ==")).isFalse();
		assertThat(SlsOffset.isBefore(CURSOR, CURSOR)).isFalse();
		assertThat(SlsOffset.isBefore("bm90IGEgbnVtYmVy", CURSOR)).as("unknown").isFalse();
	}

}
