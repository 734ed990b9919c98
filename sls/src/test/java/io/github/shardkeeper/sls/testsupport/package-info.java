/** A server that tests use in place of SLS. */
package io.github.shardkeeper.sls.testsupport;
