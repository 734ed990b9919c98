package io.github.shardkeeper.actuate;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;

import io.github.shardkeeper.text.PrintableText;

/**
 * What an endpoint uses of each group of the application: the group without a name in
 * {@code shardkeeper.groups}, and those that have one. Thread-safe.
 *
 * @param <T> the type of what it uses
 */
public final class EndpointGroups<T> {

	private static final int LONGEST_QUOTATION = 120;

	private final Map<String, T> own;

	private final Supplier<Map<String, T>> named;

	/**
	 * Creates the groups.
	 * @param own that of the group without a name, by the name of the group; may be empty
	 * @param named returns those of the groups with a name
	 */
	public EndpointGroups(Map<String, T> own, Supplier<Map<String, T>> named) {
		this.own = Map.copyOf(own);
		this.named = named;
	}

	/** Returns those of all groups, that of the group without a name first. */
	List<T> all() {
		return List.copyOf(byName().values());
	}

	/**
	 * Returns that of a group.
	 * @param group the name of the group; {@code null} for the one without a name, or
	 * else for the only one
	 * @throws InvalidEndpointRequestException if there is no such group, or none was
	 * named where there are several
	 */
	T get(@Nullable String group) {
		Map<String, T> groups = byName();
		if (group == null && (!this.own.isEmpty() || groups.size() == 1)) {
			return groups.values().iterator().next();
		}
		T found = (group != null) ? groups.get(group) : null;
		if (found == null) {
			String reason = (group == null) ? "'group' is missing; the groups are " + groups.keySet()
					: "There is no group '%s'; the groups are %s"
						.formatted(PrintableText.quoted(group, LONGEST_QUOTATION), groups.keySet());
			throw new InvalidEndpointRequestException(reason, reason);
		}
		return found;
	}

	private Map<String, T> byName() {
		Map<String, T> groups = new LinkedHashMap<>(this.own);
		groups.putAll(this.named.get());
		return groups;
	}

}
