package io.github.shardkeeper.dashboard;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;

/**
 * Request whose body cannot be read beyond a bound, also if its length was not announced.
 * Confined to the request's threads.
 */
final class BoundedRequest extends HttpServletRequestWrapper {

	private final int mostBytes;

	BoundedRequest(HttpServletRequest request, int mostBytes) {
		super(request);
		this.mostBytes = mostBytes;
	}

	@Override
	public ServletInputStream getInputStream() throws IOException {
		return new BoundedStream(super.getInputStream(), this.mostBytes);
	}

	@Override
	public BufferedReader getReader() throws IOException {
		String encoding = getCharacterEncoding();
		return new BufferedReader(new InputStreamReader(getInputStream(),
				(encoding != null) ? Charset.forName(encoding) : StandardCharsets.UTF_8));
	}

	private static final class BoundedStream extends ServletInputStream {

		private final ServletInputStream body;

		private long left;

		BoundedStream(ServletInputStream body, long left) {
			this.body = body;
			this.left = left;
		}

		@Override
		public int read() throws IOException {
			int read = this.body.read();
			count((read >= 0) ? 1 : 0);
			return read;
		}

		@Override
		public int read(byte[] buffer, int offset, int length) throws IOException {
			int read = this.body.read(buffer, offset, length);
			count(read);
			return read;
		}

		private void count(int read) throws IOException {
			this.left -= Math.max(0, read);
			if (this.left < 0) {
				throw new IOException(ActRequests.TOO_LARGE);
			}
		}

		@Override
		public boolean isFinished() {
			return this.body.isFinished();
		}

		@Override
		public boolean isReady() {
			return this.body.isReady();
		}

		@Override
		public void setReadListener(ReadListener listener) {
			this.body.setReadListener(listener);
		}

	}

}
