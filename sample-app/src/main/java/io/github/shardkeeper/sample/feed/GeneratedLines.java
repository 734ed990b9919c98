package io.github.shardkeeper.sample.feed;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.LongStream;

import io.github.shardkeeper.sample.AccessLine;

/**
 * Lines in Apache's combined format that depend only on their numbers. A few clients have
 * many visits and many have few, as in a real log. Immutable.
 */
public final class GeneratedLines implements LogLines {

	private static final int CLIENTS = 40;

	private static final List<String> PATHS = List.of("/", "/", "/", "/blog/", "/blog/2026/streams.html",
			"/projects/shardkeeper/", "/images/logo.png", "/style.css", "/style.css", "/favicon.ico", "/robots.txt",
			"/search?q=redis", "/feed.xml", "/downloads/manual.pdf");

	private static final List<Integer> STATUSES = List.of(200, 200, 200, 200, 200, 200, 200, 200, 304, 304, 301, 404,
			500);

	private static final List<String> AGENTS = List.of(
			"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
			"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15",
			"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36",
			"Mozilla/5.0 (compatible; ExampleBot/2.1; +https://example.org/bot)", "curl/8.14.1");

	private static final Instant FIRST_VISIT = Instant.parse("2026-01-01T00:00:00Z");

	private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("dd/MMM/yyyy:HH:mm:ss Z", Locale.ENGLISH)
		.withZone(ZoneOffset.UTC);

	/** Spreads the seeds: neighbouring seeds give similar random numbers. */
	private static final long SEED_FACTOR = 0x9E3779B97F4A7C15L;

	private final long limit;

	/**
	 * Creates the lines.
	 * @param limit the number of lines
	 */
	public GeneratedLines(long limit) {
		this.limit = limit;
	}

	@Override
	public String name() {
		return "generated";
	}

	@Override
	public List<AccessLine> read(long first, int most) {
		return LongStream.range(first, Math.min(this.limit, first + most)).mapToObj(GeneratedLines::line).toList();
	}

	private static AccessLine line(long number) {
		Random random = new Random(number * SEED_FACTOR);
		String client = client((int) (CLIENTS * Math.pow(random.nextDouble(), 2)));
		String time = TIME.format(FIRST_VISIT.plusSeconds(3 * number + random.nextInt(3)));
		String path = pick(PATHS, random);
		int status = pick(STATUSES, random);
		String bytes = (status == 200) ? Integer.toString(500 + random.nextInt(60_000)) : "-";
		return new AccessLine(number, "%s - - [%s] \"GET %s HTTP/1.1\" %d %s \"-\" \"%s\"".formatted(client, time, path,
				status, bytes, pick(AGENTS, random)));
	}

	/** All addresses are reserved for documentation. */
	private static String client(int index) {
		return switch (index % 4) {
			case 0 -> "192.0.2." + (10 + index);
			case 1 -> "198.51.100." + (10 + index);
			case 2 -> "203.0.113." + (10 + index);
			default -> "2001:db8::" + Integer.toHexString(10 + index);
		};
	}

	private static <T> T pick(List<T> values, Random random) {
		return values.get(random.nextInt(values.size()));
	}

}
