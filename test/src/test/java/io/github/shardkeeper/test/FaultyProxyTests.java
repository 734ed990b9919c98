package io.github.shardkeeper.test;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.test.Disturbance.Role;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class FaultyProxyTests {

	private final FaultyProxy proxy = new FaultyProxy(EmbeddedRedis.shared().port(), "{group}");

	private Client plain;

	private Client subscribed;

	@BeforeEach
	void connect() throws IOException {
		this.plain = new Client(this.proxy.port());
		this.subscribed = new Client(this.proxy.port());
		assertThat(this.plain.ask("PING")).isEqualTo("+PONG");
		this.subscribed.send("*2", "$9", "SUBSCRIBE", "$1", "c");
		assertThat(this.subscribed.lines(6)).endsWith(":1");
	}

	@AfterEach
	void close() throws IOException {
		this.plain.close();
		this.subscribed.close();
		this.proxy.close();
	}

	@Test
	void resetsAllConnectionsAndNewOnes() throws IOException {
		this.proxy.disturb(Disturbance.refuse(Disturbance.ALL));
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> this.plain.ask("PING"));
		assertThatExceptionOfType(IOException.class).isThrownBy(this.subscribed::line);
		try (Client another = new Client(this.proxy.port())) {
			assertThatExceptionOfType(IOException.class).isThrownBy(() -> another.ask("PING"));
		}
		this.proxy.heal();
		try (Client another = new Client(this.proxy.port())) {
			assertThat(another.ask("PING")).isEqualTo("+PONG");
		}
		assertThat(this.proxy.connections()).isLessThanOrEqualTo(1);
	}

	@Test
	void resetsTheSubscriptionAlone() throws IOException {
		this.proxy.disturb(Disturbance.refuse(Set.of(Role.SUBSCRIPTION)));
		assertThatExceptionOfType(IOException.class).isThrownBy(this.subscribed::line);
		assertThat(this.plain.ask("PING")).isEqualTo("+PONG");
		try (Client another = new Client(this.proxy.port())) {
			assertThat(another.ask("PING")).isEqualTo("+PONG");
			another.send("*2", "$9", "SUBSCRIBE", "$1", "c");
			assertThatExceptionOfType(IOException.class).isThrownBy(another::line);
		}
	}

	@Test
	void resetsTheDataAlone() throws IOException {
		this.proxy.disturb(Disturbance.refuse(Set.of(Role.DATA)));
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> this.plain.ask("PING"));
		assertThat(this.subscribed.ask("PING")).isEqualTo("*2");
	}

	@Test
	void resetsTheControlPlaneAlone() throws IOException {
		try (Client control = new Client(this.proxy.port())) {
			assertThat(control.ask("EXISTS a:{group}")).isEqualTo(":0");
			this.proxy.disturb(Disturbance.refuse(Set.of(Role.CONTROL)));
			assertThatExceptionOfType(IOException.class).isThrownBy(() -> control.ask("PING"));
			assertThat(this.plain.ask("PING")).isEqualTo("+PONG");
			assertThatExceptionOfType(IOException.class).isThrownBy(() -> this.plain.ask("EXISTS a:{group}"));
			assertThat(this.subscribed.ask("PING")).isEqualTo("*2");
		}
	}

	@Test
	void heldDataArrivesLater() throws IOException {
		this.proxy.disturb(Disturbance.hold(Set.of(Role.DATA)));
		this.plain.send("PING");
		assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(() -> this.plain.lineWithin(200));
		assertThat(this.subscribed.ask("PING")).isEqualTo("*2");
		this.proxy.heal();
		assertThat(this.plain.line()).isEqualTo("+PONG");
	}

	@Test
	void endOfAConnectionIsHeld() throws IOException {
		this.proxy.disturb(Disturbance.hold(Set.of(Role.SUBSCRIPTION)));
		this.subscribed.close();
		assertThat(this.plain.ask("PUBLISH c x")).isEqualTo(":1");
		this.proxy.heal();
		Awaitility.await().atMost(Duration.ofSeconds(5)).until(() -> this.plain.ask("PUBLISH c x").equals(":0"));
	}

	@Test
	void delaysBothWays() throws IOException {
		this.proxy.disturb(Disturbance.delay(Duration.ofMillis(100)));
		long begin = System.nanoTime();
		assertThat(this.plain.ask("PING")).isEqualTo("+PONG");
		assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(Duration.ofMillis(200));
	}

	@Test
	void unavailableRedisResetsConnections() throws IOException {
		try (EmbeddedRedis away = EmbeddedRedis.start(); FaultyProxy toAway = new FaultyProxy(away.port(), "{group}")) {
			away.kill();
			try (Client client = new Client(toAway.port())) {
				assertThatExceptionOfType(IOException.class).isThrownBy(() -> client.ask("PING"));
			}
		}
	}

	/** Speaks Redis' protocol by hand. */
	private static final class Client implements AutoCloseable {

		private final Socket socket;

		private final BufferedReader replies;

		Client(int port) throws IOException {
			this.socket = new Socket(InetAddress.getLoopbackAddress(), port);
			this.replies = new BufferedReader(
					new InputStreamReader(this.socket.getInputStream(), StandardCharsets.US_ASCII));
		}

		void send(String... lines) throws IOException {
			this.socket.getOutputStream()
				.write((String.join("\r\n", lines) + "\r\n").getBytes(StandardCharsets.US_ASCII));
		}

		String ask(String command) throws IOException {
			send(command);
			return line();
		}

		/** The next line of the reply; an end is a failure too. */
		String line() throws IOException {
			return lineWithin(5000);
		}

		String lineWithin(int millis) throws IOException {
			this.socket.setSoTimeout(millis);
			String line = this.replies.readLine();
			if (line == null) {
				throw new IOException("The connection was closed");
			}
			return line;
		}

		String lines(int count) throws IOException {
			StringBuilder lines = new StringBuilder();
			for (int i = 0; i < count; i++) {
				lines.append(line());
			}
			return lines.toString();
		}

		@Override
		public void close() throws IOException {
			this.socket.close();
		}

	}

}
