package io.github.shardkeeper.autoconfigure.dashboard;

import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.reactive.DispatcherHandler;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

import io.github.shardkeeper.dashboard.DashboardPaths;
import io.github.shardkeeper.dashboard.DashboardServletFilter;
import io.github.shardkeeper.dashboard.DashboardWebFilter;

/** Filters of the web server that serves the endpoints, on whichever port it listens. */
@ManagementContextConfiguration(proxyBeanMethods = false)
@ConditionalOnBean(DashboardPaths.class)
final class DashboardManagementContextConfiguration {

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(SseEmitter.class)
	@ConditionalOnWebApplication(type = Type.SERVLET)
	static class ServletConfiguration {

		@Bean
		DashboardServletFilter shardkeeperDashboardFilter(DashboardPaths paths) {
			return new DashboardServletFilter(paths);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(DispatcherHandler.class)
	@ConditionalOnWebApplication(type = Type.REACTIVE)
	static class ReactiveConfiguration {

		@Bean
		DashboardWebFilter shardkeeperDashboardFilter(DashboardPaths paths) {
			return new DashboardWebFilter(paths);
		}

	}

}
