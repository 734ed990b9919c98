package io.github.shardkeeper.cluster.signal;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.ClusterSignals;
import io.github.shardkeeper.cluster.SignalDelivery;
import io.github.shardkeeper.cluster.SignalResult;
import io.github.shardkeeper.cluster.session.ClusterSession;
import io.github.shardkeeper.cluster.session.ClusterTool;
import io.github.shardkeeper.cluster.session.ViewStore;
import io.github.shardkeeper.cluster.signal.SignalStore.Handled;
import io.github.shardkeeper.cluster.signal.SignalStore.Latest;
import io.github.shardkeeper.cluster.signal.SignalStore.Listening;
import io.github.shardkeeper.cluster.signal.SignalStore.Outcome;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Names;
import io.github.shardkeeper.source.PayloadConverter;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * The signals of this instance: sends, and gives what the store has to the handlers. The
 * store is read when the number of the last signal has changed, a message says so, or a
 * session begins. Thread-safe.
 */
public final class StoredSignals implements ClusterSignals, ClusterTool {

	private static final Logger logger = PrintableLogger.of(StoredSignals.class);

	private static final Duration LONGEST_RETENTION = Duration.ofDays(365);

	private final ClusterSession session;

	private final SignalStore store;

	private final PayloadConverter converter;

	private final Settings settings;

	/** By name of the signal. */
	private final Map<String, SignalInbox> inboxes = new ConcurrentHashMap<>();

	private final Set<SignalWait> waits = ConcurrentHashMap.newKeySet();

	/** Whether the store may have something for the handlers, or lacks what they did. */
	private volatile boolean readWanted;

	/** Confined to the loop of the session, as is all below. */
	private @Nullable MemberId readAs;

	private long readNumber = -1;

	/** Creates the tool and adds it to the session. */
	public StoredSignals(ClusterSession session, SignalStore store, PayloadConverter converter, Settings settings) {
		this.session = session;
		this.store = store;
		this.converter = converter;
		this.settings = settings;
		session.add(this);
	}

	/**
	 * Gives signals to handlers. A name that has handlers from an earlier call keeps
	 * them; what this process has handled by then is not handled again.
	 */
	public void listen(List<SignalHandler> handlers) {
		Map<String, List<SignalHandler>> byName = new TreeMap<>();
		handlers
			.forEach((handler) -> byName.computeIfAbsent(handler.signal(), (name) -> new ArrayList<>()).add(handler));
		byName.forEach((name, all) -> this.inboxes
			.computeIfAbsent(name, (key) -> new SignalInbox(key, all, this.session.callbacks(), this::acknowledge))
			.start());
		this.readWanted = true;
		this.session.requestCatchUp();
	}

