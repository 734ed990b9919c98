package io.github.shardkeeper.coordination;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.coordination.GroupNotes.Kind;

import static org.assertj.core.api.Assertions.assertThat;

/** Rules of {@link GroupNotes}, the same for every store. */
public abstract class GroupNotesContract {

	protected GroupNotes notes;

	/** Returns the notes of a group that never existed before. */
	protected abstract GroupNotes createNotes();

	@BeforeEach
	protected final void openNotes() {
		this.notes = createNotes();
	}

	@Test
	void nothingIsThereAtFirst() {
		assertThat(this.notes.read(Kind.PROBLEMS, List.of("a~1", "b~1"))).isEmpty();
		assertThat(this.notes.read(Kind.PROBLEMS, List.of())).isEmpty();
		assertThat(this.notes.names(Kind.REASONS).join()).isEmpty();
	}

	@Test
	void textsAreReadByName() {
		this.notes.write(Kind.PROBLEMS, Map.of("a~1", "óne\ntwo", "b~1", "three")).join();
		this.notes.write(Kind.REASONS, Map.of("a~1", "other")).join();

		assertThat(this.notes.read(Kind.PROBLEMS, List.of("b~1", "c~1", "a~1")))
			.isEqualTo(Map.of("a~1", "óne\ntwo", "b~1", "three"));
		assertThat(this.notes.names(Kind.PROBLEMS).join()).containsExactlyInAnyOrder("a~1", "b~1");
		assertThat(this.notes.names(Kind.REASONS).join()).containsExactly("a~1");
	}

	@Test
	void laterTextReplacesAndEmptyTextRemoves() {
		this.notes.write(Kind.PROBLEMS, Map.of("a~1", "one", "b~1", "two")).join();
		this.notes.write(Kind.PROBLEMS, Map.of("a~1", "three", "b~1", "", "c~1", "")).join();

		assertThat(this.notes.read(Kind.PROBLEMS, List.of("a~1", "b~1", "c~1"))).isEqualTo(Map.of("a~1", "three"));
		assertThat(this.notes.names(Kind.PROBLEMS).join()).containsExactly("a~1");
	}

	@Test
	void missingTextsAreAdded() {
		this.notes.write(Kind.REASONS, Map.of("orders/1", "one")).join();
		this.notes.writeMissing(Kind.REASONS, Map.of("orders/1", "other", "orders/2", "two")).join();

		assertThat(this.notes.read(Kind.REASONS, List.of("orders/1", "orders/2")))
			.isEqualTo(Map.of("orders/1", "one", "orders/2", "two"));
	}

	@Test
	void longestTextIsReadAndALongerOneIsEmpty() {
		this.notes
			.write(Kind.PROBLEMS,
					Map.of("a~1", "é".repeat(GroupNotes.MAX_LENGTH), "b~1", "x".repeat(GroupNotes.MAX_LENGTH + 1),
							"c~1", "x".repeat(1_000_000)))
			.join();

		Map<String, String> texts = this.notes.read(Kind.PROBLEMS, List.of("a~1", "b~1", "c~1"));
		assertThat(texts.get("a~1")).hasSize(GroupNotes.MAX_LENGTH);
		assertThat(texts).containsEntry("b~1", "").containsEntry("c~1", "");
	}

	@Test
	void textsOfATopicAreRemoved() {
		this.notes.write(Kind.REASONS, Map.of("old/1", "a", "old/2", "b", "older/1", "c")).join();

		this.notes.removeAll(Kind.REASONS, "old/");
		this.notes.removeAll(Kind.PROBLEMS, "old/");

		assertThat(this.notes.names(Kind.REASONS).join()).containsExactly("older/1");
	}

}
