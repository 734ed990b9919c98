package io.github.shardkeeper.sls;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.HashMap;
import java.util.concurrent.atomic.AtomicInteger;

import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

import com.aliyun.openservices.log.http.client.ClientConfiguration;
import com.aliyun.openservices.log.http.client.HttpMethod;
import com.aliyun.openservices.log.http.comm.DefaultServiceClient;
import com.aliyun.openservices.log.http.comm.ServiceClient;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.github.shardkeeper.sls.testsupport.SlsTestServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A server whose certificate nobody has signed. */
class VerifyingServiceClientTests {

	private static final String PASSWORD = "changeit";

	static {
		// The JDK reads it once, with the first server of the JVM.
		SlsTestServer.answerWithoutDelay();
	}

	private final AtomicInteger requests = new AtomicInteger();

	private HttpsServer server;

	@BeforeEach
	void start(@TempDir Path directory) throws Exception {
		Path keyStore = directory.resolve("server.p12");
		Process keytool = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
				"-genkeypair", "-keystore", keyStore.toString(), "-storetype", "PKCS12", "-storepass", PASSWORD,
				"-alias", "server", "-keyalg", "EC", "-dname", "CN=localhost", "-ext", "SAN=dns:localhost")
			.redirectErrorStream(true)
			.start();
		String output = new String(keytool.getInputStream().readAllBytes());
		assertThat(keytool.waitFor()).as(output).isZero();
		KeyStore store = KeyStore.getInstance("PKCS12");
		try (InputStream in = Files.newInputStream(keyStore)) {
			store.load(in, PASSWORD.toCharArray());
		}
		KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
		keys.init(store, PASSWORD.toCharArray());
		SSLContext context = SSLContext.getInstance("TLS");
		context.init(keys.getKeyManagers(), null, null);
		this.server = HttpsServer.create(new InetSocketAddress(InetAddress.getByName("localhost"), 0), 0);
		this.server.setHttpsConfigurator(new HttpsConfigurator(context));
		this.server.createContext("/", (exchange) -> {
			this.requests.incrementAndGet();
			exchange.sendResponseHeaders(200, -1);
			exchange.close();
		});
		this.server.start();
	}

	@AfterEach
	void stop() {
		this.server.stop(0);
	}

	@Test
	void certificateIsVerified() {
		VerifyingServiceClient client = new VerifyingServiceClient(new ClientConfiguration());

		assertThatExceptionOfType(Exception.class).isThrownBy(() -> client.sendRequestCore(request(), "UTF-8"))
			.withMessageContaining("certification path");
		assertThat(this.requests).hasValue(0);
		client.shutdown();
	}

	/**
	 * Shows that the server replies to a client that trusts it, and why the class exists.
	 */
	@Test
	void connectionsOfTheVendorAcceptAnyCertificate() throws Exception {
		DefaultServiceClient client = new DefaultServiceClient(new ClientConfiguration());
		client.sendRequestCore(request(), "UTF-8");

		assertThat(this.requests).hasValue(1);
		client.shutdown();
	}

	private ServiceClient.Request request() throws IOException {
		ServiceClient.Request request = new ServiceClient.Request();
		request.setMethod(HttpMethod.GET);
		request.setHeaders(new HashMap<>());
		request.setUrl("https://localhost:" + this.server.getAddress().getPort() + "/");
		return request;
	}

}
