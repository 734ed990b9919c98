package io.github.shardkeeper.operations.failure;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import io.github.shardkeeper.DeadLetterFilter;
import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.DeadLetters.SentBack;
import io.github.shardkeeper.shard.ShardId;

/** Sends dead letters back to be handled again. Thread-safe. */
public final class SendBackOperation extends DeadLetterOperation {

	private static final int MOST_NAMED = 10;

	public SendBackOperation(DeadLetterPages pages) {
		super("send-back", pages);
	}

	@Override
	String would() {
		return "Would be sent back to be handled again";
	}

	@Override
	List<String> performOne(DeadLetters letters, String id) {
		SentBack sent = letters.sendBack(id);
		return sentences(sent, (sent.letters() > 0) ? "Sent back to be handled again: " + id : gone(id));
	}

	@Override
	List<String> performEach(DeadLetters letters, List<String> ids) {
		long moved = 0;
		Set<ShardId> completed = new TreeSet<>();
		for (String id : ids) {
			SentBack sent = letters.sendBack(id);
			moved += sent.letters();
			completed.addAll(sent.completedShards());
		}
		return sentences(new SentBack(moved, completed));
	}

	@Override
	List<String> performAll(DeadLetters letters, DeadLetterFilter filter) {
		return sentences(letters.sendBack(filter));
	}

	private static List<String> sentences(SentBack sent) {
		return sentences(sent, "Sent back to be handled again: " + number(sent.letters()));
	}

	private static List<String> sentences(SentBack sent, String first) {
		List<String> effects = new ArrayList<>();
		if (sent.letters() > 0 || sent.completedShards().isEmpty()) {
			effects.add(first);
		}
		if (!sent.completedShards().isEmpty()) {
			effects.add(
					"%d shards are completed and never consumed again, so their dead letters stay: %s. Send the payloads again, or drop them"
						.formatted(sent.completedShards().size(),
								new TreeSet<>(sent.completedShards()).stream().limit(MOST_NAMED).toList()));
		}
		return effects;
	}

}
