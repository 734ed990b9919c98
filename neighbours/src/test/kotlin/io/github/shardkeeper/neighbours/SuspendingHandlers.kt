package io.github.shardkeeper.neighbours

import io.github.shardkeeper.OnShardAssigned
import io.github.shardkeeper.ShardConsumer
import io.github.shardkeeper.ShardContext
import io.github.shardkeeper.ShardRecord
import io.github.shardkeeper.ShardState
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CopyOnWriteArrayList
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import kotlinx.coroutines.withContext
import org.springframework.messaging.handler.annotation.Header

/** Suspending functions as handlers. */
class SuspendingHandlers {

	val events = CopyOnWriteArrayList<String>()

	@ShardConsumer("rated")
	suspend fun rate(payload: String, state: ShardState) {
		val rating = rating(payload)
		state.increment(rating, 1)
		events.add("$payload is $rating, ${state.get(rating, Long::class.javaObjectType).orElse(0)} so far")
	}

	private suspend fun rating(payload: String): String = withContext(Dispatchers.Default) {
		delay(1)
		if (payload == "bad") throw IllegalArgumentException("caused by the test") else "good"
	}

	@OnShardAssigned
	suspend fun assigned(shard: ShardContext) {
		delay(1)
		events.add("assigned ${shard.shard()}")
	}

}

/** Handles batches. */
class SuspendingBatches {

	val events = CopyOnWriteArrayList<String>()

	@ShardConsumer("batches")
	suspend fun handle(records: List<ShardRecord<String>>) {
		delay(1)
		records.forEach { events.add("${it.key()} ${it.payload()}") }
	}

}

/** Takes something of a message. */
class SuspendingMessages {

	val events = CopyOnWriteArrayList<String>()

	@ShardConsumer("messages")
	suspend fun handle(payload: String, @Header("tenant") tenant: String) {
		delay(1)
		events.add("$payload of $tenant")
	}

}

/** Never returns. */
class SuspendingForever {

	val begun = CompletableFuture<String>()

	val cancelled = CompletableFuture<String>()

	@ShardConsumer("forever")
	suspend fun handle(payload: String) {
		begun.complete(payload)
		try {
			awaitCancellation()
		} catch (ex: CancellationException) {
			cancelled.complete(payload)
			throw ex
		}
	}

}

/** The example of the guide. */
class SuspendingExample(private val ratings: Ratings) {

	@ShardConsumer("visits")
	suspend fun rate(client: String, state: ShardState) {
		state.put(client, ratings.find(client))
	}

	interface Ratings {

		suspend fun find(client: String): String

	}

}

/** Is not supported. */
class SuspendingWithResult {

	@ShardConsumer("rated")
	suspend fun handle(payload: String): Int {
		delay(1)
		return payload.length
	}

}
