package io.github.shardkeeper.actuate;

import java.security.Principal;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.ClusterParameters;
import io.github.shardkeeper.cluster.ClusterParameters.Change;
import io.github.shardkeeper.cluster.ClusterParameters.State;
import io.github.shardkeeper.cluster.ClusterParameters.Update;
import io.github.shardkeeper.cluster.ParameterConflictException;
import io.github.shardkeeper.text.PrintableText;

/**
 * Endpoint {@code /actuator/clusterparameters}: the parameters of the group as this
 * instance sees them. Values are set and reset only with unrestricted access. Shows
 * nothing if the application uses no parameters. Thread-safe.
 * <p>
 * Parameters of operations are text, so that a malformed one is refused with a reason.
 */
@Endpoint(id = "clusterparameters", defaultAccess = Access.READ_ONLY)
public final class ClusterParametersEndpoint {

	/** Fits into 64 bits. */
	private static final Pattern VERSION = Pattern.compile("\\d{1,18}");

	private static final int LONGEST_QUOTATION = 120;

	private final Supplier<Optional<ClusterParameters>> parameters;

	/** Creates the endpoint; the supplier returns nothing until parameters are used. */
	public ClusterParametersEndpoint(Supplier<Optional<ClusterParameters>> parameters) {
		this.parameters = parameters;
	}

	/**
	 * {@return all parameters}
	 */
	@ReadOperation
	public Parameters parameters() {
		return new Parameters(this.parameters.get().map(ClusterParameters::states).orElse(List.of()));
	}

	/**
	 * {@return a parameter with its last changes, {@code null} if it is not known}
	 * @param name the name
	 */
	@ReadOperation
	public @Nullable Details parameter(@Selector String name) {
		ClusterParameters found = this.parameters.get().orElse(null);
		State state = (found != null) ? found.state(name).orElse(null) : null;
		if (found == null || state == null) {
			return null;
		}
		try {
			return new Details(state, found.history(name), null);
		}
		catch (StoreUnavailableException ex) {
			return new Details(state, List.of(), ex.getMessage());
		}
	}

	/**
	 * Sets a parameter.
	 * @param name the name
	 * @param value the value as text, {@code null} with a version to revert to
	 * @param revertTo the version whose value is set again, {@code null} with a value
	 * @param expectedVersion the version that it must have, {@code null} for any
	 * @return the new version
	 * @throws InvalidEndpointRequestException if a parameter is malformed, this instance
	 * does not know the name, or the value is not valid
	 * @throws ParameterConflictException if it does not have the expected version
	 */
	@WriteOperation
	public Version set(SecurityContext security, @Selector String name, @Nullable String value,
			@Nullable String revertTo, @Nullable String expectedVersion) {
		Long earlier = version("revertTo", revertTo);
		if ((value == null) == (earlier == null)) {
			throw invalid("Send either 'value' with the new value as text, or 'revertTo' with the version whose value "
					+ "is set again");
		}
		return change(name, security, expectedVersion, (found, update) -> (earlier != null)
				? found.revert(name, earlier, update) : found.set(name, String.valueOf(value), update));
	}

	/**
	 * Resets a parameter to its default.
	 * @param name the name
	 * @param expectedVersion the version that it must have, {@code null} for any
	 * @return the new version
	 * @throws InvalidEndpointRequestException if a parameter is malformed, or this
	 * instance does not know the name
	 * @throws ParameterConflictException if it does not have the expected version
	 */
	@DeleteOperation
	public Version reset(SecurityContext security, @Selector String name, @Nullable String expectedVersion) {
		return change(name, security, expectedVersion, (found, update) -> found.reset(name, update));
	}

	private Version change(String name, SecurityContext security, @Nullable String expectedVersion,
			Operation operation) {
		ClusterParameters found = this.parameters.get().orElse(null);
		if (found == null || found.state(name).isEmpty()) {
			throw invalid(unknown(name));
		}
		Principal principal = security.getPrincipal();
		Update update = new Update((principal != null) ? author(principal.getName()) : null,
				version("expectedVersion", expectedVersion));
		try {
			return new Version(operation.apply(found, update));
		}
		catch (IllegalArgumentException ex) {
			throw invalid(String.valueOf(ex.getMessage()));
		}
	}

	/** Returns the reply to the name of a parameter that this instance does not know. */
	String unknown(String name) {
		List<String> known = this.parameters.get()
			.map(ClusterParameters::states)
			.orElse(List.of())
			.stream()
			.map(State::name)
			.toList();
		return "This instance does not know the parameter '%s'; it knows %s"
			.formatted(PrintableText.quoted(name, LONGEST_QUOTATION), known.isEmpty() ? "none" : known);
	}

	private static @Nullable Long version(String field, @Nullable String text) {
		if (text != null && !VERSION.matcher(text).matches()) {
			throw invalid("'%s' is '%s', but must be a version as in a reply of this endpoint, a number such as "
				.formatted(field, PrintableText.quoted(text, LONGEST_QUOTATION))
					+ "1795234342450619; 0 is that of a parameter that was never set");
		}
		return (text != null) ? Long.valueOf(text) : null;
	}

	private static @Nullable String author(String name) {
		return name.isBlank() ? null : name.substring(0, Math.min(name.length(), ClusterParameters.MAX_AUTHOR_LENGTH));
	}

	private static InvalidEndpointRequestException invalid(String reason) {
		return new InvalidEndpointRequestException(reason, reason);
	}

	/** The parameters. */
	public record Parameters(List<State> parameters) {

	}

	/** A parameter, its history, and why the history cannot be read. */
	public record Details(State parameter, List<Change> history, @Nullable String historyProblem) {

	}

	/** The version of a change. */
	public record Version(long version) {

	}

	/** A change with its author and condition. */
	private interface Operation {

		long apply(ClusterParameters parameters, Update update);

	}

}
