package io.github.shardkeeper.cluster.memory;

import java.util.List;

import io.github.shardkeeper.cluster.ClusterView.Member;
import io.github.shardkeeper.cluster.session.ViewStore;
import io.github.shardkeeper.coordination.memory.MemoryGroup;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.shard.MemberId;

/**
 * The view of a group in memory; the counterpart of {@code read-view.lua}. Thread-safe.
 */
public final class MemoryViewStore implements ViewStore {

	private final MemoryCluster cluster;

	/** Creates a store. */
	public MemoryViewStore(MemoryCluster cluster) {
		this.cluster = cluster;
	}

	@Override
	public Reply read(MemberId reader, String address) {
		return this.cluster.transition((group, outbox) -> {
			if (!group.isMember(reader)) {
				return Reply.UNKNOWN;
			}
			Views views = views(group);
			List<Member> members = group.members()
				.stream()
				.filter((member) -> !member.leaving())
				.map(MemoryViewStore::member)
				.toList();
			if (views.membership != group.membership()) {
				List<MemberId> ids = members.stream().map(Member::id).toList();
				if (!ids.equals(views.members)) {
					views.number = group.nextToken().value();
					views.members = ids;
					outbox.tellAll("view|" + views.number);
				}
				views.membership = group.membership();
				group.attachments(ClusterAttachment.class)
					.forEach((attachment) -> attachment.freeGoneMembers(group, outbox));
			}
			return new Reply(true, this.cluster.isSubscribed(address), views.number, members, views.signals,
					views.parameters);
		});
	}

	static Views views(MemoryGroup group) {
		return group.attachment(Views.class, Views::new);
	}

	private static Member member(GroupMember member) {
		return new Member(member.id(), member.description().version(), member.description().capacity(),
				member.description().zone());
	}

	/** The view, and the versions of the other tools. */
	static final class Views implements ClusterAttachment {

		private long number;

		private List<MemberId> members = List.of();

		private long membership = -1;

		/** Number of the last signal. */
		long signals;

		/** Version of the last change of a parameter. */
		long parameters;

		/** Returns the number of the view. */
		long number() {
			return this.number;
		}

		@Override
		public Views copy() {
			Views copy = new Views();
			copy.number = this.number;
			copy.members = this.members;
			copy.membership = this.membership;
			copy.signals = this.signals;
			copy.parameters = this.parameters;
			return copy;
		}

	}

}
