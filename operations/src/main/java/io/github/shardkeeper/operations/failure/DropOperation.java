package io.github.shardkeeper.operations.failure;

import java.util.List;

import io.github.shardkeeper.DeadLetterFilter;
import io.github.shardkeeper.DeadLetters;

/** Deletes dead letters. Thread-safe. */
public final class DropOperation extends DeadLetterOperation {

	public DropOperation(DeadLetterPages pages) {
		super("drop", pages);
	}

	@Override
	String would() {
		return "Would be deleted permanently";
	}

	@Override
	List<String> performOne(DeadLetters letters, String id) {
		return List.of(letters.drop(id) ? "Deleted: " + id : gone(id));
	}

	@Override
	List<String> performEach(DeadLetters letters, List<String> ids) {
		return List.of("Deleted: " + number(ids.stream().filter(letters::drop).count()));
	}

	@Override
	List<String> performAll(DeadLetters letters, DeadLetterFilter filter) {
		return List.of("Deleted: " + number(letters.drop(filter)));
	}

}
