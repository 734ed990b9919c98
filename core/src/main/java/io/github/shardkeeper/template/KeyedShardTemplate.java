package io.github.shardkeeper.template;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.RecordTooLargeException;
import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.ShardSelector;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.IdempotentAppender;
import io.github.shardkeeper.source.PayloadConverter;
import io.github.shardkeeper.source.ShardAppender;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.template.SendQueue.Sending;
import io.github.shardkeeper.template.SendWindow.Place;
import io.github.shardkeeper.text.EncodableText;

/**
 * Template on top of a {@link ShardAppender}. Starts the thread
 * {@code shardkeeper-sender} when it is busy. Thread-safe.
 */
@Internal
public final class KeyedShardTemplate implements ShardTemplate, AutoCloseable {

	private static final int MOST_PER_BATCH = 500;

	private static final long IDLE_SECONDS = 30;

	private final SendTopics topics;

	private final PayloadConverter converter;

	private final SendSettings settings;

	private final ShardChoice choice;

	private final SendWindow window;

	/** A source that cannot be reached must not delay the records of others. */
	private final Map<ShardAppender, SendQueue> queues = new ConcurrentHashMap<>();

	private final SendInterceptors interceptors;

	private final SendObserver observer;

	private final DuplicateSendListener repetitions;

	/** Different for each template, also after a restart of the process. */
	private final String producer = UUID.randomUUID().toString();

	private volatile boolean closed;

	/**
	 * Creates a template. Topics without one of {@code selectors} use {@code selector},
	 * or the hash of the key if it is {@code null}.
	 */
	public KeyedShardTemplate(SendTopics topics, PayloadConverter converter, SendSettings settings,
			Map<String, ShardSelector> selectors, @Nullable ShardSelector selector, SendObserver observer) {
		this(topics, converter, settings, selectors, selector, SendInterceptors.NONE, observer,
				DuplicateSendListener.NONE);
	}

	/**
	 * Creates a template with interceptors, which reports records that were there before.
	 */
	public KeyedShardTemplate(SendTopics topics, PayloadConverter converter, SendSettings settings,
			Map<String, ShardSelector> selectors, @Nullable ShardSelector selector, SendInterceptors interceptors,
			SendObserver observer, DuplicateSendListener repetitions) {
		this.topics = topics;
		this.converter = converter;
		this.settings = settings;
		this.choice = new ShardChoice(Map.copyOf(selectors), selector);
		this.interceptors = interceptors;
		this.observer = observer;
		this.repetitions = repetitions;
		this.window = new SendWindow(settings);
	}

