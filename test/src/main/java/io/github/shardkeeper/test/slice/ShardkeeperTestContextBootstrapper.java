package io.github.shardkeeper.test.slice;

import org.springframework.boot.test.autoconfigure.TestSliceTestContextBootstrapper;

/** Bootstrapper that reads the properties of {@link ShardkeeperTest}. */
final class ShardkeeperTestContextBootstrapper extends TestSliceTestContextBootstrapper<ShardkeeperTest> {

}
