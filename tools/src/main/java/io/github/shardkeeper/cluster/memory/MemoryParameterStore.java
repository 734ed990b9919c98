package io.github.shardkeeper.cluster.memory;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.cluster.ClusterParameters;
import io.github.shardkeeper.cluster.ClusterParameters.Change;
import io.github.shardkeeper.cluster.memory.MemoryViewStore.Views;
import io.github.shardkeeper.cluster.parameter.ParameterStore;
import io.github.shardkeeper.coordination.memory.MemoryGroup;

/**
 * The parameters of a group in memory; the counterpart of {@code set-parameter.lua} and
 * {@code read-parameters.lua}. Thread-safe.
 */
public final class MemoryParameterStore implements ParameterStore {

	private final MemoryCluster cluster;

	/** Creates a store. */
	public MemoryParameterStore(MemoryCluster cluster) {
		this.cluster = cluster;
	}

	@Override
	public Contents read(long afterVersion) {
		return this.cluster.transition((group, outbox) -> {
			long version = MemoryViewStore.views(group).parameters;
			Map<String, List<Change>> changes = parameters(group).changes;
			boolean complete = afterVersion == 0 || afterVersion > version;
			return new Contents(version, complete, changes.size(),
					changes.entrySet()
						.stream()
						.map((entry) -> Entry.of(entry.getKey(), entry.getValue().get(0)))
						.filter((entry) -> complete || version(entry) > afterVersion)
						.toList());
		});
	}

	private static long version(Entry entry) {
		Change change = entry.change();
		return (change != null) ? change.version() : 0;
	}

	@Override
	public Reply set(String name, @Nullable String value, String author, long expectedVersion) {
		return this.cluster.transition((group, outbox) -> {
			Map<String, List<Change>> changes = parameters(group).changes;
			List<Change> before = changes.getOrDefault(name, List.of());
			long current = before.isEmpty() ? 0 : before.get(0).version();
			if (expectedVersion != ANY_VERSION && expectedVersion != current) {
				return new Reply.Conflict(current);
			}
			Views views = MemoryViewStore.views(group);
			views.parameters = Math.max(Math.max(views.parameters, current) + 1, group.nowMillis() * 1000);
			Change change = new Change(views.parameters, Instant.ofEpochMilli(group.nowMillis()), author, value);
			changes.put(name,
					Stream.concat(Stream.of(change), before.stream()).limit(ClusterParameters.HISTORY_LENGTH).toList());
			outbox.tellAll("parameter|" + name);
			return new Reply.Changed(change);
		});
	}

	@Override
	public List<Change> history(String name) {
		return this.cluster.transition((group, outbox) -> parameters(group).changes.getOrDefault(name, List.of()));
	}

	private static Parameters parameters(MemoryGroup group) {
		return group.attachment(Parameters.class, Parameters::new);
	}

	private static final class Parameters implements ClusterAttachment {

		/** By name, the newest first. Lists are never changed. */
		private final Map<String, List<Change>> changes = new TreeMap<>();

		@Override
		public Parameters copy() {
			Parameters copy = new Parameters();
			copy.changes.putAll(this.changes);
			return copy;
		}

	}

}
