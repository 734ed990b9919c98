/**
 * Records through one instance: how many are sent and handled per second, and how long
 * one takes.
 */
package io.github.shardkeeper.benchmarks.records;
