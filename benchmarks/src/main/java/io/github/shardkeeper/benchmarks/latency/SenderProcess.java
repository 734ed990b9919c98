package io.github.shardkeeper.benchmarks.latency;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;

import io.github.shardkeeper.benchmarks.ChildProcess.Figures;
import io.github.shardkeeper.benchmarks.Samples;

/**
 * A process that sends records at a fixed rate, whatever becomes of them: each has a time
 * at which it is to be sent, and its latency counts from then, also if the sender is
 * late. Confined to its thread.
 */
final class SenderProcess {

	/**
	 * The end of a pause, in which it spins: the system wakes a thread later than it
	 * wants, by more than a record takes.
	 */
	private static final long SPIN_NANOS = 100_000;

	private final Sender sender;

	private final int shards;

	private int number;

	private SenderProcess(Sender sender, int shards) {
		this.sender = sender;
		this.shards = shards;
	}

	/**
	 * Sends as it is asked to, until its input is closed.
	 * @param arguments the contender, the server's address, the number of shards
	 */
	public static void main(String[] arguments) throws IOException {
		try {
			int shards = Integer.parseInt(arguments[2]);
			String address = arguments[1];
			SenderProcess process = new SenderProcess(switch (Contender.valueOf(arguments[0])) {
				case BARE, SPRING -> Sender.ofLettuce(address);
				case SHARDKEEPER -> Sender.ofShardkeeper(address, shards);
				case KAFKA -> Sender.ofKafka(address);
			}, shards);
			Figures.print("started", 1);
			Figures.serve((request) -> {
				String[] words = request.split(" ");
				process.send(Integer.parseInt(words[0]), Integer.parseInt(words[1]));
			});
		}
		catch (Throwable ex) {
			ex.printStackTrace();
			System.exit(1);
		}
	}

	/** Requests records; the answer is the number of the first. */
	static String request(int records, int perSecond) {
		return records + " " + perSecond;
	}

	private void send(int records, int perSecond) {
		int first = this.number;
		Samples lateMicros = new Samples();
		List<CompletableFuture<?>> sent = new ArrayList<>(records);
		long begin = System.nanoTime();
		for (int i = 0; i < records; i++) {
			long intended = begin + i * 1_000_000_000L / perSecond;
			awaitTime(intended);
			lateMicros.add((System.nanoTime() - intended) / 1e3);
			sent.add(this.sender.send(this.number % this.shards, Payloads.of(this.number, intended)));
			this.number++;
		}
		sent.forEach(CompletableFuture::join);
		Figures.print("first", first, "late", (records > 0) ? lateMicros.quantile(0.99) : 0, "compilation",
				Figures.compilationMillis());
	}

	private static void awaitTime(long intended) {
		long left = intended - System.nanoTime();
		while (left > 0) {
			if (left > SPIN_NANOS) {
				LockSupport.parkNanos(left - SPIN_NANOS);
			}
			else {
				Thread.onSpinWait();
			}
			left = intended - System.nanoTime();
		}
	}

}
