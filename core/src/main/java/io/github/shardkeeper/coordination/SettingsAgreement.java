package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.coordination.store.SettingsStore;
import io.github.shardkeeper.coordination.store.SettingsStore.Other;
import io.github.shardkeeper.coordination.store.SharedSettings;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.loop.ProblemLog;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Agreement of this instance with those that run on the settings that divide the data of
 * a group. An instance asks before it joins the group, and before it consumes broadcast
 * topics. Once accepted it goes on consuming, also if the store has lost its entry and
 * accepted others meanwhile: then the problem is reported. Thread-safe.
 */
public final class SettingsAgreement {

	private static final Logger logger = PrintableLogger.of(SettingsAgreement.class);

	private static final Duration RETRY_PAUSE = Duration.ofSeconds(1);

	private static final Duration CONFLICT_RETRY_PAUSE = Duration.ofSeconds(5);

	/** So long that renewals cost next to nothing beside heartbeats. */
	private static final int TIMEOUTS_PER_LEASE = 2;

	private final CoordinationSettings instance;

	private final SettingsStore store;

	private final Function<Set<String>, SharedSettings> settings;

	private final MemberRuntime runtime;

	private final ProblemLog log = new ProblemLog();

	private SharedSettings own = SharedSettings.NONE;

	/** Name in the store; {@code null} while this instance does not consume. */
	private @Nullable String name;

	private Loops.@Nullable Loop loop;

	private Runnable onReached = () -> {
	};

	private volatile boolean reached;

	/** Next time to ask; {@code null} for as soon as possible. */
	private @Nullable MonotonicTime renewAt;

	/** Whether the coordinator logs what keeps it from joining. */
	private boolean coordinated;

	private volatile @Nullable Waiting problem;

	/**
	 * Creates an agreement that is not begun.
	 * @param settings returns what is compared, for the topics that this instance
	 * consumes
	 */
	public SettingsAgreement(CoordinationSettings instance, SettingsStore store,
			Function<Set<String>, SharedSettings> settings, MemberRuntime runtime) {
		this.instance = instance;
		this.store = store;
		this.settings = settings;
		this.runtime = runtime;
	}

	/**
	 * Asks for the first time, and keeps asking until it is reached or ended.
	 * @param topics the topics that this instance consumes
	 * @param onReached called once, when it is reached later than in this call
	 * @throws SettingsConflictException if an instance that runs has other settings
	 */
	public synchronized void begin(Set<String> topics, Runnable onReached) {
		this.own = this.settings.apply(topics);
		this.name = MemberId.of(this.instance.instance(), Long.toString(this.runtime.random().nextLong(1L << 40), 36))
			.value();
		this.reached = false;
		this.coordinated = false;
		this.renewAt = null;
		this.onReached = () -> {
		};
		try {
			ask();
		}
		catch (SettingsConflictException ex) {
			this.name = null;
			this.problem = null;
			throw ex;
		}
		catch (StoreUnavailableException ex) {
			logger.debug("The settings cannot be compared yet", ex);
		}
		this.onReached = onReached;
		this.loop = this.runtime.loops().start("shardkeeper-settings", this::pass);
	}

	/**
	 * Asks again, because this instance is to consume more topics. If the first reply is
	 * still awaited, it will cover them.
	 * @param topics all topics that this instance consumes then
	 * @throws SettingsConflictException if an instance that runs has other settings; the
	 * agreement is as before
	 * @throws StoreUnavailableException if the store does not reply; the agreement is as
	 * before
	 */
	public synchronized void extend(Set<String> topics) {
		SharedSettings before = this.own;
		Waiting problemBefore = this.problem;
		MonotonicTime renewBefore = this.renewAt;
		this.own = this.settings.apply(topics);
		if (!this.reached) {
			return;
		}
		try {
			ask();
		}
		catch (SettingsConflictException | StoreUnavailableException ex) {
			this.own = before;
			this.problem = problemBefore;
			this.renewAt = renewBefore;
			throw ex;
		}
	}

	/**
	 * Announces fewer topics from the next time on.
	 * @param topics all topics that this instance still consumes
	 */
	public synchronized void reduce(Set<String> topics) {
		this.own = this.settings.apply(topics);
	}

	/** Ends it: an instance with other settings may run from now on. */
	public void end() {
		Loops.@Nullable Loop running;
		// Without a last reply the store may be away, and the entry ends by itself.
		@Nullable String withdrawn;
		synchronized (this) {
			running = this.loop;
			this.loop = null;
			withdrawn = (this.renewAt != null) ? this.name : null;
			this.name = null;
			this.reached = false;
			this.problem = null;
		}
		if (running != null) {
			running.close();
		}
		if (withdrawn != null) {
			try {
				this.store.withdraw(withdrawn);
			}
			catch (StoreUnavailableException ex) {
				logger.debug("The settings of {} stay until their lease ends", withdrawn, ex);
			}
		}
	}

	/** Returns whether broadcast topics may be consumed. */
	public boolean isReached() {
		return this.reached;
	}

	/** Returns why it is not reached, or no longer. */
	public Optional<Problem> problem() {
		Waiting current = this.problem;
		return (current == null) ? Optional.empty() : Optional.of(new Problem(current.text(),
				(current.since() != null) ? current.since().until(this.runtime.clock().now()) : null));
	}

