package io.github.shardkeeper.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.validation.Validator;

/**
 * The application's validator, as Spring Messaging wants it.
 *
 * @param adapter the validator, {@code null} when there is none
 */
record PayloadValidator(@Nullable Validator adapter) {

}
