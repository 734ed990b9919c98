package io.github.shardkeeper.handover;

import java.util.SortedMap;
import java.util.TreeMap;

import io.github.shardkeeper.shard.MemberId;

/**
 * What members of a group have reported of their loads since a version. Immutable.
 *
 * @param version how many reports the group has had by now: the version to read on from
 * @param reports by member its last report
 */
public record LoadChanges(long version, SortedMap<MemberId, LoadReport> reports) {

	public LoadChanges {
		reports = new TreeMap<>(reports);
	}

}
