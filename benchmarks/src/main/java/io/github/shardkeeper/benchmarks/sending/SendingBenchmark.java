package io.github.shardkeeper.benchmarks.sending;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.GoalTable;
import io.github.shardkeeper.benchmarks.KafkaProcess;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.RedisProcess;
import io.github.shardkeeper.benchmarks.Samples;
import io.github.shardkeeper.benchmarks.sending.Contender.Client;
import io.github.shardkeeper.test.EmbeddedKafka;

/**
 * Records per second that one thread sends, one after the other, asynchronously and in
 * batches: with a {@code ShardTemplate}, without a guard against duplicates, with
 * retries, with an id for each record, and with both; with bare Lettuce; and with a
 * {@code KafkaTemplate}. All contenders take their turns in each round, in every second
 * round the other way round, each with a server of its own.
 */
public final class SendingBenchmark implements Benchmark {

	static final int PAYLOAD_BYTES = 100;

	private static final Path RAW_FIGURES = Path.of("sending.csv");

	private static final List<String> COLUMNS = List.of("contender", "form", "round", "records_per_second",
			"load_average");

	private static final Pattern MEMORY = Pattern.compile("used_memory:(\\d+)");

	private static final double ASKED = 0.9;

	@Override
	public String description() {
		return """
				Records per second that one thread sends, beside bare Lettuce and Spring Kafka, with and without
				retries and ids. --shards=32 --records=200000 --batch=500 --rounds=5 --warm-up=1
				--contenders=… (parts of their names)
				The raw figures are left in sending.csv.""".indent(14).strip();
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("shards", "records", "batch", "rounds", "warm-up", "contenders"));
		Sizes sizes = new Sizes(options.number("shards", 32, 1), options.number("records", 200_000, 1),
				options.number("batch", 500, 1), options.number("warm-up", 1), options.number("rounds", 5, 1));
		List<Contender> contenders = options.matching("contenders", List.of(Contender.values()), Contender::text);
		try (RawFigures raw = new RawFigures(RAW_FIGURES, COLUMNS)) {
			measure(contenders, sizes, raw).forEach(System.out::println);
		}
	}

	static List<String> measure(List<Contender> contenders, Sizes sizes, Consumer<String> raw) throws Exception {
		Map<Contender, Figures> measured = new EnumMap<>(Contender.class);
		contenders.forEach((contender) -> measured.put(contender, new Figures()));
		List<Contender> order = new ArrayList<>(contenders);
		String machine;
		try (RedisProcess redis = RedisProcess.start()) {
			machine = Machine.describeWith("Redis " + redis.version() + ", " + KafkaProcess.version());
		}
		for (int round = 1 - sizes.warmUp(); round <= sizes.rounds(); round++) {
			for (Contender contender : order) {
				Figures figures = (round > 0) ? measured.get(contender) : new Figures();
				send(contender, sizes, figures);
				if (round > 0) {
					for (Form form : Form.values()) {
						raw.accept(String.format(Locale.ROOT, "\"%s\",\"%s\",%d,%.0f,%.2f", contender.text(), form.text,
								round, figures.rates(form).values().get(round - 1), Machine.load()));
					}
				}
			}
			Collections.reverse(order);
		}
		List<String> lines = new ArrayList<>(List.of("", machine));
		lines.addAll(ratios(measured, sizes));
		lines.addAll(rates(measured, sizes));
		lines.addAll(goals(measured));
		return lines;
	}

	private static void send(Contender contender, Sizes sizes, Figures figures) throws Exception {
		if (contender == Contender.KAFKA) {
			try (EmbeddedKafka kafka = KafkaProcess.start(Map.of());
					Client client = Contender.open(kafka, sizes.shards())) {
				send(client, sizes, figures);
			}
			return;
		}
		try (RedisProcess redis = RedisProcess.start(); Client client = contender.open(redis, sizes.shards())) {
			long before = memory(redis);
			int sent = send(client, sizes, figures);
			figures.bytes().add((double) (memory(redis) - before) / sent);
		}
	}

	/** Returns how many records were sent. */
	private static int send(Client client, Sizes sizes, Figures figures) throws Exception {
		System.gc();
		int next = 0;
		for (Form form : Form.values()) {
			int records = form.records(sizes.records());
			long begun = System.nanoTime();
			form.send(client, next, next + records, sizes.batch());
			figures.rates(form).add(records * 1e9 / (System.nanoTime() - begun));
			next += records;
		}
		return next;
	}

	private static long memory(RedisProcess redis) {
		Matcher used = MEMORY.matcher(redis.info("memory"));
		if (!used.find()) {
			throw new IllegalStateException("Redis does not tell its memory");
		}
		return Long.parseLong(used.group(1));
	}

	private static List<String> ratios(Map<Contender, Figures> measured, Sizes sizes) {
		List<String> lines = new ArrayList<>(List.of("",
				"| times as fast as bare Lettuce: median (lowest-highest round) | one after the other | asynchronously | in batches of %,d |"
					.formatted(sizes.batch()),
				"|---|---:|---:|---:|"));
		Figures bare = measured.get(Contender.BARE);
		if (bare == null) {
			return List.of();
		}
		measured.forEach((contender, figures) -> {
			StringBuilder line = new StringBuilder("| " + contender.text() + " |");
			for (Form form : Form.values()) {
				Samples ratios = figures.rates(form).dividedBy(bare.rates(form));
				line.append(String.format(Locale.ROOT, " %.2f (%.2f-%.2f) |", ratios.median(), ratios.lowest(),
						ratios.highest()));
			}
			lines.add(line.toString());
		});
		return lines;
	}

	private static List<String> rates(Map<Contender, Figures> measured, Sizes sizes) {
		List<String> lines = new ArrayList<>(List.of("",
				"| records of %d bytes to %d shards per second: median (lowest-highest round) | one after the other | asynchronously | in batches of %,d | bytes of Redis per record |"
					.formatted(PAYLOAD_BYTES, sizes.shards(), sizes.batch()),
				"|---|---:|---:|---:|---:|"));
		measured.forEach((contender, figures) -> {
			StringBuilder line = new StringBuilder("| " + contender.text() + " |");
			for (Form form : Form.values()) {
				Samples rates = figures.rates(form);
				line.append(String.format(Locale.ROOT, " %,.0f (%,.0f-%,.0f) |", rates.median(), rates.lowest(),
						rates.highest()));
			}
			line.append(figures.bytes().values().isEmpty() ? " – |"
					: String.format(Locale.ROOT, " %.0f |", figures.bytes().median()));
			lines.add(line.toString());
		});
		return lines;
	}

	private static List<String> goals(Map<Contender, Figures> measured) {
		Figures bare = measured.get(Contender.BARE);
		Figures ours = measured.get(Contender.PLAIN);
		if (bare == null || ours == null) {
			return List.of();
		}
		GoalTable goals = new GoalTable("times as fast as bare Lettuce: median of the rounds", "at least");
		for (Form form : Form.values()) {
			goals.atLeast(form.text, ours.rates(form).dividedBy(bare.rates(form)).median(), ASKED);
		}
		return goals.lines();
	}

	/**
	 * Sizes of each round.
	 *
	 * @param records how many are sent asynchronously, and as many in batches
	 * @param batch how many are in a batch
	 */
	record Sizes(int shards, int records, int batch, int warmUp, int rounds) {

	}

	/** How records are sent. */
	private enum Form {

		ONE_BY_ONE("one after the other") {
			@Override
			int records(int all) {
				return Math.max(1, all / SYNCHRONOUS_PART);
			}

			@Override
			void send(Client client, int from, int to, int batch) throws Exception {
				for (int number = from; number < to; number++) {
					client.send(number);
				}
			}
		},

		ASYNCHRONOUS("asynchronously") {
			@Override
			void send(Client client, int from, int to, int batch) {
				List<CompletableFuture<?>> sent = new ArrayList<>(to - from);
				for (int number = from; number < to; number++) {
					sent.add(client.sendAsync(number));
				}
				sent.forEach(CompletableFuture::join);
			}
		},

		BATCHES("in batches") {
			@Override
			void send(Client client, int from, int to, int batch) throws Exception {
				for (int first = from; first < to; first += batch) {
					client.sendAll(first, Math.min(to, first + batch));
				}
			}
		};

		private static final int SYNCHRONOUS_PART = 20;

		private final String text;

		Form(String text) {
			this.text = text;
		}

		int records(int all) {
			return all;
		}

		abstract void send(Client client, int from, int to, int batch) throws Exception;

	}

	/**
	 * Figures of a contender, round by round.
	 *
	 * @param byForm records per second
	 * @param bytes of Redis per record
	 */
	private record Figures(Map<Form, Samples> byForm, Samples bytes) {

		Figures() {
			this(new EnumMap<>(Form.class), new Samples());
		}

		Samples rates(Form form) {
			return this.byForm.computeIfAbsent(form, (unseen) -> new Samples());
		}

	}

}
