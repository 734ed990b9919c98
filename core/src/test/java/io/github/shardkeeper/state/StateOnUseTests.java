package io.github.shardkeeper.state;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore.ExpiredKeys;
import io.github.shardkeeper.checkpoint.ExpiringValues;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Promise("State exactly once")
class StateOnUseTests {

	private final Source source = new Source();

	private final StateCache cache = new StateCache(10_000);

	private final StateOnUse state = new StateOnUse(this.cache, this.source);

	@Test
	void entryIsReadOnceAlsoIfThereIsNone() {
		this.source.stored.put("ann", "1");

		assertThat(read("ann")).isEqualTo("1");
		assertThat(read("bob")).isNull();
		assertThat(read("ann")).isEqualTo("1");
		assertThat(read("bob")).isNull();

		assertThat(this.source.requests).containsExactly(Set.of("ann"), Set.of("bob"));
		assertThat(this.state.known("bob")).isNull();
		assertThat(this.state.known("cid")).isEqualTo(StateEntries.UNREAD);
	}

	@Test
	void severalEntriesAreReadWithOneRequest() {
		this.source.stored.putAll(Map.of("ann", "1", "bob", "2"));
		read("ann");

		this.state.prefetch(List.of("ann", "bob", "cid"), this.state.writes());
		this.state.prefetch(List.of("ann", "bob", "cid"), this.state.writes());

		assertThat(read("bob")).isEqualTo("2");
		assertThat(read("cid")).isNull();
		assertThat(this.source.requests).containsExactly(Set.of("ann"), Set.of("bob", "cid"));
	}

	@Test
	void entriesThatWereNotUsedForTheLongestTimeAreForgottenFirst() {
		IntStream.range(0, 200).forEach((i) -> {
			read("key-" + i);
			read("key-0");
		});

		assertThat(this.cache.bytes()).isBetween(5_000L, 10_000L);
		assertThat(this.state.known("key-0")).isNull();
		assertThat(this.state.known("key-199")).isNull();
		assertThat(this.state.known("key-1")).isEqualTo(StateEntries.UNREAD);
		assertThat(this.source.requests).hasSize(200);
	}

	@Test
	void shardsShareTheCache() {
		StateOnUse other = new StateOnUse(this.cache, this.source);
		read("ann");

		IntStream.range(0, 200).forEach((i) -> other.read("key-" + i, 0));

		assertThat(this.state.known("ann")).isEqualTo(StateEntries.UNREAD);
		other.close();
		assertThat(this.cache.bytes()).isZero();
	}

	@Test
	void entryStaysUntilTheStoreHasIt() {
		this.state.put("ann", "2");
		long written = this.state.writes();
		this.state.put("bob", "3");
		IntStream.range(0, 200).forEach((i) -> read("key-" + i));
		assertThat(this.state.known("ann")).isEqualTo("2");
		assertThat(this.state.known("bob")).isEqualTo("3");

		this.state.committed(written);
		IntStream.range(0, 200).forEach((i) -> read("key-" + i));

		assertThat(this.state.known("ann")).isEqualTo(StateEntries.UNREAD);
		assertThat(this.state.known("bob")).as("it was written later").isEqualTo("3");
	}

	@Test
	void removedEntryStaysUntilTheStoreHasRemovedIt() {
		this.source.stored.put("ann", "1");
		this.state.put("ann", null);
		IntStream.range(0, 200).forEach((i) -> read("key-" + i));

		assertThat(read("ann")).isNull();
	}

	@Test
	void entryStaysWhileACallDependsOnIt() {
		this.source.stored.put("ann", "1");
		this.state.hold("ann");
		this.state.hold("ann");
		read("ann");
		this.state.release(List.of("ann"));
		IntStream.range(0, 200).forEach((i) -> read("key-" + i));
		assertThat(this.state.known("ann")).isEqualTo("1");

		this.state.release(List.of("ann"));
		IntStream.range(0, 200).forEach((i) -> read("key-" + i));

		assertThat(this.state.known("ann")).isEqualTo(StateEntries.UNREAD);
		this.state.hold("unread");
		this.state.release(List.of("unread"));
		assertThat(this.state.size()).isLessThan(60);
	}

	@Test
	void writeDuringAReadWins() {
		this.source.stored.put("ann", "1");
		this.state.hold("ann");
		this.source.whileReading = () -> this.state.put("ann", "2");

		assertThat(read("ann")).isEqualTo("2");
		assertThat(this.state.known("ann")).isEqualTo("2");
	}

	/** As in a transaction that sees the database as it was when it began. */
	@Test
	void readThatMayBeOlderThanAForgottenWriteIsNotKept() {
		this.source.stored.put("ann", "1");
		long opened = this.state.writes();
		this.state.put("ann", "2");
		this.state.committed(this.state.writes());
		IntStream.range(0, 200).forEach((i) -> read("key-" + i));
		this.state.hold("ann");

		assertThat(this.state.read("ann", opened)).isEqualTo("1");

		assertThat(this.state.known("ann")).as("the call is outdated").isEqualTo(StateEntries.UNREAD);
		this.source.stored.put("ann", "2");
		assertThat(read("ann")).isEqualTo("2");
		assertThat(this.state.known("ann")).isEqualTo("2");
	}

