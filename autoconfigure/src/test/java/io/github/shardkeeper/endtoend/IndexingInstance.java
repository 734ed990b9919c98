package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.BarrierBrokenException;
import io.github.shardkeeper.cluster.ClusterLock;
import io.github.shardkeeper.cluster.ClusterLocks;
import io.github.shardkeeper.cluster.ClusterParameters;
import io.github.shardkeeper.cluster.ClusterSignals;
import io.github.shardkeeper.cluster.ClusterView;
import io.github.shardkeeper.cluster.DoubleBarrier;
import io.github.shardkeeper.cluster.DoubleBarriers;
import io.github.shardkeeper.cluster.LockLostException;
import io.github.shardkeeper.cluster.OnClusterSignal;
import io.github.shardkeeper.cluster.Parameter;
import io.github.shardkeeper.cluster.ViewChangedException;
import io.github.shardkeeper.coordination.member.CoordinationSettings;

/**
 * An instance that builds an index every round, together with the others: one prepares
 * it, each handles its users, one completes it, and all are told. Writes its steps into
 * the list {@code steps}: {@code <name> <round> <step>}.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
class IndexingInstance {

	static final int USERS = 60;

	/** Steps of a round. */
	static final String PREPARING = "preparing";

	static final String ENTERING = "entering";

	static final String HANDLING = "handling";

	static final String LEAVING = "leaving";

	static final String COMPLETING = "completing";

	static final String TOLD = "told";

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	/**
	 * Writes an index, and begins the next round with it if it is the second one: at
	 * once, so that a killed process leaves nothing half done. Refused if a higher token
	 * was seen.
	 */
	private static final RedisScript<Long> BUILT = RedisScript.of("""
			if tonumber(redis.call('GET', KEYS[4]) or '0') > tonumber(ARGV[2]) then
			  return 0
			end
			redis.call('SET', KEYS[4], ARGV[2])
			redis.call('SET', KEYS[1], ARGV[1])
			redis.call('RPUSH', KEYS[2], KEYS[1] .. ' ' .. ARGV[2])
			if ARGV[3] == 'yes' then
			  redis.call('INCR', KEYS[3])
			end
			return 1
			""", Long.class);

	public static void main(String[] args) {
		SpringApplication.run(IndexingInstance.class, args);
	}

	@Bean
	Indexer indexer(StringRedisTemplate redis, ClusterView view, ClusterLocks locks, DoubleBarriers barriers,
			ClusterSignals signals, ClusterParameters parameters, CoordinationSettings settings) {
		return new Indexer(redis, view, locks.get("index"), barriers.get("index"), signals,
				parameters.get("weight", Integer.class, 1), settings.instance());
	}

	static final class Indexer implements CommandLineRunner {

		private final StringRedisTemplate redis;

		private final ClusterView view;

		private final ClusterLock lock;

		private final DoubleBarrier barrier;

		private final ClusterSignals signals;

		private final Parameter<Integer> weight;

		private final String name;

		private boolean firstRound = true;

		Indexer(StringRedisTemplate redis, ClusterView view, ClusterLock lock, DoubleBarrier barrier,
				ClusterSignals signals, Parameter<Integer> weight, String name) {
			this.redis = redis;
			this.view = view;
			this.lock = lock;
			this.barrier = barrier;
			this.signals = signals;
			this.weight = weight;
			this.name = name;
		}

		@Override
		public void run(String... args) {
			Thread rounds = new Thread(() -> {
				while (true) {
					try {
						round();
					}
					catch (LockLostException | BarrierBrokenException | ViewChangedException | TimeoutException ex) {
						System.out.println("The round is repeated: " + ex);
					}
					catch (InterruptedException ex) {
						return;
					}
				}
			}, "rounds");
			rounds.start();
		}

		private void round() throws InterruptedException, TimeoutException {
			long prepared = prepare();
			if (this.firstRound) {
				// The others go on: what it has read is old when it enters.
				this.firstRound = false;
				work(500);
			}
			ClusterView.View members = this.view.current();
			if (members.index().isEmpty()) {
				work(20);
				return;
			}
			step(prepared, ENTERING);
			this.barrier.enter(members, PATIENCE);
			// An instance that joins may have prepared a round that the others have
			// completed
			// since. Only in the barrier all read the same one.
			long round = currentRound();
			long attempt = members.number();
			int parties = members.size();
			step(round, HANDLING);
			for (int user = 0; user < USERS; user++) {
				if (members.isMine(user)) {
					this.redis.opsForHash().increment("handled:" + round + ":" + attempt, "" + user, 1);
					work(20);
				}
			}
			step(round, LEAVING);
			this.barrier.leave(PATIENCE);
			complete(round, attempt, parties);
		}

		/** Builds the first index of the current round, unless somebody has. */
		private long prepare() {
			this.lock.lock();
			try {
				long round = currentRound();
				if (Boolean.FALSE.equals(this.redis.hasKey("first:" + round))) {
					step(round, PREPARING);
					work(100);
					built("first:" + round, "weight " + this.weight.get(), false);
					String wanted = this.redis.opsForValue().get("wanted-weight");
					if (wanted != null && !this.weight.get().equals(Integer.valueOf(wanted))) {
						untilTheStoreAnswers(() -> this.weight.set(Integer.valueOf(wanted)));
					}
				}
				return round;
			}
			finally {
				this.lock.unlock();
			}
		}

		private long currentRound() {
			String round = this.redis.opsForValue().get("round");
			return (round != null) ? Long.parseLong(round) : 0;
		}

		/** Builds the second index of a round, unless somebody has. */
		private void complete(long round, long attempt, int parties) throws InterruptedException {
			this.lock.lock();
			try {
				if (Boolean.FALSE.equals(this.redis.hasKey("second:" + round))) {
					step(round, COMPLETING);
					work(100);
					built("second:" + round, "attempt " + attempt + " parties " + parties, true);
					untilTheStoreAnswers(() -> this.signals.send("indexed", Long.toString(round)));
				}
			}
			finally {
				this.lock.unlock();
			}
		}

		/** A later holder's token is higher; it was perhaps faster. */
		private void built(String key, String value, boolean last) {
			Long written = this.redis.execute(BUILT, List.of(key, "built", "round", "token"), value,
					this.lock.token().toString(), last ? "yes" : "no");
			if (!Long.valueOf(1).equals(written)) {
				throw new LockLostException("The lock was lost during the work for " + key);
			}
		}

		/** On a busy machine, Redis may not reply in time. */
		private static void untilTheStoreAnswers(Runnable call) {
			while (true) {
				try {
					call.run();
					return;
				}
				catch (StoreUnavailableException ex) {
					System.out.println("Repeated: " + ex);
					work(20);
				}
			}
		}

		@OnClusterSignal("indexed")
		void indexed(String round) {
			step(Long.parseLong(round), TOLD);
		}

		private void step(long round, String step) {
			this.redis.opsForList().rightPush("steps", this.name + " " + round + " " + step);
		}

		private static void work(long millis) {
			LockSupport.parkNanos(Duration.ofMillis(millis).toNanos());
		}

	}

}
