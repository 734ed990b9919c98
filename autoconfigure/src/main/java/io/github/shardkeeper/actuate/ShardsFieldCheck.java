package io.github.shardkeeper.actuate;

import java.util.Set;
import java.util.stream.Collectors;

import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.OperationType;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvoker;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvokerAdvisor;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameter;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameters;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

import io.github.shardkeeper.operations.OperationRefusedException;
import io.github.shardkeeper.operations.OperationRequest;

/**
 * Refuses operations of {@link ShardsWebExtension} with fields that do not exist, which
 * Spring Boot would ignore: {@code dryrun} must not turn a dry run into an operation.
 * Thread-safe.
 */
public final class ShardsFieldCheck implements OperationInvokerAdvisor {

	private static final EndpointId SHARDS = EndpointId.of("shards");

	@Override
	public OperationInvoker apply(EndpointId endpoint, OperationType type, OperationParameters parameters,
			OperationInvoker invoker) {
		if (!endpoint.equals(SHARDS) || type != OperationType.WRITE) {
			return invoker;
		}
		Set<String> known = parameters.stream().map(OperationParameter::getName).collect(Collectors.toSet());
		return (context) -> {
			try {
				OperationRequest.requireKnown(context.getArguments().keySet(), known);
			}
			catch (OperationRefusedException ex) {
				return ShardsWebExtension.refusal(WebEndpointResponse.STATUS_BAD_REQUEST, ex.getMessage());
			}
			return invoker.invoke(context);
		};
	}

}