	@Test
	void readOutsideOfTransactionsIsKept() {
		this.source.snapshots = false;
		StateOnUse newest = new StateOnUse(this.cache, this.source);
		newest.put("bob", "2");
		newest.committed(newest.writes());
		IntStream.range(0, 200).forEach((i) -> newest.read("key-" + i, 0));
		assertThat(newest.known("bob")).isEqualTo(StateEntries.UNREAD);
		newest.hold("ann");

		newest.read("ann", 0);

		assertThat(newest.known("ann")).isNull();
	}

	@Test
	void nothingIsReadThatIsToBeRemoved() {
		this.source.stored.putAll(Map.of("ann", "1", "bob", "2"));
		read("ann");
		this.state.clear();
		this.state.put("cid", "3");

		assertThat(read("ann")).isNull();
		assertThat(read("bob")).isNull();
		this.state.prefetch(List.of("ann"), this.state.writes());
		assertThat(this.state.known("bob")).isNull();
		assertThat(this.state.keys("", 0)).containsExactly("cid");
		assertThat(this.source.requests).hasSize(1);

		this.source.stored.clear();
		this.source.stored.put("dan", "4");
		this.state.committed(this.state.writes());
		assertThat(read("dan")).isEqualTo("4");
		assertThat(read("ann")).isNull();
	}

	@Test
	void keysAreThoseOfTheStoreWithTheChangesInMemory() {
		this.source.stored.putAll(Map.of("ann", "1", "bob", "2", "cid", "3"));
		read("none");
		this.state.put("bob", null);
		this.state.put("dan", "4");
		this.state.put("ann", "5");

		assertThat(this.state.keys("", 0)).containsExactlyInAnyOrder("ann", "cid", "dan");
		assertThat(this.state.keys("a", 0)).containsExactly("ann");
	}

	@Test
	void expiredEntriesAreFoundInTheStore() {
		this.source.stored.putAll(Map.of("ann", "@1000 1", "bob", "@2000 2", "cid", "3"));
		assertThat(this.state.nextExpiry()).isEqualTo(ExpiringValues.NEVER);

		assertThat(this.state.readExpired(1500)).isTrue();
		assertThat(this.state.readExpired(1500)).isFalse();

		assertThat(this.state.expired(1500, (key) -> true, 10)).containsExactly("ann");
		this.state.put("ann", null);
		assertThat(this.state.nextExpiry()).isEqualTo(ExpiringValues.NEVER);
		assertThat(this.state.known("bob")).isEqualTo(StateEntries.UNREAD);
	}

	@Test
	void expiryOfAForgottenEntryIsForgotten() {
		this.source.stored.put("ann", "@1000 1");
		read("ann");
		assertThat(this.state.nextExpiry()).isEqualTo(1000);
		IntStream.range(0, 200).forEach((i) -> read("key-" + i));

		assertThat(this.state.nextExpiry()).isEqualTo(ExpiringValues.NEVER);
	}

	@Test
	void lostStateIsNotRead() {
		this.source.stored = null;

		assertThatThrownBy(() -> read("ann")).isInstanceOf(StoreUnavailableException.class)
			.hasMessageContaining("the store has lost writes");
		assertThat(this.state.isLost()).isTrue();
		assertThatThrownBy(() -> this.state.keys("", 0)).isInstanceOf(StoreUnavailableException.class);
		assertThatThrownBy(() -> this.state.prefetch(List.of("a"), 0)).isInstanceOf(StoreUnavailableException.class);
	}

	@Test
	void storeThatIsAwayIsAskedAgain() {
		this.source.whileReading = () -> {
			throw new StoreUnavailableException("away", null);
		};
		assertThatThrownBy(() -> read("ann")).hasMessage("away");
		this.source.whileReading = () -> {
		};
		this.source.stored.put("ann", "1");

		assertThat(read("ann")).isEqualTo("1");
		assertThat(this.state.isLost()).isFalse();
	}

	private Object read(String key) {
		return this.state.read(key, this.state.writes());
	}

	private static final class Source implements StateSource {

		private boolean snapshots = true;

		private Map<String, String> stored = new TreeMap<>();

		private final List<Set<String>> requests = new ArrayList<>();

		private Runnable whileReading = () -> {
		};

		@Override
		public boolean readsSnapshots() {
			return this.snapshots;
		}

		@Override
		public Map<String, String> entries(Collection<String> keys) {
			this.requests.add(Set.copyOf(keys));
			if (this.stored == null) {
				return null;
			}
			Map<String, String> found = new TreeMap<>(this.stored);
			found.keySet().retainAll(keys);
			this.whileReading.run();
			return found;
		}

		@Override
		public Set<String> keys(String prefix, long nowMillis) {
			return (this.stored == null) ? null
					: this.stored.keySet().stream().filter((key) -> key.startsWith(prefix)).collect(Collectors.toSet());
		}

		@Override
		public ExpiredKeys expired(String after, long nowMillis) {
			return new ExpiredKeys(this.stored.keySet()
				.stream()
				.filter((key) -> ExpiringValues.expiresAt(this.stored.get(key)) <= nowMillis)
				.toList(), (after == null) ? "more" : null);
		}

	}

}
