package io.github.shardkeeper.sample;

/**
 * State of one client in its shard. Immutable.
 *
 * @param count number of its lines in the log
 * @param bytes bytes that were sent to it
 * @param lastVisit time of its last readable line, in the log's own format
 */
record ClientVisits(long count, long bytes, String lastVisit) {

	static final ClientVisits NONE = new ClientVisits(0, 0, "");

	ClientVisits plus(Visit visit) {
		return new ClientVisits(this.count + 1, this.bytes + visit.bytes(),
				visit.time().isEmpty() ? this.lastVisit : visit.time());
	}

	/**
	 * Adds the visits that another shard has counted. A client has two shards after the
	 * topic was given more of them.
	 * @param other visits of the same client
	 * @return the sum
	 */
	ClientVisits plus(ClientVisits other) {
		boolean later = Visit.instantOf(other.lastVisit).isAfter(Visit.instantOf(this.lastVisit));
		return new ClientVisits(this.count + other.count, this.bytes + other.bytes,
				later ? other.lastVisit : this.lastVisit);
	}

}
