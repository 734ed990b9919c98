package io.github.shardkeeper.benchmarks.sending;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.springframework.context.ConfigurableApplicationContext;

import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Appended;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.benchmarks.Applications;
import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.RedisProcess;
import io.github.shardkeeper.benchmarks.Samples;

/**
 * Records per second that a {@code ShardTemplate} sends asynchronously and one after the
 * other: without a guard against duplicates, with retries, with an id for each record,
 * and with both. All variants take their turns in each round, in every second round the
 * other way round, each with a Redis of its own.
 */
public final class SendingBenchmark implements Benchmark {

	private static final Path RAW_FIGURES = Path.of("sending.csv");

	private static final Pattern MEMORY = Pattern.compile("used_memory:(\\d+)");

	private static final int SYNCHRONOUS_PART = 20;

	@Override
	public String description() {
		return """
				Records per second from a ShardTemplate, with and without retries and ids.
				--shards=32 --records=200000 --rounds=5 --warm-up=1 --variants=… (parts of their names)
				The raw figures are left in sending.csv.""".indent(14).strip();
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("shards", "records", "rounds", "warm-up", "variants"));
		int shards = options.number("shards", 32, 1);
		int records = options.number("records", 200_000, 1);
		int rounds = options.number("rounds", 5, 1);
		int warmUp = options.number("warm-up", 1);
		List<Variant> variants = options.matching("variants", List.of(Variant.values()), Variant::title);
		try (RawFigures raw = new RawFigures(RAW_FIGURES, List.of("figure", "number", "value"))) {
			measure(variants, shards, records, warmUp, rounds, raw).forEach(System.out::println);
		}
	}

	static List<String> measure(List<Variant> variants, int shards, int records, int warmUp, int rounds,
			Consumer<String> raw) throws Exception {
		Map<Variant, Figures> measured = new LinkedHashMap<>();
		variants.forEach((variant) -> measured.put(variant, new Figures(new Samples(), new Samples(), new Samples())));
		String machine = "";
		for (int round = -warmUp; round < rounds; round++) {
			List<Variant> order = new ArrayList<>(variants);
			if (round % 2 != 0) {
				Collections.reverse(order);
			}
			for (Variant variant : order) {
				try (RedisProcess redis = RedisProcess.start()) {
					machine = Machine.describe(redis.version());
					Figures figures = (round < 0) ? new Figures(new Samples(), new Samples(), new Samples())
							: measured.get(variant);
					variant.send(redis, shards, records, figures);
				}
			}
		}
		List<String> lines = new ArrayList<>(List.of("", machine, "",
				"| %,d records of 100 bytes to %d shards | asynchronous, records/s | lowest-highest | one after the other, ms: median | bytes of Redis per record |"
					.formatted(records, shards),
				"|---|---:|---:|---:|---:|"));
		measured.forEach((variant, figures) -> {
			RawFigures.add(variant.title() + ", records/s", figures.rates(), raw);
			RawFigures.add(variant.title() + ", ms", figures.millis(), raw);
			lines.add(String.format(Locale.ROOT, "| %s | %,.0f | %,.0f-%,.0f | %.3f | %.0f |", variant.title(),
					figures.rates().median(), figures.rates().lowest(), figures.rates().highest(),
					figures.millis().median(), figures.bytes().median()));
		});
		return lines;
	}

	/** Figures of all rounds. */
	record Figures(Samples rates, Samples millis, Samples bytes) {

	}

	/** How records are sent. */
	enum Variant {

		PLAIN(0, false), RETRIES(5, false), IDS(0, true), RETRIES_AND_IDS(5, true);

		private final int retries;

		private final boolean withIds;

		Variant(int retries, boolean withIds) {
			this.retries = retries;
			this.withIds = withIds;
		}

		String title() {
			return switch (this) {
				case PLAIN -> "without";
				case RETRIES -> "with retries";
				case IDS -> "with ids";
				case RETRIES_AND_IDS -> "with retries and ids";
			};
		}

		void send(RedisProcess redis, int shards, int records, Figures figures) throws Exception {
			try (ConfigurableApplicationContext application = Applications.start(redis, new Object(),
					Map.of("shardkeeper.group", "sending", "shardkeeper.topics.sent.shards", shards,
							"shardkeeper.template.retries", this.retries))) {
				ShardTemplate template = application.getBean(ShardTemplate.class);
				long memory = memory(redis);
				List<CompletableFuture<Appended>> sent = new ArrayList<>(records);
				long begun = System.nanoTime();
				for (int i = 0; i < records; i++) {
					sent.add(template.sendAsync("sent", record(i)));
				}
				sent.forEach(CompletableFuture::join);
				figures.rates().add(records * 1e9 / (System.nanoTime() - begun));
				figures.bytes().add((double) (memory(redis) - memory) / records);
				for (int i = 0; i < Math.max(1, records / SYNCHRONOUS_PART); i++) {
					long from = System.nanoTime();
					template.send("sent", record(records + i));
					figures.millis().add((System.nanoTime() - from) / 1e6);
				}
			}
		}

		private Outgoing record(int number) {
			Outgoing plain = new Outgoing("key-" + number, new byte[100]);
			return this.withIds ? plain.withId("00000000-0000-4000-8000-%012d".formatted(number)) : plain;
		}

		private static long memory(RedisProcess redis) throws Exception {
			Matcher used = MEMORY.matcher(redis.info("memory"));
			if (!used.find()) {
				throw new IllegalStateException("Redis does not tell its memory");
			}
			return Long.parseLong(used.group(1));
		}

	}

}
