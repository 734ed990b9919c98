package io.github.shardkeeper.dashboard;

import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;

/**
 * Passes the CSRF token of Spring Security on to the page, in response headers that only
 * scripts of the same origin can read. Spring Security need not be there. Thread-safe.
 */
final class CsrfHeaders {

	/** Name of the header that the token is expected in. */
	private static final String NAME = "X-Shardkeeper-Csrf-Header";

	private static final String TOKEN = "X-Shardkeeper-Csrf-Token";

	private CsrfHeaders() {
	}

	/**
	 * Adds the headers.
	 * @param token a {@code CsrfToken}; {@code null} if there is none
	 */
	static void add(@Nullable Object token, BiConsumer<String, String> header) {
		if (token != null) {
			BeanWrapper properties = PropertyAccessorFactory.forBeanPropertyAccess(token);
			header.accept(NAME, String.valueOf(properties.getPropertyValue("headerName")));
			header.accept(TOKEN, String.valueOf(properties.getPropertyValue("token")));
		}
	}

}
