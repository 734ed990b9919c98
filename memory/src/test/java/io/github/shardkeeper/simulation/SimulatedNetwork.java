package io.github.shardkeeper.simulation;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.CoordinationStore.Subscription;
import io.github.shardkeeper.coordination.store.InstanceInUseException;
import io.github.shardkeeper.shard.MemberId;

/**
 * The network between a process and the stores: requests and replies take time, are lost,
 * or arrive after the caller's time limit; events are lost or duplicated; each kind of
 * connection can be cut alone; and the store itself can be unavailable.
 */
final class SimulatedNetwork {

	private final VirtualTime time;

	private final RandomGenerator random;

	private final Duration longestLatency;

	/** One of so many requests and replies is lost, 0 for none. */
	private int lossPeriod;

	private final List<SimulatedSubscription> subscriptions = new ArrayList<>();

	private long storeAwayUntil;

	private long lateUntil;

	SimulatedNetwork(VirtualTime time, RandomGenerator random, Duration longestLatency, int lossPeriod) {
		this.time = time;
		this.random = random;
		this.longestLatency = longestLatency;
		this.lossPeriod = lossPeriod;
	}

	/**
	 * The store is killed and started again on its data; it refuses connections
	 * meanwhile.
	 */
	void restartStore(Duration away) {
		this.storeAwayUntil = Math.max(this.storeAwayUntil, this.time.now() + away.toNanos());
		List.copyOf(this.subscriptions).forEach((subscription) -> subscription.breakIn(latency()));
	}

	/** From now on nothing is lost any more. */
	void calmDown() {
		this.lossPeriod = 0;
	}

	/**
	 * Until when requests may arrive for which nobody waits any more: also that of a
	 * process to join that has died meanwhile.
	 */
	long lateUntil() {
		return this.lateUntil;
	}

	Link link(SimulatedProcess process) {
		return new Link(process);
	}

	private Duration latency() {
		long longest = this.longestLatency.toNanos();
		return (longest > 0 && this.random.nextInt(3) == 0) ? Duration.ofNanos(this.random.nextLong(longest))
				: Duration.ZERO;
	}

	private boolean isLost() {
		return this.lossPeriod > 0 && this.random.nextInt(this.lossPeriod) == 0;
	}

	/** Connections that can be cut separately. */
	enum Way {

		CONTROL, DATA, EVENTS

	}

	/** One process' connections. */
	final class Link {

		private final SimulatedProcess process;

		private final long[] cutUntil = new long[Way.values().length];

		private Link(SimulatedProcess process) {
			this.process = process;
		}

		/** Nothing comes through any more, and nobody is told. */
		void cut(Way way, Duration duration) {
			this.cutUntil[way.ordinal()] = SimulatedNetwork.this.time.now() + duration.toNanos();
			if (way == Way.EVENTS) {
				// The store gives up on it at some time; the process may never notice.
				List.copyOf(SimulatedNetwork.this.subscriptions)
					.stream()
					.filter((subscription) -> subscription.link == this)
					.forEach((subscription) -> subscription.closeAtStore(latency()));
			}
		}

		/** Whether something may have been lost that was sent since. */
		boolean wasDisturbedSince(long nanos) {
			return SimulatedNetwork.this.lossPeriod > 0 || LongStream.of(this.cutUntil).anyMatch((end) -> end > nanos);
		}

		boolean isCut(Way way) {
			return SimulatedNetwork.this.time.now() < this.cutUntil[way.ordinal()]
					|| SimulatedNetwork.this.time.now() < SimulatedNetwork.this.storeAwayUntil;
		}

		/** The kernel closes the connections of a process that has died. */
		void processDied() {
			List.copyOf(SimulatedNetwork.this.subscriptions)
				.stream()
				.filter((subscription) -> subscription.link == this)
				.forEach((subscription) -> subscription
					.closeAtStore(Duration.ofMillis(SimulatedNetwork.this.random.nextInt(20))));
		}

		CoordinationStore reach(CoordinationStore store, Duration timeout) {
			return proxy(CoordinationStore.class, store, Way.CONTROL, timeout);
		}

		CheckpointStore reach(CheckpointStore store, Duration timeout) {
			return proxy(CheckpointStore.class, store, Way.DATA, timeout);
		}

