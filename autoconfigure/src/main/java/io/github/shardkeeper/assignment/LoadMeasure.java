package io.github.shardkeeper.assignment;

/**
 * What the load of a shard is measured by. All members of a group must measure the same.
 */
public enum LoadMeasure {

	/**
	 * Time that its handler's calls take, in milliseconds per second: 1000 is one thread
	 * that does nothing else.
	 */
	HANDLER_TIME("handler-time", "ms/s of handler time", 100, 20),

	/** Records that its handler handles per second. */
	RECORDS("records", "records/s", 1000, 200);

	private final String text;

	private final String unit;

	private final double difference;

	private final double gain;

	LoadMeasure(String text, String unit, double difference, double gain) {
		this.text = text;
		this.unit = unit;
		this.difference = difference;
		this.gain = gain;
	}

	/**
	 * Its name, for settings and between members.
	 * @return the name
	 */
	public String text() {
		return this.text;
	}

	/**
	 * What a number of it means.
	 * @return the unit, for people
	 */
	public String unit() {
		return this.unit;
	}

	/**
	 * By how much a member must be busier than another one where nothing else is
	 * configured.
	 * @return the default of {@link LoadAwareSettings#difference()}
	 */
	public double defaultDifference() {
		return this.difference;
	}

	/**
	 * What a move must bring where nothing else is configured.
	 * @return the default of {@link LoadAwareSettings#gain()}
	 */
	public double defaultGain() {
		return this.gain;
	}

}
