package io.github.shardkeeper.report;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * A shard as it was a moment ago. Immutable.
 *
 * @param topic its topic
 * @param id its id within the topic
 * @param state {@code FREE}, {@code OWNED}, {@code REVOKING}, {@code QUIET} or
 * {@code COMPLETED}
 * @param owner the owner's id
 * @param target who gets it after a move that goes on
 * @param token the owner's token, or the last one's
 * @param offset the committed offset, {@code null} before the first, and where it cannot
 * be read
 * @param since when the state or owner changed last, by the store's clock
 * @param problem what keeps this instance from consuming it, or why its offset cannot be
 * read; {@code null} for neither, also when another instance has a problem with it
 * @param why why it is where it is, or goes where it goes, {@code null} when this
 * instance does not lead
 */
public record ShardReport(String topic, String id, String state, @Nullable String owner, @Nullable String target,
		long token, @Nullable String offset, Instant since, @Nullable String problem, @Nullable String why) {

}
