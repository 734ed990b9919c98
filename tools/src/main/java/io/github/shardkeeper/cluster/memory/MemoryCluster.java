package io.github.shardkeeper.cluster.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.function.BiFunction;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.cluster.session.ClusterMessages;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.memory.MemoryGroup;
import io.github.shardkeeper.coordination.store.CoordinationStore.Subscription;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * What the stores of the cluster tools in memory share: transitions of the group, and
 * messages. Subscribers are called after the transition, without a lock, on the thread
 * that caused it. Thread-safe.
 */
public final class MemoryCluster implements ClusterMessages {

	private static final Logger logger = PrintableLogger.of(MemoryCluster.class);

	private final MemoryCoordinationStore group;

	private final Set<MemorySubscription> subscriptions = new CopyOnWriteArraySet<>();

	/** Returns the one of a group, which all its members share. */
	public static MemoryCluster of(MemoryCoordinationStore group) {
		return group.companion(MemoryCluster.class, MemoryCluster::new);
	}

	private MemoryCluster(MemoryCoordinationStore group) {
		this.group = group;
	}

	<T> T transition(BiFunction<MemoryGroup, Outbox, T> transition) {
		Outbox outbox = new Outbox();
		T reply = this.group.transition((group) -> transition.apply(group, outbox));
		outbox.messages.forEach(this::send);
		return reply;
	}

	boolean isSubscribed(String address) {
		return this.subscriptions.stream().anyMatch((subscription) -> subscription.address.equals(address));
	}

	private void send(Message message) {
		this.subscriptions.stream()
			.filter((subscription) -> message.address() == null || subscription.address.equals(message.address()))
			.forEach((subscription) -> subscription.receive(message.text()));
	}

	/** Closes all subscriptions, as a server does when it ends. */
	public void closeSubscriptions() {
		this.subscriptions.clear();
	}

	@Override
	public Subscription subscribe(String address, Consumer<String> onMessage) {
		MemorySubscription subscription = new MemorySubscription(address, onMessage);
		this.subscriptions.add(subscription);
		return subscription;
	}

	/** Messages of one transition. */
	static final class Outbox {

		private final List<Message> messages = new ArrayList<>();

		void tellAll(String text) {
			this.messages.add(new Message(null, text));
		}

		void tell(String address, String text) {
			this.messages.add(new Message(address, text));
		}

	}

	private record Message(@Nullable String address, String text) {

	}

	/** Compared by identity. */
	private final class MemorySubscription implements Subscription {

		private final String address;

		private final Consumer<String> onMessage;

		MemorySubscription(String address, Consumer<String> onMessage) {
			this.address = address;
			this.onMessage = onMessage;
		}

		void receive(String text) {
			try {
				this.onMessage.accept(text);
			}
			catch (RuntimeException ex) {
				// A subscriber's failure must not fail the transition of another one.
				logger.error("A subscriber to the messages of cluster tools has failed", ex);
			}
		}

		@Override
		public boolean isOpen() {
			return MemoryCluster.this.subscriptions.contains(this);
		}

		@Override
		public void close() {
			MemoryCluster.this.subscriptions.remove(this);
		}

	}

}
