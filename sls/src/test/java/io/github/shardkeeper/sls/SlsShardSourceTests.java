package io.github.shardkeeper.sls;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.AfterEach;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.sls.testsupport.SlsTestServer;
import io.github.shardkeeper.source.ShardAppender;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.test.ReshardedSourceContract;

import static org.assertj.core.api.Assertions.assertThat;

class SlsShardSourceTests extends ReshardedSourceContract {

	private final SlsTestServer server = new SlsTestServer();

	private final TestSource settings = new TestSource(this.server);

	@AfterEach
	void stopServer() {
		this.server.close();
	}

	@Override
	protected ShardSource createSource(Map<String, Integer> topics) {
		topics.forEach((topic, shards) -> {
			this.server.createLogstore(topic, shards);
			this.settings.topic(topic);
		});
		SlsShardSource source = this.settings.open();
		topics.keySet().forEach((topic) -> source.refresh(topic, true));
		return source;
	}

	@Override
	protected Set<Ability> abilities() {
		return EnumSet.complementOf(EnumSet.of(Ability.RAISING));
	}

	@Override
	protected ShardAppender appender(ShardSource created) {
		return new ReadingAppender((SlsShardSource) created);
	}

	@Override
	protected List<ShardId> split(ShardSource source, ShardId shard) {
		return this.server.split(shard.topic(), Integer.parseInt(shard.id()))
			.stream()
			.map((child) -> ShardId.of(shard.topic(), child))
			.toList();
	}

	/**
	 * SLS does not return the offsets of appended records: reads them. Also creates
	 * shards that the topic does not list.
	 */
	private final class ReadingAppender implements ShardAppender {

		private final SlsShardSource source;

		private final SlsClient client;

		private final ShardLists lists;

		private final Map<ShardId, ShardFetch> fetches = new HashMap<>();

		ReadingAppender(SlsShardSource source) {
			this.source = source;
			SlsSettings all = SlsShardSourceTests.this.settings.settings();
			this.client = new SlsClient(all, TestSource.credentials());
			this.lists = new ShardLists(this.client, all, System::nanoTime);
		}

		@Override
		public void check(NewRecord newRecord) {
			this.source.check(newRecord);
		}

		@Override
		public List<CompletableFuture<Offset>> append(List<NewRecord> records) {
			records.forEach((newRecord) -> {
				if (Integer.parseInt(newRecord.shard().id()) == 45) {
					SlsShardSourceTests.this.server.addShard(newRecord.shard().topic(), 45);
				}
			});
			this.source.append(records)
				.forEach((appended) -> assertThat(appended.join()).isEqualTo(SlsShardSource.UNKNOWN_OFFSET));
			Map<ShardId, List<Integer>> byShard = new LinkedHashMap<>();
			for (int i = 0; i < records.size(); i++) {
				byShard.computeIfAbsent(records.get(i).shard(), (shard) -> new ArrayList<>()).add(i);
			}
			Offset[] offsets = new Offset[records.size()];
			byShard.forEach((shard, indexes) -> {
				List<Offset> read = read(shard, indexes.size());
				for (int i = 0; i < indexes.size(); i++) {
					offsets[indexes.get(i)] = read.get(i);
				}
			});
			return List.of(offsets).stream().map(CompletableFuture::completedFuture).toList();
		}

		private List<Offset> read(ShardId shard, int count) {
			ShardFetch fetch = this.fetches.computeIfAbsent(shard, (s) -> new ShardFetch(s, null, this.client,
					this.lists, SlsShardSourceTests.this.settings.settings(), System::nanoTime));
			List<Offset> offsets = new ArrayList<>();
			for (int attempt = 0; offsets.size() < count; attempt++) {
				assertThat(attempt).as("reads for %d records of %s", count, shard).isLessThan(1000);
				ShardFetch.Result result = fetch.next();
				if (result instanceof ShardFetch.Moved) {
					continue;
				}
				assertThat(result).isInstanceOf(ShardFetch.Fetched.class);
				((ShardFetch.Fetched) result).records().stream().map(SourceRecord::offset).forEach(offsets::add);
			}
			return offsets;
		}

	}

}
