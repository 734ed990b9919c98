package io.github.shardkeeper.autoconfigure.group;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.health.contributor.CompositeHealthContributor;
import org.springframework.boot.health.contributor.HealthContributor;
import org.springframework.boot.health.contributor.HealthContributors;
import org.springframework.boot.health.contributor.HealthIndicator;

import io.github.shardkeeper.actuate.GroupBeans;

/** One health indicator of each group with a name. Thread-safe. */
final class GroupsHealth implements CompositeHealthContributor {

	private final GroupBeans groups;

	private final Class<? extends HealthIndicator> type;

	GroupsHealth(GroupBeans groups, Class<? extends HealthIndicator> type) {
		this.groups = groups;
		this.type = type;
	}

	@Override
	public @Nullable HealthContributor getContributor(String name) {
		return this.groups.ofType(this.type).get(name);
	}

	@Override
	public Stream<HealthContributors.Entry> stream() {
		List<HealthContributors.Entry> entries = new ArrayList<>();
		this.groups.ofType(this.type)
			.forEach((group, indicator) -> entries.add(new HealthContributors.Entry(group, indicator)));
		return entries.stream();
	}

}
