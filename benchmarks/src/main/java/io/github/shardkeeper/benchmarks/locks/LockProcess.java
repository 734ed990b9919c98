package io.github.shardkeeper.benchmarks.locks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

import io.github.shardkeeper.benchmarks.ChildProcess.Figures;
import io.github.shardkeeper.benchmarks.Machine;

/**
 * A process with a client, which locks and unlocks as it is asked to.
 */
final class LockProcess {

	/**
	 * A thread holds the lock for a time, and asks again after a pause, while the next
	 * one still holds it.
	 */
	private static final long HOLD_NANOS = 2_000_000;

	private static final long PAUSE_NANOS = 1_000_000;

	private static final String UNCONTENDED = "uncontended";

	private final Function<String, Lock> client;

	private LockProcess(Function<String, Lock> client) {
		this.client = client;
	}

	/**
	 * Runs it.
	 * @param arguments the port of Redis, and the name of the library
	 */
	public static void main(String[] arguments) throws IOException {
		LockProcess process = new LockProcess(LockLibrary.valueOf(arguments[1]).open(Integer.parseInt(arguments[0])));
		process.uncontended(1);
		Figures.serve(process::reply);
	}

	/** Requests locks and unlocks of a lock that nobody else wants. */
	static String uncontendedRequest(int pairs) {
		return UNCONTENDED + " " + pairs;
	}

	/** Requests threads that all want one lock. */
	static String contendedRequest(String lock, int firstThread, int threads, long endNanos, Path trace) {
		return "%s %d %d %d %s".formatted(lock, firstThread, threads, endNanos, trace);
	}

	private void reply(String request) {
		String[] words = request.split(" ", 5);
		if (words[0].equals(UNCONTENDED)) {
			uncontended(Integer.parseInt(words[1]));
		}
		else {
			contended(this.client.apply(words[0]), Integer.parseInt(words[1]), Integer.parseInt(words[2]),
					Long.parseLong(words[3]), Path.of(words[4]));
		}
	}

	private void uncontended(int pairs) {
		Lock lock = this.client.apply(UNCONTENDED + ProcessHandle.current().pid());
		long processorNanos = Machine.processorNanos();
		long begun = System.nanoTime();
		for (int i = 0; i < pairs; i++) {
			lock.lock();
			lock.unlock();
		}
		Figures.print("micros", (System.nanoTime() - begun) / 1e3 / pairs, "processor",
				(Machine.processorNanos() - processorNanos) / 1e3 / pairs);
	}

	private static void contended(Lock lock, int first, int number, long endNanos, Path file) {
		AtomicLong acquired = new AtomicLong();
		try (Trace trace = Trace.open(file)) {
			List<Thread> threads = new ArrayList<>();
			for (int i = first; i < first + number; i++) {
				int thread = i;
				threads.add(new Thread(() -> acquired.addAndGet(take(lock, thread, endNanos, trace))));
			}
			threads.forEach(Thread::start);
			for (Thread thread : threads) {
				thread.join();
			}
		}
		catch (IOException | InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
		Figures.print("acquired", acquired.get());
	}

	private static long take(Lock lock, int thread, long endNanos, Trace trace) {
		long acquired = 0;
		boolean goesOn = true;
		while (goesOn) {
			long askedAt = System.nanoTime();
			lock.lock();
			long acquiredAt = System.nanoTime();
			acquired++;
			goesOn = acquiredAt - endNanos < 0;
			if (goesOn) {
				pause(HOLD_NANOS);
			}
			trace.add(thread, askedAt, acquiredAt, System.nanoTime());
			lock.unlock();
			if (goesOn) {
				pause(PAUSE_NANOS);
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

}
