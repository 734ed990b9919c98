package io.github.shardkeeper.protocol.leader;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.directive.Directive.Kind;
import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.shard.ShardId;

/**
 * What operators have asked the leader for: the directives, which requests among them a
 * plan has followed, so that they are to be removed, and who has asked for the last move
 * of a shard. Confined to the coordinator's loop.
 */
final class Requests {

	private Directives directives = Directives.NONE;

	/** By shard whose last move an operator has asked for, what was asked for. */
	private final Map<ShardId, Directive> asked = new HashMap<>();

	/** Requests among the directives that the assignment was asked for with. */
	private List<Directive> submitted = List.of();

	/** Requests that the last plan has followed, and that are to be removed. */
	private List<Directive> followed = List.of();

	Directives directives() {
		return this.directives;
	}

	/** Takes in the directives; returns whether a rebalance was asked for since. */
	boolean read(Directives read) {
		Directive rebalance = read.find(Kind.REBALANCE, "");
		boolean requested = rebalance != null && !Objects.equals(rebalance, this.directives.find(Kind.REBALANCE, ""));
		this.directives = read;
		return requested;
	}

	/** Notes that an assignment is asked for with the current directives. */
	void submit() {
		this.submitted = this.directives.requests();
	}

	/** Notes that a plan follows the requests that it was asked for with. */
	void follow() {
		this.followed = this.submitted;
		this.submitted = List.of();
	}

	/** Returns the requests to remove. */
	List<Directive> followed() {
		return this.followed;
	}

	/** Has the requests of the last plan followed again. */
	void repeat() {
		this.followed = List.of();
	}

	/** Notes that the requests were removed from the store. */
	void completed() {
		for (Directive request : this.followed) {
			if (request.equals(this.directives.find(request.kind(), request.subject()))) {
				this.directives = this.directives.without(request.kind(), request.subject());
			}
		}
		this.followed = List.of();
	}

	/** Notes why planned shards move: because of a request, or on their own. */
	void planned(List<Transition> transitions, Map<ShardId, Directive> requested) {
		for (Transition transition : transitions) {
			Directive by = requested.get(transition.shard());
			if (by != null) {
				this.asked.put(transition.shard(), by);
			}
			else {
				this.asked.remove(transition.shard());
			}
		}
	}

	/** Returns what an operator has asked for, if a shard has moved for that last. */
	@Nullable Directive asked(ShardId shard) {
		return this.asked.get(shard);
	}

	@Nullable String askedBy(ShardId shard) {
		Directive directive = asked(shard);
		return (directive != null) ? directive.by() : null;
	}

	void deposed() {
		this.asked.clear();
		this.submitted = List.of();
		this.followed = List.of();
	}

}
