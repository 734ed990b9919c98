package io.github.shardkeeper.sls;

import java.util.concurrent.TimeUnit;

import com.aliyun.openservices.log.http.client.ClientConfiguration;
import com.aliyun.openservices.log.http.comm.DefaultServiceClient;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.core5.http.io.SocketConfig;

/**
 * HTTP connections of the vendor's client, with verification of certificates and host
 * names: its own accept every certificate, so that anybody on the way could read and
 * reply to the requests. Thread-safe.
 */
final class VerifyingServiceClient extends DefaultServiceClient {

	VerifyingServiceClient(ClientConfiguration configuration) {
		super(configuration);
	}

	/** Called by the constructor of the superclass. */
	@Override
	protected PoolingHttpClientConnectionManager createHttpClientConnectionManager() {
		return PoolingHttpClientConnectionManagerBuilder.create()
			.setMaxConnPerRoute(this.config.getMaxConnections())
			.setMaxConnTotal(this.config.getMaxConnections())
			.setDefaultSocketConfig(SocketConfig.custom()
				.setSoTimeout(this.config.getSocketTimeout(), TimeUnit.MILLISECONDS)
				.setTcpNoDelay(true)
				.build())
			.setDefaultConnectionConfig(ConnectionConfig.custom()
				.setConnectTimeout(this.config.getConnectionTimeout(), TimeUnit.MILLISECONDS)
				.setSocketTimeout(this.config.getSocketTimeout(), TimeUnit.MILLISECONDS)
				.setValidateAfterInactivity(this.config.getValidateAfterInactivity(), TimeUnit.MILLISECONDS)
				.build())
			.build();
	}

}
