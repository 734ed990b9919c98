package io.github.shardkeeper.coordination.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.CheckpointStore;
import io.github.shardkeeper.coordination.CheckpointStore.Checkpoint;
import io.github.shardkeeper.coordination.CheckpointStore.CommitReply;
import io.github.shardkeeper.coordination.Commit;
import io.github.shardkeeper.coordination.CommitNumber;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.Token;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What the files of a local data plane are, and what happens when they are not.
 */
class ShardFilesTests {

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final Token TOKEN = new Token(17);

	@TempDir
	private Path directory;

	private LocalCheckpointStore open() {
		return new LocalCheckpointStore(this.directory, "shop", "one");
	}

	private Path file() {
		return this.directory.resolve("shop").resolve("one").resolve("orders~1.json");
	}

	@Test
	void anotherProcessGoesOnWhereTheFileIs() {
		try (CheckpointStore store = open()) {
			store.acquireNow(SHARD, TOKEN);
			commit(store, 1, "5-0");
		}

		try (CheckpointStore store = open()) {
			assertThat(store.read(SHARD)).isEqualTo(new Checkpoint(new Offset("5-0"), Map.of("at", "1")));
			assertThat(commit(store, 2, "6-0")).isEqualTo(CommitReply.COMMITTED);
		}
		assertThat(file()).isRegularFile();
	}

	@Test
	void instancesAndGroupsHaveFilesOfTheirOwn() {
		try (CheckpointStore one = open();
				CheckpointStore two = new LocalCheckpointStore(this.directory, "shop", "two");
				CheckpointStore other = new LocalCheckpointStore(this.directory, "other", "one")) {
			one.acquireNow(SHARD, TOKEN);
			commit(one, 1, "5-0");

			assertThat(two.read(SHARD).offset()).isNull();
			assertThat(other.read(SHARD).offset()).isNull();
		}
	}

	@Test
	void namesThatDifferOnlyInCapitalLettersHaveFilesThatDifferInMore() throws IOException {
		try (CheckpointStore store = open()) {
			for (String topic : Set.of("orders", "Orders", "oRDers")) {
				store.acquireNow(ShardId.of(topic, 1), TOKEN);
			}
		}
		try (Stream<Path> files = Files.list(file().getParent())) {
			Set<String> names = files.map((file) -> file.getFileName().toString().toLowerCase(Locale.ROOT))
				.filter((name) -> name.endsWith(".json"))
				.collect(Collectors.toSet());
			assertThat(names).hasSize(3);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "{", "{}", "null", "[]", "\u0000\u0000\u0000", "{\"format\":2}" })
	void aDamagedFileSaysWhatToDo(String contents) throws IOException {
		try (LocalCheckpointStore store = open()) {
			store.acquireNow(SHARD, TOKEN);
			commit(store, 1, "5-0");
			byte[] good = Files.readAllBytes(file());
			Files.writeString(file(), contents);

			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> store.acquireNow(SHARD, new Token(18)))
				.withMessageContaining(file().toString())
				.withMessageContaining("damaged")
				.withMessageContaining("delete it: orders/1 then begins anew where 'shardkeeper.topics.orders.start'");
			assertThat(store.acquire(SHARD, new Token(18))).as("nobody's call fails who does not wait")
				.isCompletedExceptionally();
			assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> commit(store, 2, "6-0"))
				.withCauseInstanceOf(StoreUnavailableException.class);
			assertThat(Files.readString(file())).as("left as it is").isEqualTo(contents);
			assertThat(store.read(ShardId.of("orders", 2)).offset()).as("others go on").isNull();

			Files.write(file(), good);
			assertThat(commit(store, 2, "6-0")).isEqualTo(CommitReply.COMMITTED);
			Files.delete(file());
			assertThat(store.read(SHARD).offset()).isNull();
		}
	}

	@Test
	void everyPieceThatIsCutOffIsDamage() throws IOException {
		try (LocalCheckpointStore store = open()) {
			store.acquireNow(SHARD, TOKEN);
			commit(store, 1, "5-0");
			byte[] good = Files.readAllBytes(file());
			for (int length = 0; length < good.length; length++) {
				Files.write(file(), Arrays.copyOf(good, length));
				assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> store.read(SHARD));
			}
		}
	}

	@Test
	void aDamagedTimeSaysWhatToDo() throws IOException {
		try (CheckpointStore store = open()) {
			store.consumedSince("orders");
			Path since = file().resolveSibling("orders.since");
			Files.writeString(since, "yesterday");

			assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> store.consumedSince("orders"))
				.withMessageContaining(since.toString())
				.withMessageContaining("milliseconds since 1970");
			Files.writeString(since, "1767225600000\n");
			assertThat(store.consumedSince("orders").toEpochMilli()).isEqualTo(1767225600000L);
		}
	}

	@Test
	void aDirectoryThatCannotBeWrittenIsRefused() throws IOException {
		Path notADirectory = Files.writeString(this.directory.resolve("file"), "");

		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> new ShardFiles(notADirectory, "shop", "one", InstantSource.system()))
			.withMessageContaining(notADirectory.toString());
	}

	private static CommitReply commit(CheckpointStore store, long number, String offset) {
		return store
			.commit(SHARD, TOKEN,
					Commit.of(CommitNumber.ofWhole(number), new Offset(offset), Map.of("at", Long.toString(number))))
			.orTimeout(1, TimeUnit.MINUTES)
			.join();
	}

}
