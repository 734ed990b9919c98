package io.github.shardkeeper.source;

import java.time.Instant;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class NumericOffsetsTests {

	private static final ShardId ZERO = ShardId.of("orders", 0);

	private static final ShardId ONE = ShardId.of("orders", 1);

	@Test
	void numbersAreParsedAsTheyAreWritten() {
		for (long number : new long[] { NumericOffsets.BEFORE_ALL, 0, 1, Long.MAX_VALUE }) {
			assertThat(NumericOffsets.number(NumericOffsets.of(number))).isEqualTo(number);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "-2", "earlist", "1.5", "9223372036854775808", " 1" })
	void invalidOffsetIsRefused(String value) {
		assertThatIllegalArgumentException().isThrownBy(() -> NumericOffsets.number(new Offset(value)))
			.withMessageContaining("'%s' is not an offset of this source".formatted(value))
			.withMessageContaining("0 or more");
	}

	@Test
	void negativeNumberIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> NumericOffsets.of(-2)).withMessageContaining("-2");
	}

	@Test
	void positionsWithOffsetsNeedNoSource() {
		assertThat(resolve(StartPosition.EARLIEST)).containsOnly(offset(ZERO, -1), offset(ONE, -1));
		assertThat(resolve(StartPosition.from(new Offset("7")))).containsOnly(offset(ZERO, 6), offset(ONE, 6));
		assertThat(resolve(StartPosition.after(new Offset("7")))).containsOnly(offset(ZERO, 7), offset(ONE, 7));
		assertThat(resolve(StartPosition.from(new Offset("-1")))).containsOnly(offset(ZERO, -1), offset(ONE, -1));
	}

	@Test
	void otherPositionsAreAskedOfTheSource() {
		assertThat(NumericOffsets.before(StartPosition.LATEST, List.of(ZERO, ONE), (shard) -> shard.equals(ONE) ? 9 : 4,
				(shard, time) -> {
					throw new IllegalStateException("not asked");
				}))
			.containsOnly(offset(ZERO, 4), offset(ONE, 9));
		Instant time = Instant.ofEpochMilli(30);
		assertThat(NumericOffsets.before(StartPosition.at(time), List.of(ONE), (shard) -> {
			throw new IllegalStateException("not asked");
		}, (shard, at) -> at.toEpochMilli() + 1)).containsOnly(offset(ONE, 31));
	}

	private static Map<ShardId, Offset> resolve(StartPosition position) {
		return NumericOffsets.before(position, List.of(ZERO, ONE), (shard) -> {
			throw new IllegalStateException("not asked");
		}, (shard, time) -> {
			throw new IllegalStateException("not asked");
		});
	}

	private static Map.Entry<ShardId, Offset> offset(ShardId shard, long number) {
		return Map.entry(shard, new Offset(Long.toString(number)));
	}

}
