package io.github.shardkeeper.operations.request;

import java.util.Arrays;
import java.util.function.Function;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Names;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.text.PrintableText;

/**
 * Selection of the shards of a group, and the page to return. A {@code null} selects all.
 * Immutable.
 *
 * @param topic the topic
 * @param member the id of a member or an instance that owns the shard or is its target
 * @param state the state
 * @param problem whether the shard has a problem
 * @param after the shard after which the page begins
 * @param limit maximum number of shards of the page, 0 to {@link #MAX_LIMIT}
 * @param deadLetters whether to count the dead letters of the shards of the page
 */
public record ShardQuery(@Nullable String topic, @Nullable String member, @Nullable Phase state,
		@Nullable Boolean problem, @Nullable ShardId after, int limit, boolean deadLetters) {

	/** Maximum number of shards of a page. */
	public static final int MAX_LIMIT = 1_000;

	/** Number of shards of a page unless the query says something else. */
	public static final int DEFAULT_LIMIT = 100;

	/** The first page of all shards. */
	public static final ShardQuery FIRST_PAGE = new ShardQuery(null, null, null, null, null, DEFAULT_LIMIT, false);

	private static final int LONGEST_QUOTATION = 120;

	/**
	 * Parses a query.
	 * @throws IllegalArgumentException if a part is malformed; the message says what it
	 * should be
	 */
	public static ShardQuery parse(@Nullable String topic, @Nullable String member, @Nullable String state,
			@Nullable String problem, @Nullable String after, @Nullable String limit, @Nullable String deadLetters) {
		if (topic != null && !Names.isValid(topic)) {
			throw malformed("topic", topic, "the name of a topic");
		}
		Integer number = parsed("limit", limit, Integer::valueOf, "a number from 0 to " + MAX_LIMIT);
		if (number != null && (number < 0 || number > MAX_LIMIT)) {
			throw malformed("limit", number.toString(), "a number from 0 to " + MAX_LIMIT);
		}
		return new ShardQuery(topic,
				parsed("member", member, ShardQuery::member, "the id of a member or of an instance"),
				parsed("state", state, Phase::valueOf,
						"one of " + Arrays.stream(Phase.values()).map(Phase::name).collect(Collectors.joining(", "))),
				parsed("problem", problem, ShardQuery::flag, "true or false"),
				parsed("after", after, ShardId::parse, "a shard, written topic/id, as in the 'next' of a reply"),
				(number != null) ? number : DEFAULT_LIMIT,
				Boolean.TRUE.equals(parsed("deadLetters", deadLetters, ShardQuery::flag, "true or false")));
	}

	private static <T> @Nullable T parsed(String name, @Nullable String text, Function<String, T> parser,
			String expected) {
		try {
			return (text != null) ? parser.apply(text) : null;
		}
		catch (IllegalArgumentException ex) {
			throw malformed(name, text, expected);
		}
	}

	private static String member(String text) {
		return Names.isValid(text) ? text : new MemberId(text).value();
	}

	private static Boolean flag(String text) {
		return switch (text) {
			case "true" -> true;
			case "false" -> false;
			default -> throw new IllegalArgumentException(text);
		};
	}

	private static IllegalArgumentException malformed(String name, @Nullable String text, String expected) {
		return new IllegalArgumentException(
				"'%s' is '%s', but must be %s".formatted(name, quoted(String.valueOf(text)), expected));
	}

	/** Returns what a caller has sent, fit for a message. */
	public static String quoted(String text) {
		return PrintableText.quoted(text, LONGEST_QUOTATION);
	}

	/** Returns the same query for one topic. */
	public ShardQuery of(String onlyTopic) {
		return new ShardQuery(onlyTopic, this.member, this.state, this.problem, this.after, this.limit,
				this.deadLetters);
	}

	public boolean matches(Ownership ownership, boolean hasProblem) {
		return (this.topic == null || this.topic.equals(ownership.shard().topic()))
				&& (this.state == null || this.state == ownership.phase())
				&& (this.problem == null || this.problem == hasProblem)
				&& (this.member == null || isMember(ownership.owner()) || isMember(ownership.target()));
	}

	/** Returns whether the query is about a member. */
	public boolean isMember(@Nullable MemberId id) {
		return this.member != null && id != null
				&& (this.member.equals(id.value()) || this.member.equals(id.instance()));
	}

}