	/**
	 * Begins no further call of a handler, and waits for those that run. At the end of
	 * the time they are interrupted.
	 */
	public void stopListening(Duration timeout) {
		this.inboxes.values().forEach(SignalInbox::stop);
		MonotonicTime deadline = this.session.clock().now().plus(timeout);
		try {
			for (SignalInbox inbox : this.inboxes.values()) {
				boolean idle = inbox.awaitIdle(0);
				while (!idle && this.session.clock().now().isBefore(deadline)) {
					idle = inbox.awaitIdle(Math.max(1, this.session.clock().now().until(deadline).toMillis()));
				}
				if (!idle) {
					logger.warn("A handler of the signal '{}' has not returned in {} ms and is interrupted",
							inbox.name(), timeout.toMillis());
					inbox.interrupt();
				}
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Override
	public SignalDelivery send(String name, Object payload) {
		return send(name, payload, this.settings.retention());
	}

	@Override
	public SignalDelivery send(String name, Object payload, Duration retention) {
		Objects.requireNonNull(name, "name must not be null");
		Objects.requireNonNull(payload, "payload must not be null");
		Objects.requireNonNull(retention, "retention must not be null");
		if (!Names.isValid(name)) {
			throw new IllegalArgumentException("The name '" + name + "' of a signal is not valid. " + Names.RULE);
		}
		if (retention.isNegative() || retention.compareTo(LONGEST_RETENTION) > 0) {
			throw new IllegalArgumentException(
					"The retention of the signal '%s' is %s: use zero or more, and at most 365 days".formatted(name,
							retention));
		}
		long number = this.store.send(name, text(name, payload), retention, this.session.address());
		return new StoredDelivery(name, number);
	}

	private String text(String name, Object payload) {
		if (payload instanceof byte[]) {
			throw binary(name, null);
		}
		byte[] bytes = (payload instanceof String string) ? string.getBytes(StandardCharsets.UTF_8)
				: Objects.requireNonNull(this.converter.write(payload),
						() -> this.converter.getClass().getName() + ".write has returned null");
		if (bytes.length > this.settings.maxPayloadBytes()) {
			throw new IllegalArgumentException(
					("The payload of the signal '%s' has %d bytes, more than 'shardkeeper.signals.max-payload-size', which "
							+ "is %d. Store it elsewhere and send its key")
						.formatted(name, bytes.length, this.settings.maxPayloadBytes()));
		}
		try {
			return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
		}
		catch (CharacterCodingException ex) {
			throw binary(name, ex);
		}
	}

	private static IllegalArgumentException binary(String name, @Nullable Throwable cause) {
		return new IllegalArgumentException(
				"The payload of the signal '" + name
						+ "' is binary. Send text: a String, or an object that the PayloadConverter writes as text",
				cause);
	}

	@Override
	public void message(String kind, String text) {
		if (kind.equals("signal")) {
			sent(text.split("\\|", 2));
		}
		else if (kind.equals("signaled") && !this.waits.isEmpty()) {
			acknowledged(text.split("\\|", 5));
		}
	}

	private void sent(String[] fields) {
		String name = fields[0];
		long number = Long.parseLong(fields[1]);
		this.waits.stream().filter((wait) -> wait.name().equals(name)).forEach((wait) -> wait.sent(number));
		if (this.inboxes.containsKey(name)) {
			this.readWanted = true;
			this.session.requestCatchUp();
		}
	}

	private void acknowledged(String[] fields) {
		Handled handled = new Handled(Long.parseLong(fields[1]), Outcome.valueOf(fields[3]), fields[4]);
		MemberId by = new MemberId(fields[2]);
		this.waits.stream().filter((wait) -> wait.name().equals(fields[0])).forEach((wait) -> wait.told(by, handled));
	}

	@Override
	public void catchUpRefused() {
		this.waits.forEach(SignalWait::readAgain);
	}

	@Override
	public void writesMayBeLost() {
		this.readWanted = true;
	}

	@Override
	public void catchUp(MemberId member, ViewStore.Reply reply) {
		this.waits.forEach(SignalWait::readAgain);
		this.inboxes.values().forEach(SignalInbox::rescue);
		if (this.inboxes.isEmpty()
				|| !this.readWanted && member.equals(this.readAs) && reply.signals() == this.readNumber) {
			return;
		}
		this.readWanted = false;
		try {
			if (exchange(member, this.inboxes.values())) {
				this.readAs = member;
				this.readNumber = reply.signals();
			}
		}
		catch (StoreUnavailableException ex) {
			this.readWanted = true;
			throw ex;
		}
	}

	/** After a signal was handled; on the thread of the handlers. */
	private void acknowledge(SignalInbox inbox) {
		try {
			MemberId member = this.session.member();
			if (member != null && exchange(member, List.of(inbox))) {
				return;
			}
		}
		catch (StoreUnavailableException ex) {
			logger.debug("Cannot acknowledge the signal '{}' yet", inbox.name(), ex);
		}
		this.readWanted = true;
		this.session.requestCatchUp();
	}

	/** Returns whether the store knows the session. */
	private boolean exchange(MemberId member, Iterable<SignalInbox> some) {
		// Not the time at which it began to listen: beans may have read what a signal
		// makes outdated since the start of the application.
		Duration up = this.settings.startedAt().until(this.session.clock().now());
		Map<String, Listening> listening = new TreeMap<>();
		some.forEach((inbox) -> listening.put(inbox.name(),
				new Listening(inbox.handled(), inbox.atStart() ? LONGEST_RETENTION : up)));
		Map<String, Latest> latest = this.store.acknowledge(member, listening);
		if (latest == null) {
			return false;
		}
		some.forEach((inbox) -> {
			Latest found = latest.get(inbox.name());
			if (found != null) {
				inbox.offer(found);
			}
		});
		return true;
	}

	/**
	 * Settings.
	 *
	 * @param retention the time for which instances handle a signal that they have missed
	 * @param maxPayloadBytes the maximum size of a payload
	 * @param startedAt the start of this application: earlier signals are only for
	 * handlers that want them
	 */
	public record Settings(Duration retention, long maxPayloadBytes, MonotonicTime startedAt) {

	}

	private final class StoredDelivery implements SignalDelivery {

		private final String name;

		private final long number;

		StoredDelivery(String name, long number) {
			this.name = name;
			this.number = number;
		}

		@Override
		public String name() {
			return this.name;
		}

		@Override
		public long number() {
			return this.number;
		}

		@Override
		public SignalResult await(int instances, Duration timeout) throws InterruptedException {
			if (instances < 1) {
				throw new IllegalArgumentException(
						"Cannot wait for %d instances to handle the signal '%s': use 1 or more".formatted(instances,
								this.name));
			}
			return run(instances, timeout);
		}

		@Override
		public SignalResult awaitAll(Duration timeout) throws InterruptedException {
			return run(0, timeout);
		}

		private SignalResult run(int instances, Duration timeout) throws InterruptedException {
			Objects.requireNonNull(timeout, "timeout must not be null");
			if (timeout.isNegative()) {
				throw new IllegalArgumentException(
						"Cannot wait %s for the signal '%s': use zero or more".formatted(timeout, this.name));
			}
			ClusterSession session = StoredSignals.this.session;
			SignalWait wait = new SignalWait(StoredSignals.this.store, session.clock(), () -> session.member() != null,
					this.name, this.number, instances);
			StoredSignals.this.waits.add(wait);
			try {
				return wait.run(timeout);
			}
			finally {
				StoredSignals.this.waits.remove(wait);
			}
		}

		@Override
		public String toString() {
			return "signal '" + this.name + "' (number " + this.number + ") of group '"
					+ StoredSignals.this.session.group() + "'";
		}

	}

}
