package io.github.shardkeeper.consumer;

import java.util.Optional;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.worker.shard.ConsumerEvents;

/**
 * Reports when the session is lost, and when it resumes. Thread-safe.
 */
final class SessionWatch {

	private final Supplier<Optional<MemberId>> member;

	private final ConsumerEvents events;

	private @Nullable MemberId last;

	private boolean lost;

	SessionWatch(Supplier<Optional<MemberId>> member, ConsumerEvents events) {
		this.member = member;
		this.events = events;
	}

	synchronized void lost() {
		this.last = this.member.get().orElse(this.last);
		this.lost = true;
		if (this.last != null) {
			this.events.sessionLost(this.last);
		}
	}

	/** Reports that the lease is held, if its loss was reported. */
	synchronized void held() {
		MemberId before = this.last;
		this.last = this.member.get().orElse(before);
		if (this.lost && this.last != null) {
			this.lost = false;
			this.events.sessionResumed(this.last, !this.last.equals(before));
		}
	}

}
