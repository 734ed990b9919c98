package io.github.shardkeeper.jdbc;

import java.sql.SQLException;
import java.util.Set;

import org.h2.api.ErrorCode;

import com.zaxxer.hikari.SQLExceptionOverride;

/**
 * Tells HikariCP which failures of H2 mean that a connection is closed. HikariCP does not
 * know them, and checks no connection that was used within the last half second: an
 * application that repeats its calls faster would get the same one for ever. Has no
 * state.
 */
public final class EvictedH2Connections implements SQLExceptionOverride {

	private static final Set<Integer> CLOSED = Set.of(ErrorCode.CONNECTION_BROKEN_1, ErrorCode.DATABASE_IS_CLOSED,
			ErrorCode.DATABASE_CALLED_AT_SHUTDOWN, ErrorCode.OBJECT_CLOSED);

	@java.lang.Override
	public Override adjudicate(SQLException failure) {
		return CLOSED.contains(failure.getErrorCode()) ? Override.MUST_EVICT : Override.CONTINUE_EVICT;
	}

}
