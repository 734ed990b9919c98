package io.github.shardkeeper.handover;

/**
 * The time over which a leader may judge the silence of others, in milliseconds of the
 * store's time. Immutable.
 *
 * @param sinceMillis since when its own heartbeats were answered without a gap, and the
 * store's clock made no step; silence before that proves nothing
 * @param untilMillis what the store's clock shows by the leader's own clock: if it shows
 * more, it has perhaps just made a step, and nobody is judged by that
 * @param setBacks how often the store's clock was set back, as far as the leader knows;
 * after another time nobody is judged until the leader has heard of it
 */
public record SteadyTime(long sinceMillis, long untilMillis, long setBacks) {

}
