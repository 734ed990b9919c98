package io.github.shardkeeper.coordination.member;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.GroupDiagnostics;
import io.github.shardkeeper.coordination.store.GroupDiagnostics.Kind;
import io.github.shardkeeper.protocol.MemberProblems;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.Backoff;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Writes the problems of this member's shards when they have changed, so that every
 * instance can report them. Costs nothing in the store while there are none. Does not
 * wait for replies. {@link #publish} is confined to one thread at a time, the other
 * methods are thread-safe.
 */
public final class ShardProblemPublisher implements HeartbeatObserver {

	private static final Logger logger = PrintableLogger.of(ShardProblemPublisher.class);

	/** Shortest pause between two writes. */
	static final Duration SHORTEST_PAUSE = Duration.ofSeconds(1);

	/** Longest pause between two writes of texts that change all the time. */
	static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

	/** Time after which a write is repeated: a failover may have lost it. */
	static final Duration REPETITION = Duration.ofSeconds(60);

	private final CoordinationStore store;

	/** Member that has written last. */
	private volatile @Nullable MemberId writer;

	/** Text in the store; {@code null} if it is not known. */
	private @Nullable String stored = "";

	private @Nullable MonotonicTime notBefore;

	private @Nullable MonotonicTime repeatAt;

	private final Backoff pauses = new Backoff(SHORTEST_PAUSE, LONGEST_PAUSE);

	private @Nullable Write write;

	private volatile boolean lost;

	public ShardProblemPublisher(CoordinationStore store) {
		this.store = store;
	}

	/** Writes the problems if they have changed, and if it is time to. */
	public void publish(MemberId self, Map<ShardId, String> problems, MonotonicTime now) {
		if (!self.equals(this.writer)) {
			this.writer = null;
			this.stored = "";
			this.write = null;
			this.notBefore = null;
			this.repeatAt = null;
			this.pauses.reset();
		}
		if (this.write != null && !answered(this.write, now)) {
			return;
		}
		if (this.lost) {
			this.lost = false;
			this.repeatAt = (this.repeatAt != null) ? now : null;
		}
		String text = MemberProblems.of(problems).text();
		boolean paused = this.notBefore != null && now.isBefore(this.notBefore);
		boolean changed = !text.equals(this.stored);
		if (!changed && !paused) {
			this.pauses.reset();
		}
		boolean repeated = this.repeatAt != null && !now.isBefore(this.repeatAt);
		if (!paused && (changed || repeated)) {
			this.writer = self;
			this.notBefore = now.plus(this.pauses.next());
			this.write = new Write(text, changed,
					this.store.diagnostics().write(Kind.PROBLEMS, Map.of(self.value(), text)));
		}
	}

	/** Returns whether the reply is there. */
	private boolean answered(Write sent, MonotonicTime now) {
		if (!sent.reply.isDone()) {
			return false;
		}
		this.write = null;
		if (sent.reply.isCompletedExceptionally()) {
			this.stored = null;
			this.notBefore = now.plus(LONGEST_PAUSE);
			return true;
		}
		this.stored = sent.text;
		// A removal is repeated once only: then there is nothing left to lose.
		this.repeatAt = (sent.changed || !sent.text.isEmpty()) ? now.plus(REPETITION) : null;
		return true;
	}

	/** Has the problems written again. */
	@Override
	public void writesLost() {
		this.lost = true;
	}

	/** Removes the problems of a member that leaves, without waiting for it. */
	public void leaves(MemberId self) {
		if (self.equals(this.writer)) {
			this.store.diagnostics().write(Kind.PROBLEMS, Map.of(self.value(), ""));
		}
	}

	/** Removes the problems of all but the members, without waiting for it. */
	public void retain(Set<MemberId> members) {
		GroupDiagnostics diagnostics = this.store.diagnostics();
		diagnostics.names(Kind.PROBLEMS).thenCompose((names) -> {
			Map<String, String> gone = new HashMap<>();
			Set<String> ids = members.stream().map(MemberId::value).collect(Collectors.toSet());
			names.stream().filter((name) -> !ids.contains(name)).forEach((name) -> gone.put(name, ""));
			return gone.isEmpty() ? CompletableFuture.<Void>completedFuture(null)
					: diagnostics.write(Kind.PROBLEMS, gone);
		}).whenComplete((nothing, failure) -> {
			if (failure != null) {
				logger.debug("Problems of former members may be left", failure);
			}
		});
	}

	/** A write under way. */
	private record Write(String text, boolean changed, CompletableFuture<Void> reply) {

	}

}
