package io.github.shardkeeper.kafka.client;

import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.DisconnectException;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.InvalidRequiredAcksException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SslAuthenticationException;
import org.apache.kafka.common.errors.ThrottlingQuotaExceededException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.errors.UnsupportedCompressionTypeException;
import org.apache.kafka.common.errors.UnsupportedForMessageFormatException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;

/** Explains failures of Kafka's clients: what is wrong, and what to do. */
public final class KafkaFailure {

	private static final String UNRESOLVED = "No resolvable bootstrap urls";

	/** What is checked before a record is appended. */
	private static final List<Class<? extends ApiException>> REFUSALS = List.of(AuthenticationException.class,
			AuthorizationException.class, InvalidRecordException.class, InvalidRequiredAcksException.class,
			InvalidTimestampException.class, InvalidTopicException.class, PolicyViolationException.class,
			RecordBatchTooLargeException.class, RecordTooLargeException.class,
			UnsupportedCompressionTypeException.class, UnsupportedForMessageFormatException.class,
			UnsupportedVersionException.class);

	private final String servers;

	public KafkaFailure(String servers) {
		this.servers = servers;
	}

	public StoreUnavailableException unavailable(String problem, Throwable failure) {
		Throwable cause = unwrapped(failure);
		Throwable reason = configuration(cause);
		return new StoreUnavailableException("Kafka: %s: %s".formatted(problem, message(cause)), cause,
				isRefusal((reason != null) ? reason : cause));
	}

	/**
	 * Removes exceptions that only carry a cause: from another thread, or that of a
	 * producer which was refused already when it is given a record.
	 */
	public static Throwable unwrapped(Throwable failure) {
		Throwable cause = failure.getCause();
		boolean ofAnotherThread = failure instanceof ExecutionException || failure instanceof CompletionException;
		boolean refusedBefore = failure.getClass() == KafkaException.class
				&& (cause instanceof AuthenticationException || cause instanceof AuthorizationException);
		return ((ofAnotherThread || refusedBefore) && cause != null) ? unwrapped(cause) : failure;
	}

	public static boolean isMissing(@Nullable Throwable failure) {
		return failure instanceof UnknownTopicOrPartitionException;
	}

	/** Whether Kafka has answered, and will refuse until somebody changes something. */
	static boolean isRefusal(Throwable failure) {
		return failure instanceof AuthenticationException || failure instanceof AuthorizationException
				|| failure instanceof InvalidTopicException || failure instanceof UnknownTopicOrPartitionException
				|| failure instanceof ConfigException && !isUnresolved(failure);
	}

	/** Whether DNS, which may be away for a while, does not know the brokers. */
	private static boolean isUnresolved(Throwable failure) {
		return String.valueOf(failure.getMessage()).contains(UNRESOLVED);
	}

	public String message(Throwable failure) {
		Throwable cause = unwrapped(failure);
		if (cause instanceof SslAuthenticationException) {
			return "no TLS connection to %s (%s). Correct 'spring.kafka.ssl.*' or its bundle: it must trust the brokers' certificates, which must name their addresses"
				.formatted(this.servers, text(cause));
		}
		if (cause instanceof AuthenticationException) {
			return "%s does not accept the credentials or the connection (%s). Correct 'spring.kafka.security.*', "
				.formatted(this.servers, cause.getMessage())
					+ "'spring.kafka.ssl.*' or 'spring.kafka.properties[sasl.jaas.config]'";
		}
		if (cause instanceof GroupAuthorizationException) {
			return "%s denies the access (%s). Grant its user DESCRIBE on the group, and READ to mirror offsets into it"
				.formatted(this.servers, cause.getMessage());
		}
		if (cause instanceof AuthorizationException) {
			return "%s denies the access (%s). Grant its user DESCRIBE and READ on the topic, and WRITE to send"
				.formatted(this.servers, cause.getMessage());
		}
		KafkaException configuration = configuration(cause);
		if (configuration != null && isUnresolved(configuration)) {
			return "none of the names in '%s' can be resolved. Check 'spring.kafka.bootstrap-servers', and DNS"
				.formatted(this.servers);
		}
		if (configuration != null) {
			return "the configuration of the client is not valid (%s). Correct 'spring.kafka.*'"
				.formatted(configuration.getMessage());
		}
		if (cause instanceof ThrottlingQuotaExceededException) {
			return "the brokers permit no more changes of topics for now (%s). Repeat it later, or raise the quota 'controller_mutation_rate' of the user or client id"
				.formatted(text(cause));
		}
		if (isUnanswered(cause)) {
			return "%s does not reply (%s). Check 'spring.kafka.bootstrap-servers' and the brokers"
				.formatted(this.servers, text(cause));
		}
		return text(cause);
	}

	/** Other failures that may pass are replies, and say themselves what is wrong. */
	private static boolean isUnanswered(Throwable failure) {
		return failure instanceof TimeoutException || failure instanceof DisconnectException
				|| failure instanceof NetworkException || failure instanceof java.util.concurrent.TimeoutException;
	}

	/**
	 * Returns whether a broker refuses a record before it appends anything. Other
	 * failures may come after that: an unknown one of the broker, for example, or one
	 * that a later version of Kafka adds.
	 */
	public static boolean isRefusedRecord(Throwable failure) {
		return REFUSALS.stream().anyMatch((refusal) -> refusal.isInstance(failure));
	}

	private static @Nullable KafkaException configuration(Throwable failure) {
		Throwable cause = failure;
		for (int i = 0; cause != null && i < 10; i++) {
			if (cause instanceof ConfigException exception) {
				return exception;
			}
			cause = cause.getCause();
		}
		return null;
	}

	/** The message of a wrapper rarely says what is wrong. */
	private static String text(Throwable failure) {
		Throwable root = failure;
		for (int i = 0; root.getCause() != null && i < 10; i++) {
			root = root.getCause();
		}
		String message = root.getMessage();
		String text = (message != null) ? message : root.getClass().getSimpleName();
		return (root == failure || failure.getMessage() == null || failure.getMessage().contains(text)) ? text
				: failure.getMessage() + ": " + text;
	}

}
