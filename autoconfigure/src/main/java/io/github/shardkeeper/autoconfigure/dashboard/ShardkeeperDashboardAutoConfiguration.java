package io.github.shardkeeper.autoconfigure.dashboard;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import reactor.core.publisher.Flux;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.web.reactive.DispatcherHandler;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

import io.github.shardkeeper.ShardGroups;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.actuate.EndpointFieldCheck;
import io.github.shardkeeper.actuate.GroupBeans;
import io.github.shardkeeper.autoconfigure.ShardkeeperActuatorAutoConfiguration;
import io.github.shardkeeper.autoconfigure.ShardkeeperAutoConfiguration;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.dashboard.DashboardPage;
import io.github.shardkeeper.dashboard.DashboardPaths;
import io.github.shardkeeper.dashboard.DashboardRuntimeHints;
import io.github.shardkeeper.dashboard.DashboardWatch;
import io.github.shardkeeper.dashboard.EventStreams;
import io.github.shardkeeper.dashboard.ReactiveEventStreams;
import io.github.shardkeeper.dashboard.ServletEventStreams;
import io.github.shardkeeper.dashboard.ShardDashboardEndpoint;
import io.github.shardkeeper.history.MoveHistory;
import io.github.shardkeeper.loop.LoopMeters;
import io.github.shardkeeper.loop.LoopThreads;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.operations.request.ShardQuery;
import io.github.shardkeeper.report.GroupReport;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicClock;

/** Dashboard, in web applications with the actuator. */
@AutoConfiguration(after = { ShardkeeperAutoConfiguration.class, ShardkeeperActuatorAutoConfiguration.class })
@ConditionalOnClass({ Endpoint.class, ConditionalOnAvailableEndpoint.class })
@ConditionalOnWebApplication
// Which is there if any group is.
@ConditionalOnBean(EndpointFieldCheck.class)
public final class ShardkeeperDashboardAutoConfiguration {

	private static final Logger logger = PrintableLogger.of(ShardkeeperDashboardAutoConfiguration.class);

	/** Guards the acts, also without the dashboard. */
	@Bean
	DashboardPaths shardkeeperDashboardPaths(ObjectProvider<PathMappedEndpoints> endpoints) {
		return new DashboardPaths(endpoints::getObject);
	}

	/** Returns what differs if there is something new to read in a group. */
	static Map<String, Object> summary(String group, GroupReporter reporter, @Nullable MoveHistory history) {
		Map<String, Object> summary = new TreeMap<>();
		summary.put("group", group);
		try {
			GroupReport report = reporter.report(new ShardQuery(null, null, null, null, null, 0, false));
			summary.put("epoch", report.epoch());
			summary.put("generation", report.generation());
			summary.put("members", report.members().hashCode());
			summary.put("topics", report.topics().hashCode());
			summary.put("problems", report.problems().hashCode());
			// A store that does not reply would only be waited for again.
			summary.put("move", (report.error() == null) ? newest(history) : "unknown");
		}
		catch (RuntimeException ex) {
			// The page reads the group, and shows why it cannot.
			logger.debug("The dashboard has no summary of the group '{}'", group, ex);
			summary.put("failure", ex.getClass().getName());
		}
		return summary;
	}

	private static String newest(@Nullable MoveHistory history) {
		try {
			List<MoveHistory.Entry> entries = (history != null) ? history.read(null, 1).entries() : List.of();
			return entries.isEmpty() ? "" : entries.get(0).id();
		}
		catch (StoreUnavailableException ex) {
			// The report has the reason, which the page reads.
			return "unknown";
		}
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnAvailableEndpoint(endpoint = ShardDashboardEndpoint.class)
	@ImportRuntimeHints(DashboardRuntimeHints.class)
	static class PageConfiguration {

		@Bean
		DashboardWatch shardkeeperDashboardWatch(ObjectProvider<LoopThreads> loops,
				ObjectProvider<CoordinationSettings> own, ObjectProvider<GroupReporter> reporter,
				ObjectProvider<MoveHistory> history, ObjectProvider<GroupBeans> named) {
			JsonMapper mapper = new JsonMapper();
			return new DashboardWatch(loops.getIfAvailable(
					() -> new LoopThreads(MonotonicClock.SYSTEM, LoopMeters.NONE, LoopThreads.DEFAULT_STALL_LIMIT)),
					MonotonicClock.SYSTEM, () -> mapper.writeValueAsString(summaries(own, reporter, history, named)));
		}

		/** Viewers of any group read again when something changes in one of them. */
		private static List<Map<String, Object>> summaries(ObjectProvider<CoordinationSettings> own,
				ObjectProvider<GroupReporter> reporter, ObjectProvider<MoveHistory> history,
				ObjectProvider<GroupBeans> named) {
			List<Map<String, Object>> summaries = new ArrayList<>();
			reporter
				.ifAvailable((bean) -> summaries.add(summary(own.getObject().group(), bean, history.getIfAvailable())));
			named.ifAvailable((groups) -> {
				Map<String, MoveHistory> histories = groups.ofType(MoveHistory.class);
				groups.ofType(GroupReporter.class)
					.forEach((name, other) -> summaries.add(summary(name, other, histories.get(name))));
			});
			return summaries;
		}

		@Bean
		ShardDashboardEndpoint shardDashboardEndpoint(ObjectProvider<PathMappedEndpoints> endpoints,
				EventStreams streams, ObjectProvider<CoordinationSettings> own, ObjectProvider<ShardGroups> named) {
			List<String> groups = new ArrayList<>();
			own.ifAvailable((settings) -> groups.add(settings.group()));
			named.ifAvailable((others) -> groups.addAll(new TreeSet<>(others.names())));
			return new ShardDashboardEndpoint(new DashboardPage(endpoints::getObject, groups), streams);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(SseEmitter.class)
	@ConditionalOnAvailableEndpoint(endpoint = ShardDashboardEndpoint.class)
	@ConditionalOnWebApplication(type = Type.SERVLET)
	static class ServletConfiguration {

		@Bean
		ServletEventStreams shardkeeperEventStreams(DashboardWatch watch) {
			return new ServletEventStreams(watch);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ DispatcherHandler.class, Flux.class })
	@ConditionalOnAvailableEndpoint(endpoint = ShardDashboardEndpoint.class)
	@ConditionalOnWebApplication(type = Type.REACTIVE)
	static class ReactiveConfiguration {

		@Bean
		ReactiveEventStreams shardkeeperEventStreams(DashboardWatch watch) {
			return new ReactiveEventStreams(watch);
		}

	}

}
