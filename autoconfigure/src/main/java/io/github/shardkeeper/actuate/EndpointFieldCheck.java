package io.github.shardkeeper.actuate;

import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;

import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.OperationType;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvoker;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvokerAdvisor;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameters;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

import io.github.shardkeeper.text.PrintableText;

/**
 * Refuses changes through Shardkeeper's endpoints with fields that do not exist, which
 * Spring Boot would ignore: {@code dryrun} must not turn a dry run into an operation, and
 * {@code expectedversion} must not overwrite the change of somebody else. Thread-safe.
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
		Set<String> fields = new TreeSet<>();
		Set<String> known = new HashSet<>();
		parameters.stream().filter((parameter) -> parameter.getType() != SecurityContext.class).forEach((parameter) -> {
			known.add(parameter.getName());
			if (parameter.getAnnotation(Selector.class) == null) {
				fields.add(parameter.getName());
			}
		});
		return (context) -> {
			for (String sent : context.getArguments().keySet()) {
				if (!known.contains(sent)) {
					return ShardsWebExtension.refusal(WebEndpointResponse.STATUS_BAD_REQUEST,
							"There is no field '%s'; these exist: %s"
								.formatted(PrintableText.quoted(sent, LONGEST_QUOTATION), fields));
				}
			}
			return invoker.invoke(context);
		};
	}

}
