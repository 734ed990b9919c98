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

	/** 1447299606896632358. */
	private static final String LAST = "MTQ0NzI5OTYwNjg5NjYzMjM1OA==";

	@ParameterizedTest
	@ValueSource(strings = { "begin", CURSOR, CURSOR + ":0", CURSOR + ":12345", CURSOR + ":4:" + NEXT,
			CURSOR + ":12:" + NEXT + ":3", CURSOR + ":12:" + NEXT + ":12:" + LAST })
	void textIsParsedAndWritten(String text) {
		assertThat(SlsOffset.parse(new Offset(text)).toOffset().value()).isEqualTo(text);
	}

	@ParameterizedTest
	@ValueSource(strings = { "earliest", "unknown", "1731-0", "42", ":0", CURSOR + ":", CURSOR + ":-1", CURSOR + ":01",
			CURSOR + ":1:", CURSOR + ":1:x", CURSOR + ":12345678901234567890", "abcd", "bm90IGEgbnVtYmVy",
			CURSOR + ":1:" + NEXT + ":2", NEXT + ":2:" + CURSOR + ":1", CURSOR + ":2:" + CURSOR + ":1",
			CURSOR + ":2:" + NEXT + ":1:x", CURSOR + ":2:" + NEXT + ":1:" + LAST + ":0", " " + CURSOR })
	void otherTextIsRefused(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> SlsOffset.parse(new Offset(text)))
			.withMessageContaining("'" + text + "' is no offset of an SLS topic");
	}

	@Test
	void readingResumesAfterTheLog() {
		SlsOffset inside = parse(CURSOR + ":4");
		assertThat(inside.resumeAt()).isEqualTo(SlsOffset.Place.origin(CURSOR));
		assertThat(inside.skip()).isEqualTo(5);

		SlsOffset last = parse(CURSOR + ":4:" + NEXT);
		assertThat(last.resumeAt()).isEqualTo(new SlsOffset.Place(NEXT, CURSOR, 5));
		assertThat(last.skip()).isZero();

		SlsOffset later = parse(CURSOR + ":12:" + NEXT + ":3");
		assertThat(later.resumeAt()).isEqualTo(new SlsOffset.Place(NEXT, CURSOR, 9));
		assertThat(later.skip()).isEqualTo(4);

		SlsOffset lastOfLater = parse(CURSOR + ":12:" + NEXT + ":3:" + LAST);
		assertThat(lastOfLater.resumeAt()).isEqualTo(new SlsOffset.Place(LAST, CURSOR, 13));
		assertThat(lastOfLater.skip()).isZero();

		assertThat(SlsOffset.before(CURSOR).resumeAt()).isEqualTo(SlsOffset.Place.origin(CURSOR));
		assertThat(SlsOffset.before(CURSOR).skip()).isZero();
		assertThat(SlsOffset.BEGIN.resumeAt()).isNull();
	}

	@Test
	void identityIsTheNumberAfterTheOrigin() {
		assertThat(parse(CURSOR + ":12:" + NEXT + ":3:" + LAST).identity()).hasToString(CURSOR + ":12");
		assertThat(parse(CURSOR + ":12").identity()).hasToString(CURSOR + ":12");
	}

	@Test
	void positionBeforeALogIsThatAfterItsPredecessor() {
		assertThat(parse(CURSOR + ":4:" + NEXT).previous()).hasToString(CURSOR + ":3");
		assertThat(parse(CURSOR + ":12:" + NEXT + ":3:" + LAST).previous()).hasToString(NEXT + ":2");
		assertThat(parse(CURSOR + ":12:" + NEXT + ":0").previous()).hasToString(NEXT);
		assertThat(parse(CURSOR + ":0").previous()).hasToString(CURSOR);
		assertThat(SlsOffset.before(CURSOR).previous()).hasToString(CURSOR);
		assertThat(SlsOffset.BEGIN.previous()).hasToString("begin");
	}

	private static SlsOffset parse(String text) {
		return SlsOffset.parse(new Offset(text));
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
