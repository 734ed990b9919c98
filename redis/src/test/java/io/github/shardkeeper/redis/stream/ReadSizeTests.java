package io.github.shardkeeper.redis.stream;

import java.time.Instant;
import java.util.Collections;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.SourceRecord;

import static org.assertj.core.api.Assertions.assertThat;

class ReadSizeTests {

	@Test
	void smallRecordsAreReadInFullBatches() {
		assertThat(records(32, 140)).isEqualTo(500);
		assertThat(records(1, 0)).isEqualTo(500);
	}

	@Test
	void answerStaysWithinTheBudget() {
		assertThat(records(1, 1024 * 1024)).isEqualTo(8);
		assertThat(records(4, 1024 * 1024)).isEqualTo(2);
		assertThat(records(1000, 1024)).isEqualTo(8);
		assertThat(records(1, 100 * 1024 * 1024)).as("one at a time, whatever it is").isEqualTo(1);
	}

	@Test
	void readsInFlightShareTheBudget() {
		ReadSize half = new ReadSize(2);
		half.add(1024 * 1024, false);
		half.add(1024 * 1024, false);

		assertThat(half.records()).isEqualTo(2);
	}

	@Test
	void unreadStreamBeginsWithFewRecords() {
		ReadSize size = new ReadSize(1);
		size.add(140, false);
		size.add(0, true);

		assertThat(size.records()).isEqualTo(ReadSize.FIRST_RECORDS);
	}

	@Test
	void unreadStreamsShareTheFirstRecords() {
		ReadSize size = new ReadSize(1);
		for (int i = 0; i < 5; i++) {
			size.add(0, true);
		}
		assertThat(size.records()).isEqualTo(3);
		for (int i = 0; i < 1000; i++) {
			size.add(0, true);
		}
		assertThat(size.records()).as("one of each").isEqualTo(1);
	}

	@Test
	void averageFollowsTheLastRecords() {
		long average = ReadSize.average(0, ofBytes(1000, 10));
		assertThat(average).isEqualTo(1040);
		for (int i = 0; i < 20; i++) {
			average = ReadSize.average(average, ofBytes(100, 10));
		}
		assertThat(average).isBetween(140L, 142L);
	}

	@Test
	void idsAreComparedAsNumbers() {
		assertThat(EntryIds.compare("9-0", "10-0")).isNegative();
		assertThat(EntryIds.compare("10-9", "10-10")).isNegative();
		assertThat(EntryIds.compare("10-1", "10-1")).isZero();
		assertThat(EntryIds.compare("18446744073709551615-0", "1-0")).isPositive();
	}

	@Test
	void streamMustNotEndBeforeAnOffsetUnlessItStandsForATime() {
		assertThat(new StreamInfo("1-0", "5-0", null).endsBefore("7-0")).isTrue();
		assertThat(new StreamInfo("1-0", "7-0", null).endsBefore("7-0")).isFalse();
		assertThat(new StreamInfo("1-0", "5-0", null).endsBefore("7-18446744073709551615")).isFalse();
		assertThat(new StreamInfo(null, "0-0", null).endsBefore("7-0")).isFalse();
	}

	@Test
	void entriesDeletedAfterAnOffsetAreAGap() {
		assertThat(new StreamInfo("1-0", "9-0", "8-0").gapAfter("7-0")).contains("some up to 8-0");
		assertThat(new StreamInfo("1-0", "9-0", "7-0").gapAfter("7-0")).isNull();
		assertThat(new StreamInfo("1-0", "9-0", "8-0").gapAfter("0-0")).isNull();
	}

	/**
	 * The highest id that was deleted stays at 0-0 then, and before Redis 7 there is
	 * none.
	 */
	@Test
	void streamThatBeginsAfterAnOffsetMayHaveAGap() {
		assertThat(new StreamInfo("8-0", "9-0", "0-0").gapAfter("7-0")).contains("8-0", "7-0", "may");
		assertThat(new StreamInfo("8-0", "9-0", null).gapAfter("7-0")).contains("may");
		assertThat(new StreamInfo("7-0", "9-0", "0-0").gapAfter("7-0")).as("its entry is there").isNull();
		assertThat(new StreamInfo("6-0", "9-0", "0-0").gapAfter("7-0")).isNull();
		assertThat(new StreamInfo("7-1", "9-0", "0-0").gapAfter("7-0")).as("nothing is between").isNull();
		assertThat(new StreamInfo("8-0", "9-0", "0-0").gapAfter("7-18446744073709551615")).as("a time").isNull();
		assertThat(new StreamInfo(null, "9-0", "0-0").gapAfter("7-0")).contains("all entries", "9-0");
		assertThat(new StreamInfo(null, "7-0", "0-0").gapAfter("7-0")).isNull();
	}

	private static int records(int streams, long averageBytes) {
		ReadSize size = new ReadSize(1);
		for (int i = 0; i < streams; i++) {
			size.add(averageBytes, false);
		}
		return size.records();
	}

	private static List<SourceRecord> ofBytes(int bytes, int count) {
		return Collections.nCopies(count,
				new SourceRecord(new Offset("1-0"), null, new byte[bytes], Instant.ofEpochMilli(1)));
	}

}