		/**
		 * Reaches a store of cluster tools, with the connections of the control plane.
		 */
		<T> T reach(Class<T> port, T store, Duration timeout) {
			return proxy(port, store, Way.CONTROL, timeout);
		}

		/**
		 * Subscribes to messages of cluster tools.
		 * @param messages opens a subscription at the store
		 */
		Subscription subscribe(Function<Consumer<String>, Subscription> messages, Consumer<String> onMessage,
				Duration timeout) {
			try {
				return (Subscription) call(Way.EVENTS, timeout, () -> open((subscription) -> messages
					.apply((message) -> deliver(subscription, () -> onMessage.accept(message)))));
			}
			catch (RuntimeException | Error ex) {
				throw ex;
			}
			catch (Throwable ex) {
				throw new IllegalStateException(ex);
			}
		}

		private <T> T proxy(Class<T> port, T target, Way way, Duration timeout) {
			return port.cast(Proxy.newProxyInstance(port.getClassLoader(), new Class<?>[] { port },
					(proxy, method, arguments) -> switch (method.getName()) {
						case "close", "verify" -> null;
						case "subscribe" -> call(Way.EVENTS, timeout, () -> subscribe((CoordinationStore) target,
								(MemberId) arguments[0], (Runnable) arguments[1]));
						case "acquire", "commit" ->
							(way == Way.DATA) ? post(way, timeout, () -> invoke(target, method, arguments))
									: send(way, timeout, target, method, arguments);
						default -> send(way, timeout, target, method, arguments);
					}));
		}

		/**
		 * Sends without waiting: the reply comes when it comes, or after the timeout the
		 * news that there is none. What is sent must not change any more.
		 */
		private CompletableFuture<Object> post(Way way, Duration timeout, Request request) {
			this.process.requireAlive();
			CompletableFuture<Object> answer = new CompletableFuture<>();
			long now = SimulatedNetwork.this.time.now();
			long deadline = now + timeout.toNanos();
			SimulatedNetwork.this.time.at(now + latency().toNanos(), null,
					() -> arrive(way, request, answer, deadline));
			return answer;
		}

		/** A sent message arrives or does not, also after the death of its sender. */
		private void arrive(Way way, Request request, CompletableFuture<Object> answer, long deadline) {
			if (SimulatedNetwork.this.time.now() < SimulatedNetwork.this.storeAwayUntil) {
				answer(answer, null, unavailable("connection refused"), Duration.ZERO);
				return;
			}
			Duration patience = Duration.ofNanos(Math.max(0, deadline - SimulatedNetwork.this.time.now()));
			if (isCut(way) || isLost()) {
				if (SimulatedNetwork.this.random.nextInt(3) == 0) {
					arriveLate(request, way);
				}
				answer(answer, null, unavailable("no reply in time"), patience);
				return;
			}
			CompletableFuture<?> reply;
			try {
				reply = (CompletableFuture<?>) request.send();
			}
			catch (Throwable ex) {
				throw new IllegalStateException(ex);
			}
			Duration latency = latency();
			if (isCut(way) || isLost() || latency.compareTo(patience) > 0) {
				answer(answer, null, unavailable("no reply in time"), patience);
			}
			else {
				answer(answer, reply.join(), null, latency);
			}
		}

		private void answer(CompletableFuture<Object> answer, @Nullable Object reply, @Nullable Throwable failure,
				Duration delay) {
			SimulatedNetwork.this.time.briefly(SimulatedNetwork.this.time.now() + delay.toNanos(), this.process, () -> {
				if (failure != null) {
					answer.completeExceptionally(failure);
				}
				else {
					answer.complete(reply);
				}
			});
		}

		/** Messages are copied when they are sent. */
		private Object send(Way way, Duration timeout, Object target, Method method, Object[] arguments)
				throws Throwable {
			for (int i = 0; arguments != null && i < arguments.length; i++) {
				if (arguments[i] instanceof Map<?, ?> map) {
					arguments[i] = new LinkedHashMap<>(map);
				}
			}
			return call(way, timeout, () -> invoke(target, method, arguments));
		}

