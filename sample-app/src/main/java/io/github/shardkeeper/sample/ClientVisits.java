package io.github.shardkeeper.sample;

/**
 * What is kept for each client in the shard's state. Immutable.
 *
 * @param count how many lines it has in the log
 * @param bytes how much it was sent
 * @param lastVisit the time of its last readable line, in the log's own format
 */
record ClientVisits(long count, long bytes, String lastVisit) {

	static final ClientVisits NONE = new ClientVisits(0, 0, "");

	ClientVisits plus(Visit visit) {
		return new ClientVisits(this.count + 1, this.bytes + visit.bytes(),
				visit.time().isEmpty() ? this.lastVisit : visit.time());
	}

}
