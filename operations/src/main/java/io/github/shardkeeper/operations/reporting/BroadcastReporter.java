package io.github.shardkeeper.operations.reporting;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.protocol.MemberProblems;
import io.github.shardkeeper.report.BroadcastReport;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.text.PrintableText;

/**
 * Creates reports of the broadcast topics that this instance consumes. They belong to no
 * group, and nobody else knows about them. Thread-safe.
 */
public final class BroadcastReporter {

	private final Supplier<Set<String>> topics;

	private final Supplier<Set<ShardId>> shards;

	private final Supplier<Map<ShardId, String>> problems;

	private final @Nullable DeadLetterStore letters;

	/**
	 * Creates a reporter.
	 * @param topics the broadcast topics that this instance consumes
	 * @param shards the shards that it consumes, of other topics, too
	 * @param problems why shards make no progress, of other topics, too
	 * @param letters the dead letters of broadcast topics; {@code null} if there are none
	 */
	public BroadcastReporter(Supplier<Set<String>> topics, Supplier<Set<ShardId>> shards,
			Supplier<Map<ShardId, String>> problems, @Nullable DeadLetterStore letters) {
		this.topics = topics;
		this.shards = shards;
		this.problems = problems;
		this.letters = letters;
	}

	/**
	 * Returns the reports, ordered by topic. Does not fail if the store does not reply.
	 * @param countsLetters whether to count dead letters, a small command per shard
	 */
	List<BroadcastReport> reports(boolean countsLetters) {
		Set<String> all = this.topics.get();
		if (all.isEmpty()) {
			return List.of();
		}
		Set<ShardId> consumed = this.shards.get();
		Map<ShardId, String> found = this.problems.get();
		return all.stream().sorted().map((topic) -> {
			List<ShardId> some = consumed.stream().filter((shard) -> shard.topic().equals(topic)).sorted().toList();
			SortedMap<String, String> texts = new TreeMap<>();
			found.forEach((shard, text) -> {
				if (shard.topic().equals(topic)) {
					texts.put(shard.id(), PrintableText.of(text, MemberProblems.LONGEST_PROBLEM));
				}
			});
			return new BroadcastReport(topic, some.size(), texts, countsLetters ? count(some) : null);
		}).toList();
	}

	private @Nullable Long count(Collection<ShardId> some) {
		DeadLetterStore store = this.letters;
		try {
			return (store != null) ? store.countDeadLetters(some).values().stream().mapToLong(Long::longValue).sum()
					: null;
		}
		catch (StoreUnavailableException ex) {
			// The group's report says whether the store replies.
			return null;
		}
	}

}
