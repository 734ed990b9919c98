package io.github.shardkeeper.assignment;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiPredicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Draft.Step;
import io.github.shardkeeper.shard.ApplicationVersion;

/**
 * Shares shards out while members of several versions are there: older ones are about to
 * go, and what they hold must move anyway. So, for each topic,
 * <ul>
 * <li>unowned shards go to its newest subscribers, the least loaded first;</li>
 * <li>its newest subscribers get their share from older ones: shards move from old to new
 * until no older member carries two more than one of them;</li>
 * <li>members of the newest version even out among themselves only what would have to
 * move if all older members had gone.</li>
 * </ul>
 * Nothing else moves, so older members are not balanced, and get nothing. The exception:
 * a new member that carries twice an even share takes no unowned shard; they go to the
 * least loaded subscriber then. Otherwise the first new one would carry all while many
 * old ones go. Confined to its thread.
 */
final class Rollout {

	private static final int MOST_EVEN_SHARES = 2;

	private final Draft draft;

	private final ApplicationVersion newest;

	private final Map<String, Subscribers> topics = new HashMap<>();

	Rollout(Draft draft) {
		this.draft = draft;
		this.newest = newest(draft.members().stream().map(Assignee::version).toList());
	}

	static boolean isUnderWay(AssignmentRequest request) {
		List<ApplicationVersion> versions = request.members().stream().map(Assignee::version).toList();
		return versions.stream().anyMatch((version) -> version.compareTo(versions.get(0)) != 0);
	}

	private static ApplicationVersion newest(Collection<ApplicationVersion> versions) {
		return versions.isEmpty() ? ApplicationVersion.UNKNOWN : Collections.max(versions);
	}

	void share() {
		Map<String, List<Integer>> unowned = new TreeMap<>();
		this.draft.unowned()
			.forEach((shard) -> unowned.computeIfAbsent(this.draft.topic(shard), (t) -> new ArrayList<>()).add(shard));
		unowned.forEach(this::place);
		boolean moved = true;
		while (moved) {
			Optional<Step> step = nextStep(this::mustLose).or(() -> nextStep(this::hasTooMuch));
			step.ifPresent((found) -> this.draft.move(found, Reason.NEWER_VERSION));
			moved = step.isPresent();
		}
	}

	private void place(String topic, List<Integer> unowned) {
		Subscribers subscribers = subscribers(topic);
		int evenShare = roundedUp(this.draft.load(subscribers.all) + unowned.size(), subscribers.all.size());
		for (Integer shard : unowned) {
			Integer member = leastLoaded(subscribers.newest);
			if (member != null && this.draft.load(member) >= MOST_EVEN_SHARES * evenShare) {
				member = leastLoaded(subscribers.all);
			}
			if (member != null) {
				this.draft.give(shard, member, Reason.PLACED);
			}
		}
	}

	private @Nullable Integer leastLoaded(Collection<Integer> members) {
		return this.draft.byLoad().stream().filter(members::contains).findFirst().orElse(null);
	}

	/** One that evens loads out, from the heaviest member that may give something. */
	private Optional<Step> nextStep(BiPredicate<Integer, String> mayGive) {
		for (Integer heavy : this.draft.byLoad().descendingSet()) {
			Set<String> topics = new TreeSet<>(this.draft.topics(heavy));
			topics.removeIf((topic) -> !mayGive.test(heavy, topic));
			for (Integer light : topics.isEmpty() ? Set.<Integer>of() : this.draft.byLoad()) {
				if (this.draft.load(heavy) - this.draft.load(light) < 2) {
					break;
				}
				String movable = this.draft.movableTopic(heavy, light,
						(topic) -> topics.contains(topic) && subscribers(topic).newest.contains(light));
				if (movable != null) {
					return Optional.of(new Step(heavy, light, movable));
				}
			}
		}
		return Optional.empty();
	}

	private boolean mustLose(Integer member, String topic) {
		return !subscribers(topic).newest.contains(member);
	}

	private boolean hasTooMuch(Integer member, String topic) {
		if (!isNewest(member)) {
			return false;
		}
		Subscribers subscribers = subscribers(topic);
		int withoutOld = this.draft.load(subscribers.newest);
		for (Integer other : subscribers.all) {
			withoutOld += subscribers.newest.contains(other) ? 0 : this.draft.load(other, topic);
		}
		return this.draft.load(member) > roundedUp(withoutOld, subscribers.newest.size());
	}

	private boolean isNewest(Integer member) {
		return version(member).compareTo(this.newest) == 0;
	}

	private ApplicationVersion version(int member) {
		return this.draft.members().get(member).version();
	}

	private Subscribers subscribers(String topic) {
		return this.topics.computeIfAbsent(topic, (t) -> {
			SortedSet<Integer> all = IntStream.range(0, this.draft.members().size())
				.boxed()
				.collect(Collectors.toCollection(TreeSet::new));
			all.removeIf((member) -> !this.draft.subscribes(member, topic));
			ApplicationVersion newestOfAll = newest(all.stream().map(this::version).toList());
			SortedSet<Integer> newestOnly = new TreeSet<>(all);
			newestOnly.removeIf((member) -> version(member).compareTo(newestOfAll) != 0);
			return new Subscribers(all, newestOnly);
		});
	}

	private static int roundedUp(int shards, int members) {
		return (members == 0) ? 0 : (shards + members - 1) / members;
	}

	/**
	 * Who consumes a topic, and who of them runs the newest version.
	 */
	private record Subscribers(Collection<Integer> all, Collection<Integer> newest) {

	}

}
