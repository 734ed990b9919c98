package io.github.shardkeeper.benchmarks;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import org.springframework.boot.Banner;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;

import io.github.shardkeeper.source.ShardAppender;
import io.github.shardkeeper.source.ShardAppender.NewRecord;

/**
 * Applications with the starter and one bean with a handler. Has no state.
 */
public final class Applications {

	private Applications() {
	}

	/**
	 * Starts an application with default settings, except for the given properties, and
	 * without a web server unless they say otherwise.
	 * @param redis the port of its Redis
	 * @param handler the bean
	 * @param properties its properties
	 * @return the running application; the caller closes it
	 */
	@SuppressWarnings("unchecked")
	public static ConfigurableApplicationContext start(int redis, Object handler, Map<String, Object> properties) {
		Map<String, Object> all = new HashMap<>(Map.of("spring.main.web-application-type", "none"));
		all.putAll(properties);
		all.put("spring.data.redis.port", redis);
		return new SpringApplicationBuilder(Application.class).bannerMode(Banner.Mode.OFF)
			.properties(all)
			.initializers((context) -> ((GenericApplicationContext) context).registerBean("handler",
					(Class<Object>) handler.getClass(), () -> handler))
			.run();
	}

	/** Appends records, pipelined, and waits until all are there. */
	public static void append(ConfigurableApplicationContext application, List<NewRecord> records) {
		application.getBean(ShardAppender.class).append(records).forEach(CompletableFuture::join);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

}
