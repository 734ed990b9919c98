package io.github.shardkeeper.testsupport;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.ShardAppender;
import io.github.shardkeeper.source.ShardAppender.NewRecord;

/**
 * Appends records without a template.
 */
public final class Appends {

	private Appends() {
	}

	/** Appends records and waits for the replies. */
	public static List<Offset> append(ShardAppender appender, List<NewRecord> records) {
		List<CompletableFuture<Offset>> replies = appender.append(records);
		try {
			CompletableFuture.allOf(replies.toArray(CompletableFuture[]::new)).join();
		}
		catch (CompletionException ex) {
			if (ex.getCause() instanceof SendFailedException failed) {
				throw failed;
			}
			throw ex;
		}
		return replies.stream().map(CompletableFuture::join).toList();
	}

}
