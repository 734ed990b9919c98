package io.github.shardkeeper.coordination.member;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.protocol.leader.LeaderEvent.HeartbeatAnswered;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Reads the directives of the group once per session, and again when the reply to a
 * heartbeat shows another version. Confined to the coordinator's loop, except
 * {@link #known} and {@link #problem}.
 */
public final class DirectiveFollower implements HeartbeatObserver {

	private static final Logger logger = PrintableLogger.of(DirectiveFollower.class);

	private static final Duration RETRY_PAUSE = Duration.ofMillis(200);

	private static final Duration REFUSED_RETRY_PAUSE = Duration.ofSeconds(5);

	private final String group;

	private final CoordinationStore store;

	private volatile Directives known = Directives.NONE;

	private volatile @Nullable String problem;

	/** Whether they have to be read: the last heartbeat shows another version. */
	private boolean due;

	/**
	 * Whether they were read in this session, or the store refuses that: the group must
	 * not wait for it.
	 */
	private boolean read;

	private @Nullable MonotonicTime notBefore;

	/**
	 * When to read again, because some could not be read: people who remove what is wrong
	 * do not raise the version. {@code null} for never.
	 */
	private @Nullable MonotonicTime againAt;

	public DirectiveFollower(String group, CoordinationStore store) {
		this.group = group;
		this.store = store;
	}

	/** Has them read, because another member may lead a group that was emptied. */
	public void sessionBegun() {
		this.read = false;
		this.due = true;
		this.notBefore = null;
		this.againAt = null;
	}

	/**
	 * Has them read with the next heartbeat at the latest, whatever its version is: a
	 * change that this member has made may be lost in a failover before it has seen the
	 * version of it, and then that of before looks like no change.
	 */
	public void changedHere() {
		this.due = true;
	}

	@Override
	public void writesLost() {
		changedHere();
	}

	@Override
	public void heartbeatAnswered(HeartbeatAnswered reply, MonotonicTime now) {
		this.due |= reply.reply().directives() != this.known.version();
	}

	/**
	 * Reads the directives if they may have changed.
	 * @return whether what is to be followed may be another one now
	 */
	public boolean run(MonotonicTime now) {
		boolean again = this.againAt != null && !now.isBefore(this.againAt);
		if (!this.due && !again || this.notBefore != null && now.isBefore(this.notBefore)) {
			return false;
		}
		this.notBefore = null;
		try {
			Directives found = this.store.directives().read();
			boolean changed = this.due || !found.all().equals(this.known.all());
			this.due = false;
			this.againAt = found.problems().isEmpty() ? null : now.plus(REFUSED_RETRY_PAUSE);
			this.known = found;
			this.read = true;
			report(found.problems().isEmpty() ? null : String.join("; ", found.problems()));
			return changed;
		}
		catch (StoreUnavailableException ex) {
			this.notBefore = now.plus(ex.isRefusal() ? REFUSED_RETRY_PAUSE : RETRY_PAUSE);
			if (ex.isRefusal()) {
				boolean first = !this.read;
				this.read = true;
				report("what operators want of the group cannot be read, so the last known state is followed: "
						+ ex.getMessage());
				return first;
			}
			logger.debug("Cannot read the directives of group '{}' yet", this.group, ex);
			return false;
		}
	}

	private void report(@Nullable String found) {
		if (found != null && !found.equals(this.problem)) {
			logger.warn("Group '{}': {}", this.group, found);
		}
		this.problem = found;
	}

	/** Returns whether the group may be led: what operators want is known. */
	public boolean isRead() {
		return this.read;
	}

	/** Returns the time of the next {@link #run}, {@code null} for none. */
	@Nullable public MonotonicTime wakeAt() {
		return (this.notBefore != null) ? this.notBefore : this.againAt;
	}

	/** Returns the directives that were read last. Thread-safe. */
	public Directives known() {
		return this.known;
	}

	/**
	 * Returns why not all of them are followed, {@code null} if they are. Thread-safe.
	 */
	@Nullable public String problem() {
		return this.problem;
	}

}
