package io.github.shardkeeper.coordination;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.StoreUnavailableException;

/**
 * What keeps a member from using its group's store; said once for an outage. Confined to
 * the coordinator's loop, but for {@link #text}.
 */
final class StoreTrouble {

	private static final Logger logger = LoggerFactory.getLogger(StoreTrouble.class);

	private final String group;

	private volatile @Nullable String text;

	StoreTrouble(String group) {
		this.group = group;
	}

	void unavailable(StoreUnavailableException failure) {
		if (this.text == null) {
			logger.warn("The store of group '{}' cannot be used; trying on. {}", this.group, failure.getMessage());
		}
		else {
			logger.debug("The store of group '{}' still cannot be used", this.group, failure);
		}
		this.text = failure.getMessage();
	}

	void misconfigured(@Nullable String message) {
		this.text = message;
		logger.error("Cannot join group '{}': {}", this.group, message);
	}

	void answered() {
		if (this.text != null) {
			this.text = null;
			logger.info("The store answers again; group '{}' goes on", this.group);
		}
	}

	/** The last failure since the store answered last, {@code null} for none. */
	@Nullable String text() {
		return this.text;
	}

}
