package io.github.shardkeeper.shard;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Members, tokens and offsets. */
class ValuesTests {

	@Test
	void memberIdConsistsOfInstanceAndSession() {
		MemberId member = MemberId.of("host-17", "k3v9x1");

		assertThat(member).hasToString("host-17~k3v9x1").isEqualTo(new MemberId("host-17~k3v9x1"));
		assertThat(member.instance()).isEqualTo("host-17");
		assertThat(member).isLessThan(MemberId.of("host-18", "a"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "host", "~1", "host~", "ho st~1", "host~1~2", "{host}~1" })
	void malformedMemberIdIsRefused(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> new MemberId(text)).withMessageContaining(text);
	}

	@Test
	void tokensAreOrderedAsNumbers() {
		assertThat(new Token(10)).isGreaterThan(new Token(9)).isGreaterThan(Token.NONE).hasToString("10");
	}

	@Test
	void emptyOffsetIsRefused() {
		assertThat(new Offset("1731-0")).hasToString("1731-0");
		assertThatIllegalArgumentException().isThrownBy(() -> new Offset(""));
	}

}
