package io.github.shardkeeper.handover;

/**
 * The state of a group as every heartbeat's answer tells it. Immutable.
 *
 * @param epoch the leadership whose leader told the problems, 0 for none
 * @param problems what that leader has found
 * @param membersWithoutSession how many members have no session, so that nobody would
 * notice their death
 * @param shardsNotListed how many shards have a record that nobody finds, because the
 * list of their changes lacks them; negative when it is the records that are missing
 */
public record GroupStatus(long epoch, GroupProblems problems, long membersWithoutSession, long shardsNotListed) {

	/** No leader has told anything yet. */
	public static final GroupStatus NONE = new GroupStatus(0, GroupProblems.NONE, 0, 0);

}
