package io.github.shardkeeper.coordination.member;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.shardkeeper.protocol.leader.LeaderEvent.HeartbeatAnswered;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * The listeners to the sessions of a member, in the order of their registration.
 * Thread-safe.
 */
public final class SessionListeners implements HeartbeatObserver {

	private final List<SessionListener> listeners = new CopyOnWriteArrayList<>();

	public void add(SessionListener listener) {
		this.listeners.add(listener);
	}

	@Override
	public void heartbeatAnswered(HeartbeatAnswered reply, MonotonicTime now) {
		this.listeners.forEach((listener) -> listener.heartbeatAnswered(reply.self(), reply.reply().membership(),
				reply.reply().lost()));
	}

	void leaseEnded() {
		this.listeners.forEach(SessionListener::leaseEnded);
	}

	void leaseResumed() {
		this.listeners.forEach(SessionListener::leaseResumed);
	}

	public void sessionEnded(MemberId member) {
		this.listeners.forEach((listener) -> listener.sessionEnded(member));
	}

}
