package io.github.shardkeeper.coordination.memory;

import java.util.Collection;
import java.util.function.Function;

import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.directive.Directive.Kind;
import io.github.shardkeeper.directive.DirectiveStore;
import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.shard.MemberId;

/**
 * Directives of a group in memory; the counterpart of {@code change-directive.lua},
 * {@code complete-requests.lua} and {@code read-directives.lua}. Thread-safe.
 */
final class MemoryDirectives implements DirectiveStore {

	private final Transitions transitions;

	MemoryDirectives(Transitions transitions) {
		this.transitions = transitions;
	}

	@Override
	public Directives read() {
		return this.transitions.make((group) -> DirectiveTable.of(group).directives());
	}

	@Override
	public Change put(Directive directive) {
		return this.transitions.make((group) -> {
			DirectiveTable table = DirectiveTable.of(group);
			Directive before = table.entries.get(directive.name());
			if (before != null && before.wantsTheSame(directive)) {
				return new Change(Outcome.UNCHANGED, before);
			}
			if (before == null && table.entries.size() >= MOST) {
				return new Change(Outcome.FULL, null);
			}
			long nowMillis = group.nowMillis();
			table.entries.put(directive.name(), directive.stored(nowMillis, table.nextVersion(nowMillis)));
			notifyAll(group);
			return new Change(Outcome.CHANGED, before);
		});
	}

	@Override
	public Change clear(Kind kind, String subject) {
		return this.transitions.make((group) -> {
			DirectiveTable table = DirectiveTable.of(group);
			Directive before = table.entries.remove(Directive.name(kind, subject));
			if (before == null) {
				return new Change(Outcome.UNCHANGED, null);
			}
			table.nextVersion(group.nowMillis());
			notifyAll(group);
			return new Change(Outcome.CHANGED, before);
		});
	}

	@Override
	public boolean complete(MemberId leader, long epoch, Collection<Directive> requests) {
		return this.transitions.make((group) -> {
			if (!group.leads(leader, epoch)) {
				return false;
			}
			DirectiveTable table = DirectiveTable.of(group);
			if (requests.stream().filter((request) -> table.entries.remove(request.name(), request)).count() > 0) {
				table.nextVersion(group.nowMillis());
			}
			return true;
		});
	}

	private static void notifyAll(Group group) {
		group.members().forEach((member) -> group.notify(member.id()));
	}

	/** Makes transitions of the group under the lock of its store. */
	interface Transitions {

		<T> T make(Function<Group, T> transition);

	}

}
