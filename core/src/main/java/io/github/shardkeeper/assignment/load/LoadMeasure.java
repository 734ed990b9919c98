package io.github.shardkeeper.assignment.load;

/** Measure of the load of a shard. All members of a group must use the same. */
public enum LoadMeasure {

	/** Time in calls of the handler, in ms per second: 1000 is one busy thread. */
	HANDLER_TIME("handler-time", "ms/s of handler time", 100, 20),

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

	/** Returns the name of the measure, in settings and between members. */
	public String text() {
		return this.text;
	}

	/** Returns the unit of the measure, for messages. */
	public String unit() {
		return this.unit;
	}

	/** Returns the default of {@link LoadAwareSettings#difference()}. */
	public double defaultDifference() {
		return this.difference;
	}

	/** Returns the default of {@link LoadAwareSettings#gain()}. */
	public double defaultGain() {
		return this.gain;
	}

}
