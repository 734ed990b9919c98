package io.github.shardkeeper.source.fixed;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.github.shardkeeper.schedule.RunPosition;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.ShardSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@Timeout(30)
class FixedShardSourceTests {

	private final Changing names = new Changing();

	private ShardSource source;

	@AfterEach
	void close() {
		if (this.source != null) {
			this.source.close();
		}
	}

	@Test
	void shardsAreACountOrNames() {
		create(Map.of("ranges", FixedShardSource.count(4), "tenants",
				FixedShardSource.names("tenants", List.of("globex", "acme"))));

		assertThat(this.source.topics()).containsExactlyInAnyOrderEntriesOf(Map.of("ranges",
				TopicShards.count(4).exactly(), "tenants", TopicShards.NONE.with("acme").with("globex").exactly()));
		assertThat(this.source.hasRecords("ranges")).isFalse();
		assertThat(this.source.problems()).isEmpty();
	}

	@Test
	void invalidNameIsRefused() {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> FixedShardSource.names("tenants", List.of("acme", "no name")))
			.withMessageContaining("The name 'no name' in the list of shards of 'tenants' is not valid");
		List<String> many = new ArrayList<>();
		for (int number = 0; number <= TopicShards.MOST_SHARDS; number++) {
			many.add("tenant-" + number);
		}
		assertThatIllegalArgumentException().isThrownBy(() -> FixedShardSource.names("tenants", many))
			.withMessageContaining("at most 100,000 shards");
	}

	@Test
	void changesAreListedOnlyWhileSomebodyWatches() throws InterruptedException {
		this.names.list = List.of("acme");
		create(Map.of());
		assertThat(this.names.calls.take()).as("at first").isEqualTo("tenants");
		assertThat(this.source.topics()).containsExactly(Map.entry("tenants", exactly("acme")));
		BlockingQueue<Map<String, TopicShards>> seen = new LinkedBlockingQueue<>();
		assertThat(this.names.calls).isEmpty();
		ShardSource.Watch watch = this.source.watch(() -> seen.add(this.source.topics()));
		this.names.list = List.of("globex", "acme");
		assertThat(seen.take()).containsEntry("tenants", exactly("acme", "globex"));
		this.names.list = List.of();
		assertThat(seen.take()).as("no shards, for sure").containsEntry("tenants", TopicShards.NONE.exactly());
		watch.close();
		this.names.awaitEndOfCalls();
		this.names.list = List.of("acme");

		assertThat(this.names.calls.poll(500, TimeUnit.MILLISECONDS)).isNull();
		assertThat(this.source.topics()).containsEntry("tenants", TopicShards.NONE.exactly());
	}

	@Test
	void lastListStaysWhileNamesCannotBeListed() throws InterruptedException {
		this.names.list = List.of("acme");
		create(Map.of());
		this.names.list = null;
		this.source.watch(() -> {
		});
		this.names.awaitCalls(3);

		assertThat(this.source.topics()).containsEntry("tenants", exactly("acme"));
		assertThat(this.source.problems().get("tenants")).contains("The shards of 'tenants' cannot be listed",
				"ShardNames.names has returned null");
		this.names.list = List.of("globex");
		this.names.awaitCalls(3);
		assertThat(this.source.topics()).containsEntry("tenants", exactly("globex"));
		assertThat(this.source.problems()).isEmpty();
	}

	/** Nothing is withdrawn because of a list that is not known. */
	@Test
	void listThatWasNeverKnownIsNotExact() {
		this.names.list = null;
		create(Map.of());

		assertThat(this.source.topics()).containsEntry("tenants", TopicShards.NONE);
		assertThat(this.source.topics().get("tenants").isExact()).isFalse();
		assertThat(this.source.problems()).containsKey("tenants");
	}

	@Test
	void invalidNamesAreLeftOutAndReported() throws InterruptedException {
		this.names.list = Arrays.asList("acme", "a/b", null, "", "globex");
		create(Map.of());

		assertThat(this.source.topics()).containsEntry("tenants", exactly("acme", "globex"));
		assertThat(this.source.problems().get("tenants"))
			.contains("3 names of shards of 'tenants' are not valid and not consumed", "'a/b'", "Use 1 to 100 letters");
		this.names.list = List.of("acme");
		this.source.watch(() -> {
		});
		this.names.awaitCalls(3);
		assertThat(this.source.problems()).isEmpty();
	}

	@Test
	void everyPositionIsTheBeginningOfTheSchedule() {
		create(Map.of("ranges", FixedShardSource.count(1)));
		ShardId shard = ShardId.of("ranges", 0);
		for (StartPosition position : List.of(StartPosition.EARLIEST, StartPosition.LATEST,
				StartPosition.at(Instant.EPOCH))) {
			Offset offset = this.source.before(position, List.of(shard)).get(shard);
			assertThat(offset).isNotNull();
			assertThat(RunPosition.of(offset)).isNull();
		}
		for (StartPosition position : List.of(StartPosition.from(new Offset("1")),
				StartPosition.after(new Offset("1")))) {
			assertThatIllegalArgumentException().isThrownBy(() -> this.source.before(position, List.of(shard)))
				.withMessageContaining("is an offset, and shards without records have none");
		}
	}

	@Test
	void closedReaderDoesNotWait() throws InterruptedException {
		create(Map.of("ranges", FixedShardSource.count(1)));
		ShardReader reader = this.source.openReader();
		Thread closer = new Thread(reader::close);
		closer.start();

		assertThat(reader.poll()).isTrue();
		closer.join();
		assertThat(reader.poll()).isTrue();
		assertThat(reader.problems()).isEmpty();
	}

	private void create(Map<String, TopicShards> fixed) {
		this.source = new FixedShardSource(fixed, fixed.isEmpty() ? Map.of("tenants", this.names) : Map.of());
	}

	private static TopicShards exactly(String... names) {
		return TopicShards.ids(List.of(names)).exactly();
	}

	private static final class Changing implements ShardNames {

		private final BlockingQueue<String> calls = new LinkedBlockingQueue<>();

		private volatile List<String> list;

		@Override
		public Collection<String> names(String topic) {
			this.calls.add(topic);
			return this.list;
		}

		@Override
		public Duration interval() {
			return Duration.ofMillis(1);
		}

		/** The first of these began after now, and the last but one has ended. */
		void awaitCalls(int number) throws InterruptedException {
			this.calls.clear();
			for (int call = 0; call < number; call++) {
				this.calls.take();
			}
		}

		void awaitEndOfCalls() throws InterruptedException {
			while (this.calls.poll(300, TimeUnit.MILLISECONDS) != null) {
			}
		}

	}

}
