package io.github.shardkeeper.benchmarks;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.source.ShardAppender;
import io.github.shardkeeper.source.ShardAppender.NewRecord;

/**
 * Applications with the starter and one bean with a handler. Has no state.
 */
public final class Applications {

	private Applications() {
	}

	/**
	 * Starts an application with default settings, except for the given properties.
	 * @param redis the Redis that it uses
	 * @param handler the bean
	 * @param properties its properties
	 * @return the running application; the caller closes it
	 */
	public static ConfigurableApplicationContext start(RedisProcess redis, Object handler,
			Map<String, Object> properties) {
		return start(redis, handler, properties, UnaryOperator.identity());
	}

	/**
	 * Starts an application with default settings, except for the given properties.
	 * @param port the port of the Redis it uses
	 * @param handler the bean
	 * @param properties its properties
	 * @return the running application; the caller closes it
	 */
	public static ConfigurableApplicationContext start(int port, Object handler, Map<String, Object> properties) {
		return start(port, handler, properties, UnaryOperator.identity());
	}

	/**
	 * Starts an application whose checkpoint store is wrapped.
	 * @param redis the Redis that it uses
	 * @param handler the bean
	 * @param properties its properties
	 * @param wrapper wraps the store
	 * @return the running application; the caller closes it
	 */
	public static ConfigurableApplicationContext start(RedisProcess redis, Object handler,
			Map<String, Object> properties, UnaryOperator<CheckpointStore> wrapper) {
		return start(redis.port(), handler, properties, wrapper);
	}

	/**
	 * Starts an application with what its class path has: with a web server if there is
	 * one.
	 * @param port the port of the Redis that it uses
	 * @param handler the bean
	 * @param properties its properties
	 * @return the running application; the caller closes it
	 */
	public static ConfigurableApplicationContext startWhole(int port, Object handler, Map<String, Object> properties) {
		return builder(port, handler, properties, UnaryOperator.identity()).run();
	}

	private static ConfigurableApplicationContext start(int port, Object handler, Map<String, Object> properties,
			UnaryOperator<CheckpointStore> wrapper) {
		return builder(port, handler, properties, wrapper).web(WebApplicationType.NONE).run();
	}

	private static SpringApplicationBuilder builder(int port, Object handler, Map<String, Object> properties,
			UnaryOperator<CheckpointStore> wrapper) {
		Map<String, Object> all = new HashMap<>(properties);
		all.put("spring.data.redis.port", port);
		return new SpringApplicationBuilder(Application.class).bannerMode(Banner.Mode.OFF)
			.properties(all)
			.initializers((context) -> register((GenericApplicationContext) context, handler, wrapper));
	}

	/**
	 * Appends records, pipelined, and waits until all are there.
	 * @param application a running application
	 * @param records the records
	 */
	public static void append(ConfigurableApplicationContext application, List<NewRecord> records) {
		application.getBean(ShardAppender.class).append(records).forEach(CompletableFuture::join);
	}

	@SuppressWarnings("unchecked")
	private static void register(GenericApplicationContext context, Object handler,
			UnaryOperator<CheckpointStore> wrapper) {
		context.registerBean("handler", (Class<Object>) handler.getClass(), () -> handler);
		context.getBeanFactory().addBeanPostProcessor(new BeanPostProcessor() {

			@Override
			public Object postProcessAfterInitialization(Object bean, String name) {
				return (bean instanceof CheckpointStore store) ? wrapper.apply(store) : bean;
			}

		});
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

}