		private Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
			try {
				return method.invoke(target, arguments);
			}
			catch (InvocationTargetException ex) {
				throw ex.getTargetException();
			}
		}

		private Subscription subscribe(CoordinationStore store, MemberId member, Runnable onEvent) {
			return open((subscription) -> store.subscribe(member, () -> deliver(subscription, onEvent)));
		}

		private Subscription open(Function<SimulatedSubscription, Subscription> opening) {
			SimulatedSubscription subscription = new SimulatedSubscription(this);
			subscription.real = opening.apply(subscription);
			SimulatedNetwork.this.subscriptions.add(subscription);
			return subscription;
		}

		private void deliver(SimulatedSubscription subscription, Runnable onEvent) {
			if (isCut(Way.EVENTS) || isLost()) {
				return;
			}
			int copies = isLost() ? 2 : 1;
			for (int i = 0; i < copies; i++) {
				SimulatedNetwork.this.time.briefly(SimulatedNetwork.this.time.now() + latency().toNanos(), this.process,
						() -> {
							if (!subscription.closed) {
								onEvent.run();
							}
						});
			}
		}

		private Object call(Way way, Duration timeout, Request request) throws Throwable {
			this.process.requireAlive();
			long deadline = SimulatedNetwork.this.time.now() + timeout.toNanos();
			pass(latency());
			if (SimulatedNetwork.this.time.now() < SimulatedNetwork.this.storeAwayUntil) {
				throw unavailable("connection refused");
			}
			if (isCut(way) || isLost()) {
				if (SimulatedNetwork.this.random.nextInt(3) == 0 && way != Way.EVENTS) {
					arriveLate(request, way);
				}
				return giveUp(deadline);
			}
			Object answer = request.send();
			if (isCut(way) || isLost()) {
				return giveUp(deadline);
			}
			pass(latency());
			if (SimulatedNetwork.this.time.now() > deadline) {
				throw unavailable("no reply in time");
			}
			return answer;
		}

		private void pass(Duration duration) {
			if (!duration.isZero()) {
				this.process.block(duration);
			}
		}

		private Object giveUp(long deadline) {
			pass(Duration.ofNanos(Math.max(0, deadline - SimulatedNetwork.this.time.now())));
			throw unavailable("no reply in time");
		}

		/** A held message may be delivered when no caller waits for it any more. */
		private void arriveLate(Request request, Way way) {
			long at = Math.max(SimulatedNetwork.this.time.now(), this.cutUntil[way.ordinal()])
					+ SimulatedNetwork.this.random.nextLong(Duration.ofSeconds(4).toNanos());
			SimulatedNetwork.this.lateUntil = Math.max(SimulatedNetwork.this.lateUntil, at);
			SimulatedNetwork.this.time.at(at, null, () -> {
				try {
					request.send();
				}
				catch (InstanceInUseException ex) {
					// A reply to nobody.
				}
				catch (Throwable ex) {
					throw new IllegalStateException(ex);
				}
			});
		}

		private StoreUnavailableException unavailable(String why) {
			return new StoreUnavailableException(why, new IllegalStateException(why));
		}

	}

	private final class SimulatedSubscription implements Subscription {

		private final Link link;

		private Subscription real;

		/** Whether the process knows that it is closed. */
		private boolean closed;

		private SimulatedSubscription(Link link) {
			this.link = link;
		}

		/** Broken at both ends. */
		private void breakIn(Duration delay) {
			closeAtStore(Duration.ZERO);
			SimulatedNetwork.this.time.briefly(SimulatedNetwork.this.time.now() + delay.toNanos(), this.link.process,
					() -> this.closed = true);
		}

		private void closeAtStore(Duration delay) {
			SimulatedNetwork.this.subscriptions.remove(this);
			SimulatedNetwork.this.time.at(SimulatedNetwork.this.time.now() + delay.toNanos(), null, this.real::close);
		}

		@Override
		public boolean isOpen() {
			return !this.closed;
		}

		@Override
		public void close() {
			this.closed = true;
			SimulatedNetwork.this.subscriptions.remove(this);
			this.real.close();
		}

	}

	/** Message that arrives at the store. */
	@FunctionalInterface
	private interface Request {

		Object send() throws Throwable;

	}

}
