package io.github.shardkeeper.assignment;

import java.util.Arrays;
import java.util.Map;

/**
 * Turns a draft, in which shards are counted, into an assignment, in which each has its
 * place and its reason. Confined to its thread.
 */
final class Distribution {

	private final Draft draft;

	private final AssignmentRequest request;

	private final int[] owners;

	private final byte[] reasons;

	private final int[] versions;

	Distribution(Draft draft) {
		this.draft = draft;
		this.request = draft.request();
		this.owners = new int[this.request.shards().size()];
		this.reasons = new byte[this.owners.length];
		this.versions = Versions.ranks(this.request);
	}

	Assignment assignment() {
		Arrays.fill(this.owners, AssignmentRequest.NOBODY);
		int[] pinned = this.draft.pinned();
		for (int shard = 0; shard < pinned.length; shard++) {
			if (pinned[shard] != AssignmentRequest.NOBODY) {
				this.owners[shard] = pinned[shard];
				this.reasons[shard] = (byte) Reason.PINNED.ordinal();
			}
		}
		this.draft.kinds().forEach(this::distribute);
		return new Assignment(this.request, this.owners, this.reasons, Map.of());
	}

	private void distribute(Kind kind) {
		boolean surplus = false;
		int[] held = kind.had.clone();
		for (int member : kind.takers) {
			surplus |= held[member] > kind.has[member];
		}
		for (int shard : kind.shards) {
			int owner = this.request.owner(shard);
			this.owners[shard] = (owner != AssignmentRequest.NOBODY && held[owner] > 0) ? owner
					: AssignmentRequest.NOBODY;
		}
		Dealing dealing = new Dealing(this.request, kind.shards, this.owners);
		if (surplus) {
			dealing.collect(held, kind.has, (shard) -> {
			});
		}
		dealing.deal(held, kind.has);
		for (int shard : kind.shards) {
			this.reasons[shard] = (byte) reason(kind, shard).ordinal();
		}
	}

	private Reason reason(Kind kind, int shard) {
		int from = this.request.owner(shard);
		int to = this.owners[shard];
		if (from == to) {
			return Reason.KEPT;
		}
		if (from == AssignmentRequest.NOBODY || kind.had[from] == 0) {
			return Reason.PLACED;
		}
		if (this.versions[to] > this.versions[from]) {
			return Reason.NEWER_VERSION;
		}
		if ((double) this.draft.firstLoad(from) / this.draft.capacity(from) > this.draft.rate(to)) {
			return Reason.SHARE;
		}
		return (this.draft.isHome(kind, to) && !this.draft.isHome(kind, from)) ? Reason.ZONE : Reason.ROOM;
	}

}
