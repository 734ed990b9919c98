package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.handover.MonotonicTime;

/**
 * Says that the strategy fails, once for each problem, and for how long it has. Confined
 * to the coordinator's loop, but for {@link #text} and {@link #isFailing}.
 */
final class AssignmentTrouble {

	private static final Logger logger = LoggerFactory.getLogger(AssignmentTrouble.class);

	private static final String MEANWHILE = " What was assigned last stands; shards without an owner are placed by "
			+ "the built-in sticky strategy. Tried again after 1 s to 30 s";

	/** Problems whose stack was logged once are not logged with it again. */
	private static final int MOST_REMEMBERED = 100;

	/** A leader that resigns in vain does so after twice the time, up to this. */
	private static final int MOST_PATIENCE = 32;

	private final Set<String> stacksLogged = new HashSet<>();

	/** Since the strategy worked last. */
	private final Set<String> logged = new HashSet<>();

	private volatile @Nullable String text;

	private volatile @Nullable MonotonicTime since;

	private volatile int patience = 1;

	void failed(AssignmentAnswer.Failed failure, MonotonicTime now) {
		if (this.since == null) {
			this.since = now;
		}
		this.text = failure.text() + MEANWHILE + ".";
		if (this.logged.size() < MOST_REMEMBERED && this.logged.add(failure.kind())) {
			boolean withStack = this.stacksLogged.size() < MOST_REMEMBERED && this.stacksLogged.add(failure.kind());
			logger.error("{}{}", failure.text(), MEANWHILE, withStack ? failure.cause() : null);
		}
	}

	void worked() {
		this.patience = 1;
		if (this.text != null) {
			logger.info("The assignment strategy works again");
			over();
			this.logged.clear();
		}
	}

	/** Somebody else leads. */
	void deposed() {
		if (this.text != null) {
			this.patience = Math.min(this.patience * 2, MOST_PATIENCE);
			over();
		}
	}

	private void over() {
		this.text = null;
		this.since = null;
	}

	/** What is wrong and what to do; {@code null} while nothing is. */
	@Nullable String text() {
		return this.text;
	}

	/**
	 * Whether somebody else should try.
	 * @param now the time
	 * @param lease how long one tries for the first time
	 */
	boolean isFailing(MonotonicTime now, Duration lease) {
		MonotonicTime failingSince = this.since;
		return failingSince != null && failingSince.until(now).compareTo(lease.multipliedBy(this.patience)) >= 0;
	}

}
