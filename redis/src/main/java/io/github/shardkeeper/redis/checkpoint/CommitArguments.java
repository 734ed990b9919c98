package io.github.shardkeeper.redis.checkpoint;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.github.shardkeeper.checkpoint.CheckpointJson;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.Retry;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.checkpoint.Outbox;
import io.github.shardkeeper.shard.Token;

/** Arguments of {@code commit.lua} for a commit. Confined to one thread. */
final class CommitArguments {

	private final List<byte[]> arguments;

	private CommitArguments(int expected) {
		this.arguments = new ArrayList<>(expected);
	}

	static List<byte[]> of(Token token, Commit commit) {
		int puts = present(commit.changes());
		int timers = present(commit.timers());
		CommitArguments to = new CommitArguments(14 + puts + commit.changes().size() + commit.taken().size()
				+ 4 * commit.retries().size() + 3 * commit.deadLetters().size() + timers + commit.timers().size());
		to.add(token.toString());
		to.add(commit.number().attempt());
		to.add(commit.number().acknowledged());
		to.add(commit.number().acquisition());
		to.add((commit.offset() != null) ? commit.offset().value() : "");
		to.add(CheckpointJson.offsets(commit.ahead()));
		to.add(commit.clearsState() ? commit.seek() + " clears" : Long.toString(commit.seek()));
		to.add(puts);
		to.add(commit.changes().size() - puts);
		to.add(commit.taken().size());
		to.add(commit.retries().size());
		to.add(commit.deadLetters().size());
		to.add(timers);
		to.add(commit.timers().size() - timers);
		commit.changes().forEach((key, value) -> {
			if (value != null) {
				to.add(key);
				to.add(value);
			}
		});
		commit.changes().forEach((key, value) -> {
			if (value == null) {
				to.add(key);
			}
		});
		commit.taken().forEach((offset) -> to.add(offset.value()));
		for (Retry retry : commit.retries()) {
			to.add(retry.record().offset().value());
			to.add(retry.delay().toMillis());
			to.add(retry.record());
		}
		for (FailedRecord letter : commit.deadLetters()) {
			to.add(letter.offset().value());
			to.add(letter);
		}
		commit.timers().forEach((id, due) -> {
			if (due != null) {
				to.arguments.add(CheckpointFormat.timer(id));
				to.add(due.toEpochMilli());
			}
		});
		commit.timers().forEach((id, due) -> {
			if (due == null) {
				to.arguments.add(CheckpointFormat.timer(id));
			}
		});
		if (!commit.outbox().isEmpty()) {
			to.add(commit.outbox());
		}
		return to.arguments;
	}

	private static int present(Map<?, ?> changes) {
		return (int) changes.values().stream().filter((value) -> value != null).count();
	}

	private void add(Outbox.Changes changes) {
		add(changes.whole() ? "1" : "0");
		add(changes.era());
		add((changes.last() != null) ? changes.last().toString() : "");
		add(changes.numbers().size());
		add(changes.removed().size());
		add(changes.added().size());
		changes.numbers().forEach((target, number) -> {
			add(target.toString());
			add(number);
		});
		changes.removed().forEach((place) -> add(place.toString()));
		for (Outbox.Entry entry : changes.added()) {
			add(entry.place().toString());
			add(entry.target().toString());
			this.arguments.add(CheckpointJson.about(entry));
			this.arguments.add(entry.payload());
		}
	}

	private void add(FailedRecord record) {
		this.arguments.add(CheckpointJson.about(record));
		this.arguments.add(record.payload());
	}

	private void add(long number) {
		add(Long.toString(number));
	}

	private void add(String text) {
		this.arguments.add(text.getBytes(StandardCharsets.UTF_8));
	}

}
