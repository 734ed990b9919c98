package io.github.shardkeeper.operations.reporting;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.store.GroupDiagnostics;
import io.github.shardkeeper.coordination.store.GroupDiagnostics.Kind;
import io.github.shardkeeper.protocol.MemberProblems;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.text.PrintableText;

/**
 * Problems that the members of a group share. Immutable.
 *
 * @param texts the problems by shard, each told by its owner
 * @param incomplete why some are missing; {@code null} if none are
 */
record SharedProblems(Map<ShardId, String> texts, @Nullable String incomplete) {

	/** Number of members whose texts are read at once: at most some megabytes. */
	private static final int READ_AT_ONCE = 50;

	/** Number of characters after which no more texts are read. */
	private static final int MOST_CHARACTERS = 2_000_000;

	private static final int MOST_NAMED = 3;

	/** Reads what the current members share. What others have left there is ignored. */
	static SharedProblems read(GroupDiagnostics diagnostics, GroupSnapshot group) {
		Map<ShardId, String> texts = new HashMap<>();
		List<String> missing = new ArrayList<>();
		List<String> members = group.members().stream().map((member) -> member.id().value()).sorted().toList();
		int characters = 0;
		try {
			for (int from = 0; from < members.size(); from += READ_AT_ONCE) {
				List<String> some = members.subList(from, Math.min(from + READ_AT_ONCE, members.size()));
				if (characters > MOST_CHARACTERS) {
					missing.add("%d members have too many".formatted(members.size() - from));
					break;
				}
				for (Map.Entry<String, String> entry : diagnostics.read(Kind.PROBLEMS, some).entrySet()) {
					characters += entry.getValue().length();
					add(new MemberId(entry.getKey()), entry.getValue(), group, texts, missing);
				}
			}
		}
		catch (StoreUnavailableException ex) {
			missing.add(PrintableText.of(String.valueOf(ex.getMessage()), MemberProblems.LONGEST_PROBLEM));
		}
		return new SharedProblems(texts, missing.isEmpty() ? null : sentence(missing));
	}

	private static void add(MemberId member, String text, GroupSnapshot group, Map<ShardId, String> texts,
			List<String> missing) {
		MemberProblems problems;
		try {
			problems = MemberProblems.parse(text);
		}
		catch (IllegalArgumentException ex) {
			missing.add("what %s has written cannot be read".formatted(member));
			return;
		}
		if (problems.more() > 0) {
			missing.add("%s has %d more".formatted(member, problems.more()));
		}
		problems.texts().forEach((shard, problem) -> {
			Ownership ownership = group.shards().get(shard);
			// A shard that has moved since has left its problem behind.
			if (ownership != null && member.equals(ownership.owner())) {
				texts.put(shard, problem);
			}
		});
	}

	private static String sentence(List<String> missing) {
		return "Some problems of shards are not known: "
				+ missing.stream().limit(MOST_NAMED).collect(Collectors.joining("; "))
				+ ((missing.size() > MOST_NAMED) ? "; and more" : "");
	}

}
