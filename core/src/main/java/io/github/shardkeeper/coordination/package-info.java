/**
 * A member of a group as a whole: {@code ShardCoordinator} is what other packages use,
 * {@code CoordinatorLoop} runs the machines of {@code protocol} and tells their drivers
 * what has happened, and {@code SettingsAgreement} lets an instance in. What one driver
 * does belongs in {@code member} or {@code leader}.
 */
@Internal
@NullMarked
package io.github.shardkeeper.coordination;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
