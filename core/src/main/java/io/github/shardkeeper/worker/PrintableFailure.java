package io.github.shardkeeper.worker;

import java.io.PrintWriter;
import java.io.Writer;

/**
 * Replaces a failure of the application that cannot be printed, because its
 * {@code getMessage()} throws, for example: logging or storing it would fail, too.
 */
final class PrintableFailure extends RuntimeException {

	private PrintableFailure(Throwable failure, Throwable printing) {
		super("A %s, which cannot be printed: that throws a %s".formatted(failure.getClass().getName(),
				printing.getClass().getName()));
	}

	/** Returns the failure, or a replacement if it cannot be printed. */
	static Throwable of(Throwable failure) {
		try {
			failure.printStackTrace(new PrintWriter(Writer.nullWriter()));
			return failure;
		}
		catch (Throwable ex) {
			PrintableFailure substitute = new PrintableFailure(failure, ex);
			substitute.setStackTrace(ex.getStackTrace());
			return substitute;
		}
	}

}
