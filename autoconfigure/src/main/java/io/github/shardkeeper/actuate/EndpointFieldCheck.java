package io.github.shardkeeper.actuate;

import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.InvocationContext;
import org.springframework.boot.actuate.endpoint.OperationArgumentResolver;
import org.springframework.boot.actuate.endpoint.OperationType;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvoker;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvokerAdvisor;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameters;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.util.StringUtils;

import io.github.shardkeeper.text.PrintableText;

/**
 * Passes the fields of a request to an operation of Shardkeeper's endpoints that takes a
 * {@link Map} of them, and checks them for the other ones: Spring Boot would ignore
 * fields that do not exist, but {@code expectedversion} must not overwrite the change of
 * somebody else. Thread-safe.
 */
public final class EndpointFieldCheck implements OperationInvokerAdvisor {

	private static final Set<EndpointId> OURS = Set.of(EndpointId.of("shards"), EndpointId.of("clusterparameters"));

	private static final int LONGEST_QUOTATION = 120;

	@Override
	public OperationInvoker apply(EndpointId endpoint, OperationType type, OperationParameters parameters,
			OperationInvoker invoker) {
		if (!OURS.contains(endpoint) || type == OperationType.READ) {
			return invoker;
		}
		Set<String> selectors = new HashSet<>();
		Set<String> fields = new TreeSet<>();
		parameters.stream()
			.filter((parameter) -> parameter.getType() != SecurityContext.class)
			.forEach((parameter) -> ((parameter.getAnnotation(Selector.class) != null) ? selectors : fields)
				.add(parameter.getName()));
		if (parameters.stream().anyMatch((parameter) -> parameter.getType() == Map.class)) {
			return (context) -> invoker.invoke(new InvocationContext(
					Objects.requireNonNull(context.resolveArgument(SecurityContext.class)), context.getArguments(),
					OperationArgumentResolver.of(Map.class, () -> sent(context, selectors))));
		}
		return (context) -> {
			for (String sent : sent(context, selectors).keySet()) {
				if (!fields.contains(sent)) {
					return ShardsWebExtension.refusal(WebEndpointResponse.STATUS_BAD_REQUEST,
							"There is no field '%s'; these exist: %s"
								.formatted(PrintableText.quoted(sent, LONGEST_QUOTATION), fields));
				}
			}
			return invoker.invoke(context);
		};
	}

	/** Returns what was sent besides the path. */
	private static Map<String, @Nullable String> sent(InvocationContext context, Set<String> selectors) {
		Map<String, @Nullable String> sent = new TreeMap<>();
		context.getArguments().forEach((name, value) -> {
			if (!selectors.contains(name)) {
				// A list is a parameter of the query that was sent more than once.
				sent.put(name,
						(value instanceof Collection<?> values) ? StringUtils.collectionToCommaDelimitedString(values)
								: (value != null) ? value.toString() : null);
			}
		});
		return sent;
	}

}
