package io.github.shardkeeper.sample.dashboard;

import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.boot.security.autoconfigure.actuate.web.reactive.EndpointRequest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpMethod;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.reactive.EnableWebFluxSecurity;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.core.userdetails.MapReactiveUserDetailsService;
import org.springframework.security.web.server.SecurityWebFilterChain;

/** Rules of {@link SecuredEndpointsTests} with WebFlux, as the guide has them. */
@Configuration(proxyBeanMethods = false)
@EnableWebFluxSecurity
@ConditionalOnWebApplication(type = Type.REACTIVE)
class ReactiveSecurity {

	@Bean
	SecurityWebFilterChain rules(ServerHttpSecurity http) {
		return http.securityMatcher(EndpointRequest.toAnyEndpoint())
			.authorizeExchange(
					(exchanges) -> exchanges.matchers(EndpointRequest.to("shards").withHttpMethod(HttpMethod.POST))
						.hasRole("OPS")
						.matchers(EndpointRequest.to("shards", "shardmoves", "sharddashboard"))
						.hasRole("VIEWER")
						.anyExchange()
						.denyAll())
			.httpBasic(Customizer.withDefaults())
			.build();
	}

	@Bean
	MapReactiveUserDetailsService users() {
		return new MapReactiveUserDetailsService(SecuredEndpointsTests.users());
	}

}
