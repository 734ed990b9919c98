package io.github.shardkeeper.sls;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;

import com.aliyun.openservices.log.common.auth.CredentialsProvider;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.GroupPositions;
import io.github.shardkeeper.source.ShardAppender;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicClock;

/**
 * Topics on Aliyun LogHub (SLS): a topic is a logstore, its shards are those of the
 * logstore, and a record is a log.
 *
 * <h2>Records</h2> The time of a log, in seconds, is the timestamp. The topic, the source
 * and the tags of its log group are the headers {@code __topic__}, {@code __source__} and
 * {@code __tag__:<name>}. The content fields are the payload, as a JSON object of texts.
 * The key is the content field {@link SlsSettings.Logstore#keyField()}, else
 * {@code null}: SLS does not return the hash key that a producer chose.
 * <p>
 * A record that is appended here is read as it was: its key and headers are content
 * fields with the prefix {@code shardkeeper_}, and so is its payload, unless it is a JSON
 * object of texts, whose properties become content fields. Its offset is
 * {@link #UNKNOWN_OFFSET}, because SLS does not return any.
 *
 * <h2>Offsets</h2> {@code <cursor>:<n>}, log {@code n} of those that follow a cursor,
 * counted from 0, and where to resume after it; a cursor alone is the position before its
 * first log, and {@code begin} that before the first log of the shard. The identity of a
 * record is {@code <cursor>:<n>}, the same for every reader that resumes at an offset of
 * an earlier one.
 *
 * <h2>Shards</h2> A shard that was split or merged is read to its end; its children
 * follow. SLS names no parents: they derive from key ranges and creation times. A record
 * for a shard that takes no more records is appended to the child that its key selects.
 *
 * <h2>Not guaranteed</h2>
 * <ul>
 * <li>A position by time is that of the time at which SLS received a log, in seconds, and
 * not of the log's own time.</li>
 * <li>When logs expire before they are read, the topic's reset policy applies. It also
 * applies to a position that is older than the first log although there were no logs in
 * between, because SLS does not tell the difference, and may then repeat up to one reply
 * of logs.</li>
 * <li>A record may be appended twice if a reply is lost.</li>
 * </ul>
 * Credentials are asked for with each request, so the provider may change them. They are
 * never logged. Thread-safe.
 */
public final class SlsShardSource implements ShardSource, GroupPositions, ShardAppender {

	/** Offset of each appended record: SLS does not return one. No valid position. */
	public static final Offset UNKNOWN_OFFSET = new Offset("unknown");

	private static final Logger logger = PrintableLogger.of(SlsShardSource.class);

	private static final Duration PROGRESS_DELAY = Duration.ofSeconds(3);

	private static final Duration PROGRESS_REFRESH = Duration.ofMinutes(1);

	private final SlsSettings settings;

	private final SlsClient client;

	private final ShardLists lists;

	private final SlsAppender appender;

	private final ShardAges ages;

	private final @Nullable ConsumerGroupProgress progress;

	private final ScheduledThreadPoolExecutor positions;

	/**
	 * Creates a source; connects when it is first used.
	 * @param settings endpoint, project, logstores and limits
	 * @param credentials provides the credentials of each request; must not block for
	 * long
	 */
	public SlsShardSource(SlsSettings settings, CredentialsProvider credentials) {
		Objects.requireNonNull(settings, "settings must not be null");
		Objects.requireNonNull(credentials, "credentials must not be null");
		this.settings = settings;
		this.client = new SlsClient(settings, credentials);
		this.lists = new ShardLists(this.client, settings, System::nanoTime);
		this.appender = new SlsAppender(this.client, this.lists, settings, System::nanoTime, System::currentTimeMillis);
		this.ages = new ShardAges(this.client, System::currentTimeMillis);
		String consumerGroup = settings.consumerGroup();
		this.progress = (consumerGroup != null) ? new ConsumerGroupProgress(this.client, consumerGroup, PROGRESS_DELAY,
				PROGRESS_REFRESH, MonotonicClock.SYSTEM) : null;
		this.positions = Threads.scheduler("shardkeeper-sls-positions", settings.threads());
	}

	@Override
	public Map<String, TopicShards> topics() {
		return this.lists.topics();
	}

	@Override
	public Map<String, String> problems() {
		return this.lists.problems();
	}

	@Override
	public Map<String, OpenShards> openShards() {
		return this.lists.open();
	}

	@Override
	public Watch watch(Runnable onChange) {
		Objects.requireNonNull(onChange, "onChange must not be null");
		return this.lists.watch(onChange);
	}

	@Override
	public ShardReader openReader() {
		return new SlsShardReader((shard, after) -> new ShardFetch(shard, after, this.client, this.lists, this.settings,
				System::nanoTime), this.ages, this.progress, this.settings, this.lists.use());
	}

