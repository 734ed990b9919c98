package io.github.shardkeeper.coordination;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.shard.MemberId;

/**
 * Says of sessions that are lost one after the other, because the store keeps losing its
 * data, the first, and that it is over once one lasts for a lease. Confined to the
 * coordinator's loop.
 */
final class SessionLossLog {

	private static final Logger logger = LoggerFactory.getLogger(SessionLossLog.class);

	private final String group;

	private final Duration lasting;

	private @Nullable MonotonicTime begunAt;

	/** Since one has lasted. */
	private int lost;

	SessionLossLog(String group, Duration lasting) {
		this.group = group;
		this.lasting = lasting;
	}

	void begun(MonotonicTime now) {
		this.begunAt = now;
	}

	/** A session is lost; tells whether that is to be said. */
	boolean lost() {
		this.begunAt = null;
		this.lost++;
		return this.lost == 1;
	}

	/** The store knows the session. */
	void answered(MemberId member, MonotonicTime now) {
		if (this.lost == 0 || this.begunAt == null || this.begunAt.until(now).compareTo(this.lasting) < 0) {
			return;
		}
		if (this.lost > 1) {
			logger.info("The session of {} in group '{}' is stable again; {} sessions in a row were lost before",
					member, this.group, this.lost);
		}
		this.lost = 0;
	}

}
