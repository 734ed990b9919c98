package io.github.shardkeeper.cluster.parameter;

import java.time.Duration;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.cluster.ClusterContract;
import io.github.shardkeeper.cluster.ClusterParameters;
import io.github.shardkeeper.cluster.ClusterParameters.Change;
import io.github.shardkeeper.cluster.parameter.ParameterStore.Contents;
import io.github.shardkeeper.cluster.parameter.ParameterStore.Entry;
import io.github.shardkeeper.cluster.parameter.ParameterStore.Reply;
import io.github.shardkeeper.cluster.session.ViewStore;
import io.github.shardkeeper.shard.MemberId;

import static org.assertj.core.api.Assertions.assertThat;

/** What each store of parameters does. */
public abstract class ParameterStoreContract extends ClusterContract {

	protected abstract ParameterStore parameters();

	protected abstract ViewStore views();

	protected final Change set(String name, @Nullable String value) {
		return changed(parameters().set(name, value, "ann", ParameterStore.ANY_VERSION));
	}

	private static Change changed(Reply reply) {
		assertThat(reply).isInstanceOf(Reply.Changed.class);
		return ((Reply.Changed) reply).change();
	}

	@Test
	protected final void nothingIsThereAtFirst() {
		assertThat(parameters().read(0)).satisfies((contents) -> {
			assertThat(contents.version()).isZero();
			assertThat(contents.complete()).isTrue();
			assertThat(contents.count()).isZero();
			assertThat(contents.entries()).isEmpty();
		});
		assertThat(parameters().history("batch-size")).isEmpty();
	}

	@Test
	protected final void changeIsReadWithVersionAuthorAndTime() {
		Change change = set("batch-size", "5");

		Contents contents = parameters().read(0);

		assertThat(contents.entries()).containsExactly(Entry.of("batch-size", change));
		assertThat(contents.version()).isEqualTo(change.version());
		assertThat(contents.count()).isOne();
		assertThat(change.value()).isEqualTo("5");
		assertThat(change.author()).isEqualTo("ann");
		assertThat(change.version()).isPositive();
		assertThat(change.time()).isAfter("2020-01-01T00:00:00Z");
	}

	@Test
	protected final void anyTextIsKeptAsItIs() {
		String value = "a|b\n{\"c\":\"%7C ä 😀\"}|";
		String author = "auth0|%7Cann%|";

		parameters().set("text", value, author, ParameterStore.ANY_VERSION);
		set("empty", "");

		assertThat(parameters().read(0).entries()).anySatisfy((entry) -> {
			assertThat(entry.change()).extracting(Change::value).isEqualTo(value);
			assertThat(entry.change()).extracting(Change::author).isEqualTo(author);
		}).anySatisfy((entry) -> assertThat(entry.change()).extracting(Change::value).isEqualTo(""));
		assertThat(parameters().history("text")).singleElement().extracting(Change::value).isEqualTo(value);
	}

	@Test
	protected final void versionsOfAllParametersGrow() {
		long first = set("a", "1").version();
		long second = set("b", "1").version();
		long third = set("a", "1").version();

		assertThat(second).isGreaterThan(first);
		assertThat(third).isGreaterThan(second);
	}

	@Test
	protected final void onlyLaterChangesAreRead() {
		set("a", "1");
		Change b = set("b", "1");
		Change c = set("c", "1");
		Change a = set("a", "2");

		Contents contents = parameters().read(b.version());

		assertThat(contents.complete()).isFalse();
		assertThat(contents.count()).isEqualTo(3);
		assertThat(contents.entries()).containsExactlyInAnyOrder(Entry.of("a", a), Entry.of("c", c));
		assertThat(parameters().read(a.version()).entries()).isEmpty();
	}

	@Test
	protected final void resetIsAChangeWithoutAValue() {
		set("a", "1");
		Change reset = set("a", null);

		assertThat(reset.value()).isNull();
		assertThat(parameters().read(0).entries()).containsExactly(Entry.of("a", reset));
		assertThat(parameters().history("a")).extracting(Change::value).containsExactly(null, "1");
	}

	@Test
	protected final void expectedVersionProtectsTheChangeOfAnother() {
		long first = changed(parameters().set("a", "1", "ann", 0)).version();
		long second = changed(parameters().set("a", "2", "bob", first)).version();

		assertThat(parameters().set("a", "3", "ann", first)).isEqualTo(new Reply.Conflict(second));
		assertThat(parameters().set("a", "3", "ann", 0)).isEqualTo(new Reply.Conflict(second));
		assertThat(parameters().set("b", "3", "ann", first)).isEqualTo(new Reply.Conflict(0));

		assertThat(parameters().history("a")).extracting(Change::value).containsExactly("2", "1");
		assertThat(parameters().history("b")).isEmpty();
	}

	@Test
	protected final void historyHasTheLastChangesOfOneParameter() {
		int length = ClusterParameters.HISTORY_LENGTH;
		set("a-1", "other");
		set("a.1", "other");
		IntStream.rangeClosed(1, length + 3).forEach((i) -> set("a", "v" + i));
		set("aa", "other");

		assertThat(parameters().history("a")).extracting(Change::value)
			.containsExactlyElementsOf(IntStream.range(0, length).mapToObj((i) -> "v" + (length + 3 - i)).toList());
		assertThat(parameters().history("a-1")).hasSize(1);
		assertThat(parameters().history("a.1")).hasSize(1);
		assertThat(parameters().history("aa")).hasSize(1);
		assertThat(parameters().read(0).entries()).hasSize(4);
	}

	@Test
	protected final void allInstancesAreTold() {
		set("a", "1");
		assertThat(received("one")).isEqualTo("parameter|a");
		assertThat(received("two")).isEqualTo("parameter|a");

		set("a", null);
		assertThat(received("one")).isEqualTo("parameter|a");
	}

	@Test
	protected final void conflictTellsNobody() {
		parameters().set("a", "1", "ann", 5);
		set("b", "1");

		assertThat(received("one")).isEqualTo("parameter|b");
	}

	@Test
	protected final void viewHasTheVersion() {
		MemberId a = join("a");
		assertThat(views().read(a, "one").parameters()).isZero();

		long version = set("a", "1").version();

		assertThat(views().read(a, "one").parameters()).isEqualTo(version);
	}

	@Test
	protected final void versionIsHigherAfterALossOfWrites() {
		Change kept = set("a", "1");
		Object snapshot = server().snapshot();
		long lost = set("a", "2").version();
		server().loseWritesSince(snapshot);
		// A failover takes time.
		advance(Duration.ofMillis(1));

		assertThat(parameters().read(lost).complete()).isTrue();
		assertThat(parameters().read(lost).entries()).containsExactly(Entry.of("a", kept));
		assertThat(set("a", "3").version()).isGreaterThan(lost);
		assertThat(parameters().history("a")).extracting(Change::value).containsExactly("3", "1");
	}

	@Test
	protected final void versionIsHigherAfterTheStoreWasEmptied() {
		long before = set("a", "1").version();

		server().empty();
		advance(Duration.ofMillis(1));

		assertThat(parameters().read(before).complete()).isTrue();
		assertThat(parameters().read(before).entries()).isEmpty();
		assertThat(set("a", "1").version()).isGreaterThan(before);
	}

}
