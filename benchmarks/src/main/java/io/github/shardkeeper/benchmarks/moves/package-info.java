/**
 * Effects on handlers when instances come, go, die and freeze: instances are processes of
 * their own, each writes down every record that it handles.
 */
package io.github.shardkeeper.benchmarks.moves;