	private SendQueue queue(String topic) {
		return this.queues.computeIfAbsent(this.topics.appender(topic), (appender) -> {
			ShardAppender repeating = (appender instanceof IdempotentAppender once) ? new RetryingAppender(once,
					this.settings.retries(), this.producer, () -> this.closed, RetryingAppender.TIMER, this.repetitions)
					: appender;
			ThreadPoolExecutor sender = new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS,
					new LinkedBlockingQueue<>(), KeyedShardTemplate::senderThread);
			sender.allowCoreThreadTimeOut(true);
			return new SendQueue(repeating, this.window, sender);
		});
	}

	private static Thread senderThread(Runnable work) {
		Thread thread = new Thread(work, "shardkeeper-sender");
		thread.setDaemon(true);
		return thread;
	}

	@Override
	public List<Appended> sendAll(String topic, Collection<Outgoing> records) {
		return sendAll(topic, records, null);
	}

	@Override
	public CompletableFuture<Appended> sendAsync(String topic, Outgoing outgoing) {
		return sendAsync(topic, outgoing, null);
	}

	private CompletableFuture<Appended> sendAsync(String topic, Outgoing outgoing, @Nullable ShardSelector selector) {
		Prepared prepared = prepare(topic, outgoing, selector);
		try {
			NewRecord newRecord = prepared.newRecord();
			Place place = this.window.tryEnter(size(newRecord));
			if (place == null && SendQueue.isCompleting()) {
				SendFailedException full = new SendFailedException(
						"There is no room for another record in flight, and this thread cannot wait for it: "
								+ "it completes futures of others. Send from another one, with thenComposeAsync(…)",
						null, false);
				prepared.send().failed(full);
				return CompletableFuture.failedFuture(full);
			}
			if (place == null) {
				place = awaitRoom(newRecord, false);
			}
			Sending sending = begin(prepared, place, false);
			queue(topic).send(List.of(sending));
			// Interceptors learn what became of the record, not that the caller gave up.
			return prepared.send().isObserved() ? sending.appended().copy() : sending.appended();
		}
		catch (Throwable ex) {
			prepared.send().failed(ex);
			throw ex;
		}
	}

	private List<Appended> sendAll(String topic, Collection<Outgoing> records, @Nullable ShardSelector selector) {
		Objects.requireNonNull(topic, "topic must not be null");
		Objects.requireNonNull(records, "records must not be null");
		requireMayWait();
		List<Prepared> prepared = new ArrayList<>(records.size());
		List<Sending> all = new ArrayList<>(records.size());
		try {
			records.forEach((outgoing) -> prepared.add(prepare(topic, outgoing, selector)));
			sendAll(topic, prepared, all);
		}
		catch (Throwable ex) {
			prepared.subList(all.size(), prepared.size()).forEach((unsent) -> unsent.send().failed(ex));
			throw ex;
		}
		return await(all);
	}

	private void sendAll(String topic, List<Prepared> prepared, List<Sending> all) {
		List<Sending> batch = new ArrayList<>(Math.min(prepared.size(), MOST_PER_BATCH));
		try {
			for (Prepared next : prepared) {
				NewRecord newRecord = next.newRecord();
				Place place = (batch.size() < MOST_PER_BATCH) ? this.window.tryEnter(size(newRecord)) : null;
				if (place == null) {
					// The records that hold the room must be sent before waiting for it.
					send(topic, batch);
					place = awaitRoom(newRecord, !all.isEmpty());
				}
				Sending sending = begin(next, place, !all.isEmpty());
				batch.add(sending);
				all.add(sending);
			}
		}
		finally {
			send(topic, batch);
		}
	}

	private void send(String topic, List<Sending> batch) {
		if (!batch.isEmpty()) {
			queue(topic).send(List.copyOf(batch));
			batch.clear();
		}
	}

	private static List<Appended> await(List<Sending> all) {
		List<Appended> appended = new ArrayList<>(all.size());
		Throwable first = null;
		boolean mayHaveBeenAppended = false;
		try {
			for (Sending sending : all) {
				try {
					appended.add(sending.appended().get());
					mayHaveBeenAppended = true;
				}
				catch (ExecutionException ex) {
					mayHaveBeenAppended |= !(ex.getCause() instanceof SendFailedException failed)
							|| failed.mayHaveBeenAppended();
					first = (first != null) ? first : ex.getCause();
				}
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new SendFailedException("Interrupted while waiting for a reply", ex, true);
		}
		if (first != null) {
			throw new SendFailedException(String.valueOf(first.getMessage()), first, mayHaveBeenAppended);
		}
		return appended;
	}

	/**
	 * Prepares a record that others append: has it intercepted, chooses its shard, and
	 * converts its payload. Interceptors do not learn its result.
	 */
	public NewRecord prepare(String topic, Outgoing outgoing) {
		requireOpen(topic, outgoing);
		return convert(topic, this.interceptors.begin(topic, outgoing).outgoing(), null);
	}

	private Prepared prepare(String topic, Outgoing outgoing, @Nullable ShardSelector selector) {
		requireOpen(topic, outgoing);
		SendInterceptors.Send send = this.interceptors.begin(topic, outgoing);
		try {
			return new Prepared(send, convert(topic, send.outgoing(), selector));
		}
		catch (Throwable ex) {
			send.failed(ex);
			throw ex;
		}
	}

	private void requireOpen(String topic, Outgoing outgoing) {
		Objects.requireNonNull(topic, "topic must not be null");
		Objects.requireNonNull(outgoing, "record must not be null");
		if (this.closed) {
			throw new SendFailedException("This ShardTemplate was closed with its application context", null, false);
		}
	}

	private NewRecord convert(String topic, Outgoing outgoing, @Nullable ShardSelector selector) {
		requireEncodable(outgoing);
		int shard = this.choice.choose(topic, outgoing, shardCount(topic), selector);
		ShardId id = ShardId.of(topic, shard);
		Map<String, String> headers = new LinkedHashMap<>(outgoing.headers());
		byte[] payload = Objects.requireNonNull(this.converter.write(id, outgoing.payload(), headers),
				() -> this.converter.getClass().getName() + ".write has returned null");
		NewRecord newRecord = new NewRecord(id, outgoing.key(), payload, headers, outgoing.id());
		if (newRecord.size() > this.settings.maxRecordBytes()) {
			throw new RecordTooLargeException(topic, newRecord.size(), this.settings.maxRecordBytes());
		}
		ShardAppender appender = this.topics.appender(topic);
		appender.check(newRecord);
		if (outgoing.id() != null && !(appender instanceof IdempotentAppender)) {
			throw new IllegalArgumentException(
					"A record for the topic '%s' has an id, but its source cannot recognize repeated records: "
						.formatted(topic) + "send it without withId(…), or implement IdempotentAppender in the source");
		}
		return newRecord;
	}

	private static void requireEncodable(Outgoing outgoing) {
		if (outgoing.key() != null) {
			EncodableText.require(outgoing.key(), "The key of a record");
		}
		if (outgoing.id() != null) {
			EncodableText.require(outgoing.id(), "The id of a record");
		}
		outgoing.headers().forEach((name, value) -> {
			EncodableText.require(name, "The name of a header");
			EncodableText.require(value, "A header");
		});
	}

	private Sending begin(Prepared prepared, Place place, boolean othersAreSent) {
		Sending sending = observed(prepared.newRecord(), place, othersAreSent);
		if (prepared.send().isObserved()) {
			sending.appended().whenComplete(prepared.send()::ended);
		}
		return sending;
	}

	private Sending observed(NewRecord newRecord, Place place, boolean othersAreSent) {
		if (this.observer == SendObserver.NONE) {
			return new Sending(newRecord, place);
		}
		boolean addsHeaders = this.observer.addsHeaders();
		Map<String, String> headers = addsHeaders ? new LinkedHashMap<>(newRecord.headers())
				: Collections.unmodifiableMap(newRecord.headers());
		SendObserver.Sent sent;
		try {
			sent = this.observer.sending(newRecord.shard(), newRecord.key(), headers);
		}
		catch (Throwable ex) {
			// The observer may throw. A place that is not released blocks flush()
			// forever.
			this.window.leave(place);
			this.window.finish(place);
			throw new SendFailedException("Not sent: its observation has failed: " + ex, ex, othersAreSent);
		}
		Sending sending = new Sending(addsHeaders ? withHeaders(newRecord, headers) : newRecord, place);
		sending.appended()
			.whenComplete((appended, failure) -> sent.ended((appended != null) ? appended.offset() : null, failure));
		return sending;
	}

	/**
	 * Returns a record with the headers that its observer has added, without them if its
	 * consumers would refuse it for its size.
	 */
	private NewRecord withHeaders(NewRecord newRecord, Map<String, String> headers) {
		NewRecord observed = new NewRecord(newRecord.shard(), newRecord.key(), newRecord.payload(), headers,
				newRecord.id());
		return (observed.size() <= this.settings.maxRecordBytes()) ? observed : newRecord;
	}

	/** Returns what a record takes while it is in flight. */
	private static long size(NewRecord newRecord) {
		String id = newRecord.id();
		return newRecord.size() + ((id != null) ? id.length() : 0);
	}

	private Place awaitRoom(NewRecord newRecord, boolean othersAreSent) {
		try {
			return this.window.enter(size(newRecord));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new SendFailedException("Interrupted while waiting for room for another record in flight", ex,
					othersAreSent);
		}
	}

	private static void requireMayWait() {
		if (SendQueue.isCompleting()) {
			throw new IllegalStateException("This thread completes futures of ShardTemplate.sendAsync and must not "
					+ "wait for other records: use sendAsync(…) here, or run the callback elsewhere, "
					+ "for example with thenApplyAsync(…)");
		}
	}

	@Override
	public void flush() {
		requireMayWait();
		try {
			this.window.awaitDone();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new SendFailedException("Interrupted while waiting for records in flight", ex, true);
		}
	}

	@Override
	public ShardTemplate with(ShardSelector selector) {
		Objects.requireNonNull(selector, "selector must not be null");
		return new View(selector);
	}

	@Override
	public ShardId shardFor(String topic, String key) {
		Objects.requireNonNull(topic, "topic must not be null");
		Objects.requireNonNull(key, "key must not be null");
		EncodableText.require(key, "The key of a record");
		return ShardId.of(topic, shardOf(key, shardCount(topic)));
	}

	private int shardCount(String topic) {
		Set<String> known = this.topics.names();
		if (!known.contains(topic)) {
			throw ShardkeeperConfigurationException.unknownTopic("A call of ShardTemplate", topic,
					new TreeSet<>(known));
		}
		this.topics.appender(topic).refresh(topic, !SendQueue.isCompleting());
		TopicShards shards = this.topics.shards(topic);
		if (shards.count() == 0) {
			throw new SendFailedException(
					"Not sent: the number of shards of the topic '%s' is not known yet".formatted(topic), null, false);
		}
		return shards.count();
	}

	/** Rejects new records and waits for those in flight, which are not repeated. */
	@Override
	public void close() {
		this.closed = true;
		flush();
	}

	static int shardOf(String key, int shards) {
		return (Murmur2.hash(key.getBytes(StandardCharsets.UTF_8)) & 0x7fffffff) % shards;
	}

	/** Choice of a record's shard. Thread-safe. */
	private static final class ShardChoice {

		private final Map<String, ShardSelector> byTopic;

		private final @Nullable ShardSelector otherwise;

		/**
		 * Turns of records without a key, by topic. Unlike in Kafka, each record goes to
		 * the next shard: each is a command of its own, so staying saves nothing.
		 */
		private final Map<String, AtomicInteger> turns = new ConcurrentHashMap<>();

		ShardChoice(Map<String, ShardSelector> byTopic, @Nullable ShardSelector otherwise) {
			this.byTopic = byTopic;
			this.otherwise = otherwise;
		}

		int choose(String topic, Outgoing outgoing, int shards, @Nullable ShardSelector selectorOfCall) {
			Integer fixed = outgoing.shard();
			if (fixed != null) {
				return require(fixed, topic, shards, "A record names");
			}
			ShardSelector selector = (selectorOfCall != null) ? selectorOfCall
					: this.byTopic.getOrDefault(topic, this.otherwise);
			if (selector != null) {
				int selected = selector.select(topic, outgoing, shards);
				if (selected != ShardSelector.BY_KEY) {
					return require(selected, topic, shards, selector.getClass().getName() + " has selected");
				}
			}
			// A repeated record must not go to the shard whose turn it is.
			String text = (outgoing.key() != null) ? outgoing.key() : outgoing.id();
			return (text != null) ? shardOf(text, shards) : next(topic, shards);
		}

		private int next(String topic, int shards) {
			// A random start: otherwise producers of a single record all use one shard.
			AtomicInteger turn = this.turns.computeIfAbsent(topic,
					(t) -> new AtomicInteger(ThreadLocalRandom.current().nextInt()));
			return Math.floorMod(turn.getAndIncrement(), shards);
		}

		private static int require(int shard, String topic, int shards, String subject) {
			if (shard < 0 || shard >= shards) {
				throw new IllegalArgumentException("%s shard %d, but the shards of the topic '%s' are 0 to %d"
					.formatted(subject, shard, topic, shards - 1));
			}
			return shard;
		}

	}

	/** A record before it is in flight. */
	private record Prepared(SendInterceptors.Send send, NewRecord newRecord) {

	}

	private final class View implements ShardTemplate {

		private final ShardSelector selector;

		View(ShardSelector selector) {
			this.selector = selector;
		}

		@Override
		public List<Appended> sendAll(String topic, Collection<Outgoing> records) {
			return KeyedShardTemplate.this.sendAll(topic, records, this.selector);
		}

		@Override
		public CompletableFuture<Appended> sendAsync(String topic, Outgoing outgoing) {
			return KeyedShardTemplate.this.sendAsync(topic, outgoing, this.selector);
		}

		@Override
		public void flush() {
			KeyedShardTemplate.this.flush();
		}

		@Override
		public ShardTemplate with(ShardSelector other) {
			return KeyedShardTemplate.this.with(other);
		}

		@Override
		public ShardId shardFor(String topic, String key) {
			return KeyedShardTemplate.this.shardFor(topic, key);
		}

	}

}
