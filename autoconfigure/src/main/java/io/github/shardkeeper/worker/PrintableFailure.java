package io.github.shardkeeper.worker;

import java.io.PrintWriter;
import java.io.Writer;

/**
 * Stands for what the application has thrown, if that cannot even be printed: its
 * {@code getMessage()} throws, say. Whoever logs or stores it would fail in its place.
 */
final class PrintableFailure extends RuntimeException {

	private PrintableFailure(Throwable failure, Throwable printing) {
		super("A %s, which cannot be printed: that throws a %s".formatted(failure.getClass().getName(),
				printing.getClass().getName()));
	}

	/** What was thrown, or what stands for it. */
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
