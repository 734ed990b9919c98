package io.github.shardkeeper.sample;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.test.MemoryShardState;

import static org.assertj.core.api.Assertions.assertThat;

class VisitCounterTests {

	private final VisitCounter counter = new VisitCounter();

	private final MemoryShardState state = new MemoryShardState();

	@Test
	void countsPerClient() {
		count(0, "192.0.2.1", "17/May/2015:10:05:03 +0000", 100);
		count(1, "192.0.2.2", "17/May/2015:10:05:04 +0000", 7);
		count(4, "192.0.2.1", "17/May/2015:10:05:05 +0000", 11);
		assertThat(visits("192.0.2.1")).isEqualTo(new ClientVisits(2, 111, "17/May/2015:10:05:05 +0000"));
		assertThat(visits("192.0.2.2")).isEqualTo(new ClientVisits(1, 7, "17/May/2015:10:05:04 +0000"));
	}

	@Test
	void repeatedLinesCountOnce() {
		for (int time = 0; time < 2; time++) {
			count(3, "192.0.2.1", "17/May/2015:10:05:03 +0000", 100);
			count(5, "192.0.2.1", "17/May/2015:10:05:04 +0000", 100);
		}
		assertThat(visits("192.0.2.1").count()).isEqualTo(2);
		assertThat(this.state.get("line", Long.class)).contains(5L);
	}

	@Test
	void damagedLineCountsWithoutBytesAndTime() {
		count(0, "192.0.2.1", "17/May/2015:10:05:03 +0000", 100);
		this.counter.count(new AccessLine(1, "192.0.2.1 - - [17/May"), this.state);
		assertThat(visits("192.0.2.1")).isEqualTo(new ClientVisits(2, 100, "17/May/2015:10:05:03 +0000"));
	}

	private void count(long number, String client, String time, int bytes) {
		this.counter.count(
				new AccessLine(number, "%s - - [%s] \"GET / HTTP/1.1\" 200 %d".formatted(client, time, bytes)),
				this.state);
	}

	private ClientVisits visits(String client) {
		return this.state.get("client:" + client, ClientVisits.class).orElseThrow();
	}

}
