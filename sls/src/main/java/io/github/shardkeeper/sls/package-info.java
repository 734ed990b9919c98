/**
 * Aliyun LogHub (SLS) as a source: a topic is a logstore, a record is a log. Contains the
 * calls of the vendor's client, the shards of logstores, reading and appending. What a
 * group stores about records does not belong here, nor does any wiring.
 */
@Internal
@NullMarked
package io.github.shardkeeper.sls;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
