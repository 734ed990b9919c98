package io.github.shardkeeper.handover;

/**
 * The state of a group as every heartbeat's answer tells it. Immutable.
 *
 * @param epoch the leadership whose leader told the problems, 0 for none
 * @param problems what that leader has found
 */
public record GroupStatus(long epoch, GroupProblems problems) {

	/** No leader has told anything yet. */
	public static final GroupStatus NONE = new GroupStatus(0, GroupProblems.NONE);

}
