/**
 * What tests of applications and of sources need: a Redis for a test, a network with
 * faults, and the contract that every source passes. Not for use in production.
 */
package io.github.shardkeeper.test;
