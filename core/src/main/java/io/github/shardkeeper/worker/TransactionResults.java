package io.github.shardkeeper.worker;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.event.Level;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CallTransactions;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.worker.call.CallResults;
import io.github.shardkeeper.worker.call.Delivery;
import io.github.shardkeeper.worker.call.DeliveryCalls;
import io.github.shardkeeper.worker.call.DeliveryOrder;
import io.github.shardkeeper.worker.commit.CallTransaction;
import io.github.shardkeeper.worker.commit.TransactionalCommitter;
import io.github.shardkeeper.worker.shard.ConsumerMeters.TopicMeters;
import io.github.shardkeeper.worker.shard.OwnedShard;
import io.github.shardkeeper.worker.shard.WorkerContext;

/**
 * Processes the results of calls in transactions: finds out what became of each
 * transaction, and repeats a call that is not at fault. Confined to the shard's worker.
 */
final class TransactionResults implements CallResults {

	private static final Logger logger = PrintableLogger.of(TransactionResults.class);

	/**
	 * Maximum number of calls in a row that give way to other transactions and do not
	 * count as failures.
	 */
	private static final int MAX_CONFLICTS = 10;

	/**
	 * Maximum number of calls in a row that lose their connections to a database that
	 * works, as when something on the way restarts, and do not count as failures.
	 */
	private static final int MAX_LOST_CONNECTIONS = 3;

	private static final Duration PAUSE_AFTER_LOST_CONNECTION = Duration.ofMillis(200);

	private final OwnedShard owned;

	private final WorkerContext context;

	private final TransactionalCommitter committer;

	private final DeliveryOrder order;

	private final DeliveryResults results;

	/** Result whose transaction has had no reply. */
	private DeliveryCalls.@Nullable Result unsettled;

	TransactionResults(OwnedShard owned, TransactionalCommitter committer, DeliveryOrder order,
			DeliveryResults results) {
		this.owned = owned;
		this.context = owned.context();
		this.committer = committer;
		this.order = order;
		this.results = results;
	}

	@Override
	public DeliveryCalls.@Nullable Result unsettled() {
		return this.unsettled;
	}

	/**
	 * Processes a call.
	 * @throws StoreUnavailableException if the call has to be repeated, or if it is not
	 * known yet whether its transaction was committed
	 */
	@Override
	public void process(DeliveryCalls.Result result) {
		if (!(result.commit() instanceof CallTransaction call)) {
			this.results.process(result);
			return;
		}
		this.unsettled = result;
		CallTransactions.Result ended = this.committer.settle(call);
		this.unsettled = null;
		Delivery delivery = result.delivery();
		if (ended instanceof CallTransactions.Result.Committed) {
			this.results.process(result.committed());
			this.committer.processCommitted(call);
		}
		else if (ended instanceof CallTransactions.Result.Unavailable unavailable) {
			this.order.retry(delivery);
			throw unavailable.failure();
		}
		else if (ended instanceof CallTransactions.Result.Stale) {
			this.order.retry(delivery);
		}
		else if (call.isOutdated()) {
			logger.debug("{}: the state that the call {} has read was changed by another call; repeating it",
					this.owned, delivery.where());
			this.order.retry(delivery);
		}
		else if (ended instanceof CallTransactions.Result.Conflict conflict) {
			processConflict(result, conflict.failure());
		}
		else if (ended instanceof CallTransactions.Result.ConnectionLost lost) {
			processLostConnection(result, lost.failure());
		}
		else {
			this.results.process((ended instanceof CallTransactions.Result.Failed failed)
					? result.withFailure(failed.failure()) : result);
		}
	}

	private void processConflict(DeliveryCalls.Result result, Throwable failure) {
		if (result.delivery().conflicted() > MAX_CONFLICTS) {
			this.results.process(result.withFailure(failure));
			return;
		}
		this.owned.meters().count(TopicMeters::conflicted);
		this.context.failures()
			.log(Level.INFO, "conflict " + this.owned.shard().topic(),
					"%s: the database has rolled back the call %s in favor of another transaction, for example to end a deadlock; repeating it"
						.formatted(this.owned, result.delivery().where()),
					failure);
		this.order.retry(result.delivery());
	}

	private void processLostConnection(DeliveryCalls.Result result, Throwable failure) {
		Delivery delivery = result.delivery();
		if (delivery.lostConnection() > MAX_LOST_CONNECTIONS) {
			this.results.process(result.withFailure(failure));
			return;
		}
		this.context.failures()
			.log(Level.WARN, "lost connection " + this.owned.shard().topic(),
					"%s: the call %s has lost its connection, though the database works; repeating it in %d ms"
						.formatted(this.owned, delivery.where(), PAUSE_AFTER_LOST_CONNECTION.toMillis()),
					failure);
		delivery.waitUntil(this.context.clock().now().plus(PAUSE_AFTER_LOST_CONNECTION));
		this.order.retry(delivery);
	}

}
