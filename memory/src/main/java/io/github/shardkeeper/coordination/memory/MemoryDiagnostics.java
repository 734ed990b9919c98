package io.github.shardkeeper.coordination.memory;

import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import io.github.shardkeeper.coordination.store.GroupDiagnostics;

/** Notes of a group in memory. Thread-safe. */
final class MemoryDiagnostics implements GroupDiagnostics {

	private final Map<Kind, Map<String, String>> texts = new EnumMap<>(Kind.class);

	@Override
	public synchronized CompletableFuture<Void> write(Kind kind, Map<String, String> changed) {
		Map<String, String> known = of(kind);
		changed.forEach((name, text) -> {
			if (text.isEmpty()) {
				known.remove(name);
			}
			else {
				known.put(name, text);
			}
		});
		return CompletableFuture.completedFuture(null);
	}

	@Override
	public synchronized CompletableFuture<Void> writeMissing(Kind kind, Map<String, String> added) {
		added.forEach(of(kind)::putIfAbsent);
		return CompletableFuture.completedFuture(null);
	}

	@Override
	public synchronized CompletableFuture<Set<String>> names(Kind kind) {
		return CompletableFuture.completedFuture(Set.copyOf(of(kind).keySet()));
	}

	@Override
	public synchronized Map<String, String> read(Kind kind, Collection<String> names) {
		Map<String, String> found = new HashMap<>();
		names.forEach((name) -> {
			String text = of(kind).get(name);
			if (text != null) {
				found.put(name, (text.length() <= MAX_LENGTH) ? text : "");
			}
		});
		return found;
	}

	@Override
	public synchronized void removeAll(Kind kind, String beginning) {
		of(kind).keySet().removeIf((name) -> name.startsWith(beginning));
	}

	synchronized void clear() {
		this.texts.clear();
	}

	private Map<String, String> of(Kind kind) {
		return this.texts.computeIfAbsent(kind, (k) -> new HashMap<>());
	}

}
