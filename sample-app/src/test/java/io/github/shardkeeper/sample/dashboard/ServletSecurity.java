package io.github.shardkeeper.sample.dashboard;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.boot.security.autoconfigure.actuate.web.servlet.EndpointRequest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpMethod;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.CsrfConfigurer;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.csrf.CookieCsrfTokenRepository;

/** Rules of {@link SecuredEndpointsTests} with Spring MVC, as the guide has them. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnWebApplication(type = Type.SERVLET)
class ServletSecurity {

	@Bean
	SecurityFilterChain rules(HttpSecurity http, @Value("${test.csrf:session}") String token) throws Exception {
		switch (token) {
			case "cookie" ->
				http.csrf((csrf) -> csrf.csrfTokenRepository(CookieCsrfTokenRepository.withHttpOnlyFalse()));
			case "spa" -> http.csrf(CsrfConfigurer::spa);
			default -> http.csrf(Customizer.withDefaults());
		}
		return http.securityMatcher(EndpointRequest.toAnyEndpoint())
			.authorizeHttpRequests(
					(requests) -> requests.requestMatchers(EndpointRequest.to("shards").withHttpMethod(HttpMethod.POST))
						.hasRole("OPS")
						.requestMatchers(EndpointRequest.to("shards", "shardmoves", "sharddashboard"))
						.hasRole("VIEWER")
						.anyRequest()
						.denyAll())
			.httpBasic(Customizer.withDefaults())
			.build();
	}

	@Bean
	UserDetailsService users() {
		return new InMemoryUserDetailsManager(SecuredEndpointsTests.users());
	}

}
