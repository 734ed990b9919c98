package io.github.shardkeeper.benchmarks;

import java.lang.management.ManagementFactory;
import java.time.LocalDate;
import java.util.Locale;

/**
 * What figures were taken on.
 */
public final class Machine {

	private Machine() {
	}

	/**
	 * Describes it in one line, with the date.
	 * @param redisVersion of the Redis that took part
	 * @return the line
	 */
	public static String describe(String redisVersion) {
		return describeWith("Redis " + redisVersion);
	}

	/**
	 * Describes it in one line, with the date.
	 * @param server the name and version of what took part
	 * @return the line
	 */
	public static String describeWith(String server) {
		return String.format(Locale.ROOT, "%s, %d processors, %s %s, %s, load average %.2f", LocalDate.now(),
				Runtime.getRuntime().availableProcessors(), System.getProperty("java.vm.name"), Runtime.version(),
				server, load());
	}

	/**
	 * How many processes wanted a processor in the last minute.
	 * @return the load average
	 */
	public static double load() {
		return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
	}

}