	/**
	 * Tells the age of the next log, not the number of logs. Asks SLS only about a shard
	 * that is not read here, or of which not everything that was read is committed.
	 */
	@Override
	public @Nullable Lag lag(ShardId shard, Offset committed) {
		Objects.requireNonNull(shard, "shard must not be null");
		Objects.requireNonNull(committed, "committed must not be null");
		return this.ages.lag(shard, committed);
	}

	@Override
	public Map<ShardId, Offset> before(StartPosition position, Collection<ShardId> shards) {
		Objects.requireNonNull(position, "position must not be null");
		Objects.requireNonNull(shards, "shards must not be null");
		if (position instanceof StartPosition.Latest) {
			return ask(shards, this.client::end);
		}
		if (position instanceof StartPosition.At at) {
			return ask(shards, (shard) -> this.client.cursorAt(shard, Math.max(0, at.time().getEpochSecond())));
		}
		SlsOffset before = SlsOffset.BEGIN;
		if (position instanceof StartPosition.From from) {
			before = SlsOffset.parse(from.first()).previous();
		}
		else if (position instanceof StartPosition.After after) {
			before = SlsOffset.parse(after.last());
		}
		Map<ShardId, Offset> offsets = new HashMap<>();
		for (ShardId shard : shards) {
			offsets.put(shard, before.toOffset());
		}
		return offsets;
	}

	@Override
	public Map<ShardId, Position> positions(String group, Collection<ShardId> shards) {
		Objects.requireNonNull(group, "group must not be null");
		Objects.requireNonNull(shards, "shards must not be null");
		return new ConsumerGroupCheckpoints(this.client, System::currentTimeMillis).positions(group, shards);
	}

	/** Asks for a cursor of each shard. */
	private Map<ShardId, Offset> ask(Collection<ShardId> shards, CursorRequest request) {
		Map<ShardId, Future<Offset>> replies = new HashMap<>();
		try {
			for (ShardId shard : shards) {
				replies.put(shard, this.positions.submit(() -> offset(shard, request)));
			}
			Map<ShardId, Offset> offsets = new HashMap<>();
			for (Map.Entry<ShardId, Future<Offset>> reply : replies.entrySet()) {
				offsets.put(reply.getKey(), reply.getValue().get());
			}
			return offsets;
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof StoreUnavailableException unavailable) {
				throw new StoreUnavailableException(String.valueOf(unavailable.getMessage()), unavailable,
						unavailable.isRefusal());
			}
			throw new IllegalStateException(ex.getCause());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new StoreUnavailableException("Interrupted while SLS was asked for positions", ex);
		}
		catch (RejectedExecutionException ex) {
			throw new StoreUnavailableException("The source is closed", ex);
		}
		finally {
			replies.values().forEach((reply) -> reply.cancel(false));
		}
	}

	/** A shard that is gone has no position but its beginning. */
	private Offset offset(ShardId shard, CursorRequest request) {
		try {
			return SlsOffset.before(request.cursor(shard)).toOffset();
		}
		catch (SlsFailure ex) {
			if (ex.kind() == SlsFailure.Kind.NO_SHARD
					&& this.lists.refresh(shard.topic(), Duration.ZERO).isGone(shard)) {
				return SlsOffset.BEGIN.toOffset();
			}
			throw ex;
		}
	}

	@Override
	public void check(NewRecord newRecord) {
		Objects.requireNonNull(newRecord, "newRecord must not be null");
		this.appender.check(newRecord);
	}

	@Override
	public List<CompletableFuture<Offset>> append(List<NewRecord> records) {
		Objects.requireNonNull(records, "records must not be null");
		return this.appender.append(new ArrayList<>(records));
	}

	@Override
	public void refresh(String topic, boolean mayWait) {
		boolean known = this.lists.known(topic) != null;
		if (!mayWait || !this.settings.topics().containsKey(topic)) {
			return;
		}
		try {
			this.lists.refresh(topic, this.settings.shardListInterval());
		}
		catch (StoreUnavailableException ex) {
			if (!known) {
				throw new SendFailedException(
						"Not sent: the shards of '%s' are not known. %s".formatted(topic, ex.getMessage()), ex, false);
			}
			logger.debug("The shards of '{}' may be outdated", topic, ex);
		}
	}

	/** Closes the source; records that were not sent yet fail. */
	@Override
	public void close() {
		this.lists.close();
		this.appender.close();
		this.positions.shutdownNow();
		if (this.progress != null) {
			this.progress.close();
		}
		this.client.close();
	}

	/** Without credentials. */
	@Override
	public String toString() {
		return "SLS project %s at %s".formatted(this.settings.project(), this.settings.endpoint());
	}

	@FunctionalInterface
	private interface CursorRequest {

		String cursor(ShardId shard);

	}

}
