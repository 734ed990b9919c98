package io.github.shardkeeper.directive;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.directive.Directive.Kind;
import io.github.shardkeeper.shard.ShardId;

/** The directives of a group, as of one version. Immutable. */
public final class Directives {

	/** No directives, as of no version. */
	public static final Directives NONE = new Directives(0, List.of(), List.of());

	private final long version;

	private final SortedMap<String, Directive> byName = new TreeMap<>();

	private final Map<ShardId, Directive> pins = new HashMap<>();

	private final Set<String> drained = new HashSet<>();

	private final List<String> problems;

	/**
	 * Creates directives.
	 * @param version grows with each change; 0 if nothing was ever changed
	 * @param problems what the store has there and cannot be read, a sentence each
	 */
	public Directives(long version, Collection<Directive> directives, List<String> problems) {
		this.version = version;
		this.problems = List.copyOf(problems);
		directives.forEach((directive) -> this.byName.put(directive.name(), directive));
		// A move comes last: until the leader has followed it, it counts more than a pin.
		for (Kind kind : List.of(Kind.PIN, Kind.MOVE)) {
			of(kind).forEach((directive) -> this.pins.put(ShardId.parse(directive.subject()), directive));
		}
		of(Kind.DRAIN).forEach((directive) -> this.drained.add(directive.subject()));
	}

	/** Returns the version, which grows with each change. */
	public long version() {
		return this.version;
	}

	/** Returns what the store has there and cannot be read, a sentence each. */
	public List<String> problems() {
		return this.problems;
	}

	public boolean isEmpty() {
		return this.byName.isEmpty();
	}

	/** Returns all of them, ordered by name. */
	public List<Directive> all() {
		return List.copyOf(this.byName.values());
	}

	/** Returns those of a kind, ordered by name. */
	public List<Directive> of(Kind kind) {
		return this.byName.values().stream().filter((directive) -> directive.kind() == kind).toList();
	}

	/** Returns the one of a kind about a subject; {@code null} for none. */
	public @Nullable Directive find(Kind kind, String subject) {
		return this.byName.get(Directive.name(kind, subject));
	}

	/** Returns the pause of a shard, or else of its topic; {@code null} for none. */
	public @Nullable Directive pauseOf(ShardId shard) {
		if (this.byName.isEmpty()) {
			return null;
		}
		Directive own = find(Kind.PAUSE, shard.toString());
		return (own != null) ? own : find(Kind.PAUSE, shard.topic());
	}

	/** Returns the pin of a shard; {@code null} for none. */
	public @Nullable Directive pinOf(ShardId shard) {
		return this.byName.isEmpty() ? null : find(Kind.PIN, shard.toString());
	}

	/**
	 * Returns the shards that go to an instance when the leader plans: those that are
	 * pinned, and those that move once.
	 */
	public Map<ShardId, Directive> placements() {
		return Map.copyOf(this.pins);
	}

	/** Returns the ids of the instances that shall own no shards. */
	public Set<String> drained() {
		return Set.copyOf(this.drained);
	}

	/** Returns those that the leader follows once, ordered by name. */
	public List<Directive> requests() {
		return this.byName.values().stream().filter((directive) -> directive.kind().isRequest()).toList();
	}

	/** Returns these directives and another one, instead of one with the same name. */
	public Directives with(Directive directive) {
		SortedMap<String, Directive> changed = new TreeMap<>(this.byName);
		changed.put(directive.name(), directive);
		return new Directives(this.version, changed.values(), this.problems);
	}

	/** Returns these directives without one. */
	public Directives without(Kind kind, String subject) {
		SortedMap<String, Directive> changed = new TreeMap<>(this.byName);
		changed.remove(Directive.name(kind, subject));
		return new Directives(this.version, new ArrayList<>(changed.values()), this.problems);
	}

	@Override
	public String toString() {
		return "version %d: %s".formatted(this.version, this.byName.keySet());
	}

}
