package io.github.shardkeeper.coordination.memory;

import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

import io.github.shardkeeper.coordination.memory.MemoryGroup.Attachment;
import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.directive.Directives;

/**
 * The directives of a group in memory, lost together with the group. Confined to the lock
 * of its store.
 */
final class DirectiveTable implements Attachment {

	final SortedMap<String, Directive> entries = new TreeMap<>();

	private long version;

	static DirectiveTable of(MemoryGroup group) {
		return group.attachment(DirectiveTable.class, DirectiveTable::new);
	}

	/** Returns the version of the last change; 0 before the first one. */
	long version() {
		return this.version;
	}

	/** Returns a version that no earlier change had, also one that was lost. */
	long nextVersion(long nowMillis) {
		this.version = Math.max(this.version + 1, nowMillis);
		return this.version;
	}

	Directives directives() {
		return new Directives(this.version, this.entries.values(), List.of());
	}

	@Override
	public Attachment copy() {
		DirectiveTable copy = new DirectiveTable();
		copy.entries.putAll(this.entries);
		copy.version = this.version;
		return copy;
	}

}
