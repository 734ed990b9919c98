package io.github.shardkeeper.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.Locale;
import java.util.stream.Stream;

import com.sun.management.OperatingSystemMXBean;

/**
 * Description of the machine.
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
	 * @param server the name and version of the server
	 * @return the line
	 */
	public static String describeWith(String server) {
		return String.format(Locale.ROOT, "%s, %d processors%s, %.0f GB, %s %s, %s, load average %.2f", LocalDate.now(),
				Runtime.getRuntime().availableProcessors(), processor(), memoryGigabytes(),
				System.getProperty("java.vm.name"), Runtime.version(), server, load());
	}

	/** Returns the processors, where the system reports them. */
	private static String processor() {
		Path information = Path.of("/proc/cpuinfo");
		if (!Files.isReadable(information)) {
			return "";
		}
		try (Stream<String> lines = Files.lines(information)) {
			return lines.filter((line) -> line.startsWith("model name"))
				.map((line) -> " (" + line.substring(line.indexOf(':') + 1).strip() + ")")
				.findFirst()
				.orElse("");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static double memoryGigabytes() {
		return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getTotalMemorySize() / 1e9;
	}

	/**
	 * Returns the number of processes that wanted a processor in the last minute.
	 * @return the load average
	 */
	public static double load() {
		return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
	}

}
