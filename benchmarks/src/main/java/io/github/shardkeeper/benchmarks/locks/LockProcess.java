package io.github.shardkeeper.benchmarks.locks;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;

import com.sun.management.OperatingSystemMXBean;

import io.github.shardkeeper.benchmarks.ChildProcess;

/**
 * A process with a client, which locks and unlocks as it is asked to.
 */
final class LockProcess {

	private static final String UNCONTENDED = "uncontended";

	private static final String CONTENDED = "contended";

	private static final String HOLD = "hold";

	private static final String WAIT = "wait";

	private final LockClient client;

	private LockProcess(LockClient client) {
		this.client = client;
	}

	/**
	 * Runs it.
	 * @param arguments the port of Redis, and the name of the contender
	 */
	public static void main(String[] arguments) throws IOException {
		try {
			LockProcess process = new LockProcess(Contender.valueOf(arguments[1]).open(Integer.parseInt(arguments[0])));
			process.uncontended(1);
			ChildProcess.Figures.print("uptime", ManagementFactory.getRuntimeMXBean().getUptime());
			ChildProcess.Figures.serve(process::answer);
		}
		catch (Throwable ex) {
			ex.printStackTrace();
			System.exit(1);
		}
	}

	/** Requests locks and unlocks of a lock that nobody else wants. */
	static String uncontendedRequest(int pairs) {
		return UNCONTENDED + " " + pairs;
	}

	/** Requests threads that all want one lock. */
	static String contendedRequest(String lock, int firstThread, int threads, Turns turns, long endNanos, Path trace) {
		return "%s %s %d %d %d %d %d %s".formatted(CONTENDED, lock, firstThread, threads, turns.holdNanos(),
				turns.pauseNanos(), endNanos, trace);
	}

	/** Requests that a lock is held from now on. */
	static String holdRequest() {
		return HOLD;
	}

	/** Requests threads that wait for the lock that is held. */
	static String waitRequest(int threads) {
		return WAIT + " " + threads;
	}

	private void answer(String request) {
		String[] words = request.split(" ", 8);
		switch (words[0]) {
			case UNCONTENDED -> uncontended(Integer.parseInt(words[1]));
			case CONTENDED -> contended(words);
			case HOLD -> {
				this.client.lock(HOLD).lock();
				ChildProcess.Figures.print(HOLD, 1);
			}
			case WAIT -> {
				int threads = Integer.parseInt(words[1]);
				for (int i = 0; i < threads; i++) {
					start(this.client.lock(HOLD)::lock);
				}
				ChildProcess.Figures.print(WAIT, threads);
			}
			default -> throw new IllegalArgumentException(request);
		}
	}

	private static Thread start(Runnable work) {
		Thread thread = new Thread(() -> {
			try {
				work.run();
			}
			catch (Throwable ex) {
				ex.printStackTrace();
				System.exit(1);
			}
		});
		thread.setDaemon(true);
		thread.start();
		return thread;
	}

	private void uncontended(int pairs) {
		Lock lock = this.client.lock(UNCONTENDED + ProcessHandle.current().pid());
		OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
		long processorNanos = system.getProcessCpuTime();
		long begun = System.nanoTime();
		for (int i = 0; i < pairs; i++) {
			lock.lock();
			lock.unlock();
		}
		ChildProcess.Figures.print("micros", (System.nanoTime() - begun) / 1e3 / pairs, "processorMicros",
				(system.getProcessCpuTime() - processorNanos) / 1e3 / pairs);
	}

	private void contended(String[] words) {
		Lock lock = this.client.lock(words[1]);
		int first = Integer.parseInt(words[2]);
		Turns turns = new Turns(Long.parseLong(words[4]), Long.parseLong(words[5]));
		long endNanos = Long.parseLong(words[6]);
		AtomicLong acquired = new AtomicLong();
		try (Trace trace = Trace.open(Path.of(words[7]))) {
			List<Thread> threads = new ArrayList<>();
			for (int i = 0; i < Integer.parseInt(words[3]); i++) {
				int number = first + i;
				threads.add(start(() -> acquired.addAndGet(take(lock, number, turns, endNanos, trace))));
			}
			for (Thread thread : threads) {
				thread.join();
			}
		}
		catch (IOException | InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
		ChildProcess.Figures.print("acquired", acquired.get());
	}

	private static long take(Lock lock, int number, Turns turns, long endNanos, Trace trace) {
		long acquired = 0;
		boolean goesOn = true;
		while (goesOn) {
			long askedAt = System.nanoTime();
			lock.lock();
			long acquiredAt = System.nanoTime();
			acquired++;
			goesOn = acquiredAt - endNanos < 0;
			if (goesOn) {
				pause(turns.holdNanos());
			}
			trace.add(number, askedAt, acquiredAt, System.nanoTime());
			lock.unlock();
			if (goesOn) {
				pause(turns.pauseNanos());
			}
		}
		return acquired;
	}

	private static void pause(long nanos) {
		long end = System.nanoTime() + nanos;
		for (long left = nanos; left > 0; left = end - System.nanoTime()) {
			LockSupport.parkNanos(left);
		}
	}

	/**
	 * What each thread does in turns.
	 *
	 * @param holdNanos the time for which it holds the lock
	 * @param pauseNanos the time from its unlock until it asks again
	 */
	record Turns(long holdNanos, long pauseNanos) {

	}

}
