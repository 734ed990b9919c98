package io.github.shardkeeper.operations.request;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.shard.ShardId;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class ShardQueryTests {

	@Test
	void everythingIsOptional() {
		assertThat(ShardQuery.parse(null, null, null, null, null, null, null)).isEqualTo(ShardQuery.FIRST_PAGE);
	}

	@Test
	void everyPartIsParsed() {
		assertThat(ShardQuery.parse("orders", "one~x1", "REVOKING", "true", "orders/17", "1000", "true"))
			.isEqualTo(new ShardQuery("orders", "one~x1", Phase.REVOKING, true, ShardId.of("orders", 17), 1000, true));
		assertThat(ShardQuery.parse(null, "one", null, "false", null, "0", "false"))
			.isEqualTo(new ShardQuery(null, "one", null, false, null, 0, false));
	}

	@ParameterizedTest
	@CsvSource(quoteCharacter = '`', delimiter = ';', value = { //
			"limit; 1001; 'limit' is '1001', but must be a number from 0 to 1000",
			"limit; -1; 'limit' is '-1', but must be a number from 0 to 1000",
			"limit; ten; 'limit' is 'ten', but must be a number from 0 to 1000",
			"limit; 99999999999; 'limit' is '99999999999', but must be a number from 0 to 1000",
			"limit; ``; 'limit' is '', but must be a number from 0 to 1000",
			"topic; <b>x</b>; 'topic' is '<b>x</b>', but must be the name of a topic",
			"topic; ``; 'topic' is '', but must be the name of a topic",
			"member; a~b~c; 'member' is 'a~b~c', but must be the id of a member or of an instance",
			"member; a/b; 'member' is 'a/b', but must be the id of a member or of an instance",
			"state; owned; 'state' is 'owned', but must be one of FREE, OWNED, REVOKING, QUIET, COMPLETED",
			"problem; yes; 'problem' is 'yes', but must be true or false",
			"deadLetters; 1; 'deadLetters' is '1', but must be true or false",
			"after; orders; 'after' is 'orders', but must be a shard, written topic/id, as in the 'next' of a reply",
			"after; a/b/c; 'after' is 'a/b/c', but must be a shard, written topic/id, as in the 'next' of a reply" })
	void malformedPartIsRefusedWithTheReason(String name, String value, String reason) {
		assertThatIllegalArgumentException().isThrownBy(() -> parse(name, value)).withMessage(reason);
	}

	@Test
	void lineBreaksAndLongTextsAreNotRepeated() {
		assertThatIllegalArgumentException().isThrownBy(() -> parse("topic", "a\r\nb" + "x".repeat(5_000)))
			.satisfies(
					(failure) -> assertThat(failure.getMessage()).contains("a\\u000d\\u000abxxx").hasSizeLessThan(250));
	}

	private static ShardQuery parse(String name, String value) {
		return ShardQuery.parse(only("topic", name, value), only("member", name, value), only("state", name, value),
				only("problem", name, value), only("after", name, value), only("limit", name, value),
				only("deadLetters", name, value));
	}

	private static @Nullable String only(String part, String name, String value) {
		return part.equals(name) ? value : null;
	}

}
