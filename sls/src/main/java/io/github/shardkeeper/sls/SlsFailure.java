package io.github.shardkeeper.sls;

import java.io.IOException;
import java.util.Locale;
import java.util.Set;

import com.aliyun.openservices.log.exception.LogException;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;

/**
 * Failure of a request, in plain words, without credentials. A retry makes sense, for a
 * refusal after the problem in the message is fixed.
 */
final class SlsFailure extends StoreUnavailableException {

	private static final Set<String> CREDENTIALS = Set.of("Unauthorized", "SignatureNotMatch", "InvalidAccessKeyId",
			"InvalidAccessKey", "InvalidSecurityToken", "SecurityTokenExpired", "ClientSignatureError",
			"FetchCredentialsFailed");

	private final Kind kind;

	private SlsFailure(Kind kind, String message, @Nullable Throwable cause) {
		// What is throttled passes by itself: nobody has to fix anything first.
		super(message, cause, kind != Kind.NO_ANSWER && kind != Kind.SERVER && kind != Kind.THROTTLED);
		this.kind = kind;
	}

	Kind kind() {
		return this.kind;
	}

	/**
	 * Explains a failure.
	 * @param what the operation and its target, such as {@code list the shards of 'a'}
	 */
	static SlsFailure of(String what, LogException ex, SlsSettings settings) {
		String code = String.valueOf(ex.getErrorCode());
		Kind kind = kind(ex, code);
		if (kind == Kind.NO_ANSWER) {
			// The other lines of the message have nothing to do with the service.
			String reason = brokenOff(ex) ? "the reply broke off"
					: String.valueOf(ex.getMessage()).lines().findFirst().orElse("");
			return new SlsFailure(kind,
					"SLS at %s did not reply to the request to %s: %s".formatted(settings.endpoint(), what, reason),
					ex);
		}
		if (CREDENTIALS.contains(code) || ex.getHttpCode() == 401) {
			// The service's message may name the access key, except where a policy
			// denies.
			String message = String.valueOf(ex.getMessage());
			String reason = message.startsWith("denied by") ? message : "the credentials are not valid";
			return new SlsFailure(kind,
					("SLS refused to %s: %s (%s). Check 'shardkeeper.sls.access-key-id', 'access-key-secret' and "
							+ "'security-token', or what the CredentialsProvider bean returns, and the permissions")
						.formatted(what, reason, codes(ex, code)),
					null);
		}
		if (kind == Kind.THROTTLED) {
			return new SlsFailure(kind, "SLS throttles requests to %s (%s): %s%s".formatted(what, codes(ex, code),
					ex.getMessage(), relief(code)), ex);
		}
		return new SlsFailure(kind,
				"SLS refused to %s (%s): %s%s".formatted(what, codes(ex, code), ex.getMessage(), advice(code)), ex);
	}

	static SlsFailure unexpected(String what, Throwable ex) {
		return new SlsFailure(Kind.SERVER, "Cannot %s: %s".formatted(what, ex), ex);
	}

	static SlsFailure malformed(String what, String problem) {
		return new SlsFailure(Kind.SERVER, "Cannot %s: the reply is malformed: %s".formatted(what, problem), null);
	}

	static SlsFailure refused(String message) {
		return new SlsFailure(Kind.REFUSED, message, null);
	}

	private static Kind kind(LogException ex, String code) {
		int http = ex.getHttpCode();
		String message = String.valueOf(ex.getMessage()).toLowerCase(Locale.ROOT);
		if (code.equals("RequestError") || brokenOff(ex)) {
			return Kind.NO_ANSWER;
		}
		if (http == 429 || code.contains("QuotaExceed") || code.equals("ExceedQuota")) {
			return Kind.THROTTLED;
		}
		if (code.equals("InvalidCursor") || code.equals("ParameterInvalid") && message.contains("cursor")) {
			return Kind.CURSOR;
		}
		if (code.equals("ShardNotExist")) {
			return Kind.NO_SHARD;
		}
		if (code.equals("ConsumerGroupNotExist")) {
			return Kind.NO_CONSUMER_GROUP;
		}
		if (CREDENTIALS.contains(code)) {
			return Kind.REFUSED;
		}
		// Without a status: the client could not read the reply.
		return (http >= 500 || http < 0) ? Kind.SERVER : Kind.REFUSED;
	}

	/** Returns whether the connection ended after the header of the reply. */
	private static boolean brokenOff(LogException ex) {
		return "BadResponse".equals(ex.getErrorCode()) && ex.getCause() instanceof IOException;
	}

	private static String codes(LogException ex, String code) {
		String status = (ex.getHttpCode() > 0) ? "HTTP " + ex.getHttpCode() + ", " + code : code;
		String request = ex.getRequestId();
		return (request != null && !request.isEmpty()) ? status + ", request " + request : status;
	}

	private static String advice(String code) {
		return switch (code) {
			case "ProjectNotExist" ->
				". Check 'shardkeeper.sls.project', and that 'shardkeeper.sls.endpoint' is the one " + "of its region";
			case "LogStoreNotExist" -> ". Create the logstore, or set 'shardkeeper.sls.topics.<topic>.logstore'";
			case "RequestTimeExpired", "RequestTimeTooSkewed" -> ". Check the clock of this machine";
			case "ConsumerGroupNotExist" -> ". Check 'shardkeeper.sls.consumer-group'";
			default -> "";
		};
	}

	private static String relief(String code) {
		return code.startsWith("Shard")
				? ". If this lasts, split the shard, or have fewer applications read and write it"
				: ". If this lasts, raise the quota of the project, or have fewer applications use it";
	}

	enum Kind {

		/** No connection, or no reply in time. The request may have been executed. */
		NO_ANSWER,

		/** The service failed. The request may have been executed. */
		SERVER,

		/** A quota is exceeded. The request was not executed, and may be repeated. */
		THROTTLED,

		/** The cursor is not valid, or has expired. */
		CURSOR,

		/** The shard does not exist, or not any more. */
		NO_SHARD,

		/** The SLS consumer group does not exist, or not any more. */
		NO_CONSUMER_GROUP,

		/** Refused until somebody fixes a problem. */
		REFUSED

	}

}
