/**
 * One shard, from its acquisition to its last commit. Which shards there are, and the
 * threads, belong to {@code consumer}; how a handler's method is called, to
 * {@code handler}.
 * <p>
 * To follow a record, read in this order: {@code ShardWorker} and its
 * {@code ShardAcquisition}, {@code ShardOwnership}, {@code RecordLoop},
 * {@code RecordIntake}, {@code DeliveryOrder}, {@code DeliveryCalls},
 * {@code DeliveryResults}, {@code ShardProgress}, {@code ShardCommits}.
 */
@NullMarked
package io.github.shardkeeper.worker;

import org.jspecify.annotations.NullMarked;
