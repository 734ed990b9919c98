package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

import io.github.shardkeeper.cluster.ClusterLock;
import io.github.shardkeeper.cluster.ClusterLocks;
import io.github.shardkeeper.cluster.LockLostException;

/**
 * An instance that increments the key {@code counter} under a lock, by reading and
 * writing it. The writes carry the lock's token, and a lower one than was seen is
 * refused: its token is in the list {@code refused}. {@code inside} is the instance
 * between its read and its write, which removes it.
 */
public final class CountingInstance {

	/** Writes a value and a token, unless a higher one was seen. */
	private static final RedisScript<Long> FENCED = RedisScript.of("""
			if tonumber(redis.call('GET', KEYS[2]) or '0') > tonumber(ARGV[2]) then
			  return 0
			end
			redis.call('SET', KEYS[1], ARGV[1])
			redis.call('SET', KEYS[2], ARGV[2])
			redis.call('DEL', KEYS[3])
			return 1
			""", Long.class);

	private CountingInstance() {
	}

	public static void main(String[] args) {
		new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE).run(args);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		CommandLineRunner counting(StringRedisTemplate redis, ClusterLocks locks, @Value("${count.times}") int times,
				@Value("${count.work:0ms}") Duration work, @Value("${shardkeeper.instance-id}") String name) {
			ClusterLock lock = locks.get("counter");
			return (args) -> {
				for (int i = 0; i < times; i++) {
					increment(redis, lock, work, name);
				}
				redis.opsForList().rightPush("done", name);
			};
		}

		private void increment(StringRedisTemplate redis, ClusterLock lock, Duration work, String name) {
			lock.lock();
			try {
				String before = redis.opsForValue().get("counter");
				redis.opsForValue().set("inside", name);
				LockSupport.parkNanos(work.toNanos());
				long next = (before != null) ? Long.parseLong(before) + 1 : 1;
				Long written = redis.execute(FENCED, List.of("counter", "token", "inside"), Long.toString(next),
						lock.token().toString());
				redis.opsForList()
					.rightPush(Long.valueOf(1).equals(written) ? "accepted" : "refused", name + " " + lock.token());
			}
			finally {
				unlock(lock);
			}
		}

		private void unlock(ClusterLock lock) {
			try {
				lock.unlock();
			}
			catch (LockLostException ex) {
				System.out.println("The token has fenced the write: " + ex);
			}
		}

	}

}
