package io.github.shardkeeper.cluster;

/**
 * Thrown if a thread has lost a lock that it had acquired: its session has ended, the
 * time for which it may be held has passed, or the store has lost the acquisition.
 * Another thread may have held the lock at the same time. A retry from the beginning may
 * make sense.
 */
public class LockLostException extends IllegalMonitorStateException {

	public LockLostException(String message) {
		super(message);
	}

}
