package com.example;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardInterceptor;

/** Beans of an application whose names begin as those of Shardkeeper. */
@Configuration(proxyBeanMethods = false)
public class Tenants {

	/** Topics whose calls were intercepted. */
	public final List<String> intercepted = new CopyOnWriteArrayList<>();

	@Bean
	ShardInterceptor shardkeeperTenants() {
		return (shard, records, call) -> {
			this.intercepted.add(shard.shard().topic());
			call.proceed();
		};
	}

}