	/**
	 * Asks before the coordinator joins, unless that was done a short time ago.
	 * @throws SettingsConflictException if an instance that runs has other settings
	 * @throws StoreUnavailableException if the store did not reply
	 */
	public synchronized void beforeJoin() {
		this.coordinated = true;
		askIfDue();
	}

	private synchronized void askIfDue() {
		MonotonicTime due = this.renewAt;
		if (this.name != null && (due == null || !this.runtime.clock().now().isBefore(due))) {
			ask();
		}
	}

	private @Nullable MonotonicTime pass() {
		try {
			askIfDue();
			MonotonicTime due = this.renewAt;
			return (due != null) ? due : this.runtime.clock().now().plus(RETRY_PAUSE);
		}
		catch (StoreUnavailableException ex) {
			// Said with health here, and in the log by those who need the store for more.
			logger.debug("The settings cannot be compared now", ex);
			return this.runtime.clock().now().plus(RETRY_PAUSE);
		}
		catch (SettingsConflictException ex) {
			if ((this.reached || !this.coordinated) && this.log.isNew(String.valueOf(ex.getMessage()))) {
				logger.error(this.reached ? "The store has lost the settings of this instance, and accepted others. {}"
						: "Topics are not consumed. {}", ex.getMessage());
			}
			return this.runtime.clock().now().plus(CONFLICT_RETRY_PAUSE);
		}
	}

	private Duration lease() {
		return this.instance.timeout().multipliedBy(TIMEOUTS_PER_LEASE);
	}

	private void ask() {
		String announced = this.name;
		if (announced == null) {
			return;
		}
		MonotonicTime now = this.runtime.clock().now();
		try {
			SettingsStore.Reply reply = this.store.announce(announced, this.own, lease());
			if (!reply.accepted()) {
				throw conflict(reply.others());
			}
			accepted(now, reply.others());
		}
		catch (StoreUnavailableException ex) {
			if (!this.reached) {
				Waiting before = this.problem;
				this.problem = new Waiting(
						"Waits until the settings can be compared with those of the other instances: "
								+ ex.getMessage(),
						(before != null && before.since() != null) ? before.since() : now);
			}
			this.renewAt = null;
			throw ex;
		}
		catch (SettingsConflictException ex) {
			this.renewAt = null;
			this.problem = new Waiting(String.valueOf(ex.getMessage()), null);
			throw ex;
		}
	}

	private void accepted(MonotonicTime askedAt, List<Other> others) {
		// What is left is for attempts that fail.
		this.renewAt = askedAt.plus(lease().multipliedBy(2).dividedBy(3));
		this.problem = null;
		this.log.resolved();
		String harmless = differences(this.own.harmless(), others, SharedSettings::harmless);
		if (!harmless.isEmpty()) {
			logger.warn("Instances of group '{}' have different settings: {}. During a deployment that is harmless; "
					+ "otherwise give all instances the same values", this.instance.group(), harmless);
		}
		if (!this.reached) {
			this.reached = true;
			this.onReached.run();
		}
	}

	private SettingsConflictException conflict(List<Other> others) {
		return new SettingsConflictException(
				"This instance cannot take part in group '%s', because instances that run have other settings: %s."
					.formatted(this.instance.group(),
							differences(this.own.dividing(), others, SharedSettings::dividing)),
				("Give all instances of the group the same values, or this application another 'shardkeeper.group'. To "
						+ "change one of these settings, stop all instances, and then start them with the new value: a "
						+ "rolling deployment cannot change it. An instance that was killed counts as running for up to "
						+ "%d ms.")
					.formatted(lease().toMillis()));
	}

	/** Returns each setting that is different, with its value here and elsewhere. */
	private static String differences(Map<String, String> own, List<Other> others,
			Function<SharedSettings, ? extends Map<String, String>> part) {
		Map<String, List<String>> different = new TreeMap<>();
		others.forEach((other) -> part.apply(other.settings()).forEach((property, value) -> {
			if (!value.equals(own.getOrDefault(property, value))) {
				different.computeIfAbsent(property, (p) -> new ArrayList<>())
					.add("'%s' on %s".formatted(value, names(other)));
			}
		}));
		List<String> texts = new ArrayList<>();
		different.forEach((property, values) -> texts
			.add("'%s' is '%s' here, but %s".formatted(property, own.get(property), String.join(", ", values))));
		return String.join("; ", texts);
	}

	/** A name is an instance id, followed by what is different in each run. */
	private static String names(Other other) {
		String named = String.join(", ", other.instances().stream().map((name) -> name.split("~")[0]).toList());
		int more = other.count() - other.instances().size();
		return (more > 0) ? named + " and " + more + " more" : named;
	}

	/**
	 * Problem of an agreement. Immutable.
	 *
	 * @param text the problem and its remedy
	 * @param waiting the time for which the store has not answered, which mostly ends
	 * automatically; {@code null} if a person has to act
	 */
	public record Problem(String text, @Nullable Duration waiting) {

	}

	private record Waiting(String text, @Nullable MonotonicTime since) {

	}

}
