/**
 * Source of shards without records: a count, a list of names, or names that the
 * application provides and changes. Does not belong here: schedules, handlers, records.
 */
@NullMarked
package io.github.shardkeeper.source.fixed;

import org.jspecify.annotations.NullMarked;
