package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.cluster.BarrierBrokenException;
import io.github.shardkeeper.cluster.ClusterView;
import io.github.shardkeeper.cluster.DoubleBarrier;
import io.github.shardkeeper.cluster.DoubleBarriers;
import io.github.shardkeeper.cluster.ViewChangedException;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Barriers of whole applications that consume no topic. */
@Tag("proof")
class DoubleBarrierTests {

	private static final Duration LONG = Duration.ofSeconds(40);

	private final String group = UUID.randomUUID().toString();

	private final List<ConfigurableApplicationContext> contexts = new ArrayList<>();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	@AfterEach
	void close() {
		this.threads.shutdownNow();
		this.contexts.forEach(ConfigurableApplicationContext::close);
	}

	private ConfigurableApplicationContext start(String name, String store) {
		ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
			.web(WebApplicationType.NONE)
			.run("--shardkeeper.store=" + store, "--shardkeeper.group=" + this.group,
					"--shardkeeper.instance-id=" + name, "--shardkeeper.session.lease=3s",
					"--shardkeeper.session.heartbeat-interval=200ms", "--shardkeeper.session.timeout=15s",
					"--spring.data.redis.port=" + EmbeddedRedis.shared().port());
		this.contexts.add(context);
		return context;
	}

	private static DoubleBarrier barrier(ConfigurableApplicationContext context) {
		return context.getBean(DoubleBarriers.class).get("nightly");
	}

	private Future<Void> run(Callable<Void> work) {
		return this.threads.submit(work);
	}

	@Test
	void singleInstanceWithoutRedis() throws Exception {
		DoubleBarrier barrier = barrier(start("a", "memory"));

		barrier.enter(1, LONG);
		barrier.leave(LONG);
	}

	@Test
	void hundredRoundsOfThreeInstancesOnRedis() throws Exception {
		AtomicInteger begun = new AtomicInteger();
		AtomicInteger finished = new AtomicInteger();
		List<Future<Void>> all = new ArrayList<>();
		for (String name : List.of("a", "b", "c")) {
			DoubleBarrier barrier = barrier(start(name, "redis"));
			all.add(run(() -> {
				for (int i = 0; i < 100; i++) {
					barrier.enter(3, LONG);
					assertThat(begun.incrementAndGet()).isBetween(3 * i + 1, 3 * i + 3);
					finished.incrementAndGet();
					barrier.leave(LONG);
					assertThat(finished.get()).isGreaterThanOrEqualTo(3 * i + 3);
				}
				return null;
			}));
		}
		for (Future<Void> each : all) {
			each.get(180, TimeUnit.SECONDS);
		}

		assertThat(finished).hasValue(300);
	}

	@Test
	void instanceThatStopsInARoundIsNamedToTheOthers() throws Exception {
		ConfigurableApplicationContext a = start("a", "redis");
		ConfigurableApplicationContext b = start("b", "redis");
		DoubleBarrier atA = barrier(a);
		DoubleBarrier atB = barrier(b);
		Future<Void> entering = run(() -> {
			atA.enter(2, LONG);
			return null;
		});
		atB.enter(2, LONG);
		entering.get(40, TimeUnit.SECONDS);

		b.close();

		assertThatExceptionOfType(BarrierBrokenException.class).isThrownBy(() -> atA.leave(LONG))
			.matches((problem) -> problem.missing().size() == 1 && problem.missing().get(0).value().startsWith("b~"));
	}

	@Test
	void instancesEnterWithTheSameViewOrHearThatItHasChanged() throws Exception {
		ConfigurableApplicationContext a = start("a", "redis");
		ConfigurableApplicationContext b = start("b", "redis");
		DoubleBarrier atA = barrier(a);
		DoubleBarrier atB = barrier(b);
		ClusterView.View two = view(a, 2);
		Future<Void> entering = run(() -> {
			atA.enter(two, LONG);
			return null;
		});
		atB.enter(view(b, 2), LONG);
		entering.get(40, TimeUnit.SECONDS);
		Future<Void> leaving = run(() -> {
			atA.leave(LONG);
			return null;
		});
		atB.leave(LONG);
		leaving.get(40, TimeUnit.SECONDS);

		Future<Void> again = run(() -> {
			atA.enter(two, LONG);
			return null;
		});
		view(start("c", "redis"), 3);

		assertThatThrownBy(() -> again.get(40, TimeUnit.SECONDS)).hasCauseInstanceOf(ViewChangedException.class);
		assertThat(a.getBean(ClusterView.class).size()).isEqualTo(3);
	}

	@Test
	void applicationThatUsesNoBarrierHasNoKeyOfIt() {
		ConfigurableApplicationContext context = start("a", "redis");
		view(context, 1);

		assertThat(new StringRedisTemplate(context.getBean(RedisConnectionFactory.class))
			.keys("*{" + this.group + "}:barrier*")).isEmpty();
	}

	private static ClusterView.View view(ConfigurableApplicationContext context, int size) {
		ClusterView view = context.getBean(ClusterView.class);
		Awaitility.await().atMost(LONG).until(() -> view.size() == size);
		return view.current();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

}
