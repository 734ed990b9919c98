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
import org.apache.kafka.common.utils.AppInfoParser;

/**
 * Description of the machine. Has no state.
 */
public final class Machine {

	private static final OperatingSystemMXBean SYSTEM = ManagementFactory
		.getPlatformMXBean(OperatingSystemMXBean.class);

	private Machine() {
	}

	/** Prints it, with the date and the versions of what takes part. */
	public static void print() {
		System.out.printf(Locale.ROOT, "%n%s, %d processors%s, %.0f GB, %s %s, Kafka %s, load average %.2f%n",
				LocalDate.now(), Runtime.getRuntime().availableProcessors(), processor(),
				SYSTEM.getTotalMemorySize() / 1e9, System.getProperty("java.vm.name"), Runtime.version(),
				AppInfoParser.getVersion(), load());
	}

	/** Returns the name of the processors, where the system reports it. */
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

	/** Returns the number of processes that wanted a processor in the last minute. */
	public static double load() {
		return SYSTEM.getSystemLoadAverage();
	}

	/** Returns the processor time that this JVM has used so far, in nanoseconds. */
	public static long processorNanos() {
		return SYSTEM.getProcessCpuTime();
	}

	/** Collects garbage, and returns the bytes of the heap that are in use. */
	public static long heapUsed() {
		long least = Long.MAX_VALUE;
		// Objects behind cleared references go with a later collection.
		for (int i = 0; i < 4; i++) {
			System.gc();
			least = Math.min(least, ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
		}
		return least;
	}

}
