package io.github.shardkeeper.handler;

import java.util.List;
import java.util.stream.Stream;

import tools.jackson.databind.json.JsonMapper;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.schedule.RunRules;
import io.github.shardkeeper.source.JsonPayloadConverter;

/** Handlers with rules that cannot be configured. */
public final class ScheduledHandlers {

	private ScheduledHandlers() {
	}

	/**
	 * Returns a handler of the only consuming method of a bean, which takes no record.
	 */
	public static ShardHandler of(String topic, Object bean, RunRules rules) {
		HandlerSignature signature = Stream.of(bean.getClass().getDeclaredMethods())
			.filter((method) -> method.isAnnotationPresent(ShardConsumer.class))
			.map((method) -> HandlerSignature.ofConsumer(method, bean.getClass()))
			.findAny()
			.orElseThrow();
		return new ShardHandler(topic, () -> bean, signature,
				new HandlerCallbacks(List.of(), List.of(), List.of(), null), new JsonPayloadConverter(new JsonMapper()),
				CallHooks.NONE, rules, true);
	}

}
