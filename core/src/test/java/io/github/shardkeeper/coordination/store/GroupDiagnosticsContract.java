package io.github.shardkeeper.coordination.store;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.coordination.store.GroupDiagnostics.Kind;

import static org.assertj.core.api.Assertions.assertThat;

/** Rules of {@link GroupDiagnostics}, the same for every store. */
public abstract class GroupDiagnosticsContract {

	protected GroupDiagnostics diagnostics;

	/** Returns the notes of a group that never existed before. */
	protected abstract GroupDiagnostics createNotes();

	@BeforeEach
	protected final void openNotes() {
		this.diagnostics = createNotes();
	}

	@Test
	void nothingIsThereAtFirst() {
		assertThat(this.diagnostics.read(Kind.PROBLEMS, List.of("a~1", "b~1"))).isEmpty();
		assertThat(this.diagnostics.read(Kind.PROBLEMS, List.of())).isEmpty();
		assertThat(this.diagnostics.names(Kind.REASONS).join()).isEmpty();
	}

	@Test
	void textsAreReadByName() {
		this.diagnostics.write(Kind.PROBLEMS, Map.of("a~1", "óne\ntwo", "b~1", "three")).join();
		this.diagnostics.write(Kind.REASONS, Map.of("a~1", "other")).join();

		assertThat(this.diagnostics.read(Kind.PROBLEMS, List.of("b~1", "c~1", "a~1")))
			.isEqualTo(Map.of("a~1", "óne\ntwo", "b~1", "three"));
		assertThat(this.diagnostics.names(Kind.PROBLEMS).join()).containsExactlyInAnyOrder("a~1", "b~1");
		assertThat(this.diagnostics.names(Kind.REASONS).join()).containsExactly("a~1");
	}

	@Test
	void laterTextReplacesAndEmptyTextRemoves() {
		this.diagnostics.write(Kind.PROBLEMS, Map.of("a~1", "one", "b~1", "two")).join();
		this.diagnostics.write(Kind.PROBLEMS, Map.of("a~1", "three", "b~1", "", "c~1", "")).join();

		assertThat(this.diagnostics.read(Kind.PROBLEMS, List.of("a~1", "b~1", "c~1")))
			.isEqualTo(Map.of("a~1", "three"));
		assertThat(this.diagnostics.names(Kind.PROBLEMS).join()).containsExactly("a~1");
	}

	@Test
	void missingTextsAreAdded() {
		this.diagnostics.write(Kind.REASONS, Map.of("orders/1", "one")).join();
		this.diagnostics.writeMissing(Kind.REASONS, Map.of("orders/1", "other", "orders/2", "two")).join();

		assertThat(this.diagnostics.read(Kind.REASONS, List.of("orders/1", "orders/2")))
			.isEqualTo(Map.of("orders/1", "one", "orders/2", "two"));
	}

	@Test
	void longestTextIsReadAndALongerOneIsEmpty() {
		this.diagnostics
			.write(Kind.PROBLEMS, Map.of("a~1", "é".repeat(GroupDiagnostics.MAX_LENGTH), "b~1",
					"x".repeat(GroupDiagnostics.MAX_LENGTH + 1), "c~1", "x".repeat(1_000_000)))
			.join();

		Map<String, String> texts = this.diagnostics.read(Kind.PROBLEMS, List.of("a~1", "b~1", "c~1"));
		assertThat(texts.get("a~1")).hasSize(GroupDiagnostics.MAX_LENGTH);
		assertThat(texts).containsEntry("b~1", "").containsEntry("c~1", "");
	}

	@Test
	void textsOfATopicAreRemoved() {
		this.diagnostics.write(Kind.REASONS, Map.of("old/1", "a", "old/2", "b", "older/1", "c")).join();

		this.diagnostics.removeAll(Kind.REASONS, "old/");
		this.diagnostics.removeAll(Kind.PROBLEMS, "old/");

		assertThat(this.diagnostics.names(Kind.REASONS).join()).containsExactly("older/1");
	}

}
