package io.github.shardkeeper.endtoend;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;

import io.github.shardkeeper.sls.testsupport.SlsTestServer;
import io.github.shardkeeper.test.EmbeddedGroup;

@Tag("proof")
class FourShardsOnSlsTests extends FourShardsContract {

	private final SlsTestServer server = new SlsTestServer();

	@AfterEach
	void stopServer() {
		this.server.close();
	}

	@Override
	String[] source(EmbeddedGroup group) {
		this.server.allow("id", "secret");
		this.server.createLogstore("shop-orders", 4);
		return new String[] { "shardkeeper.topics.orders.source=sls",
				"shardkeeper.sls.endpoint=" + SlsTestServer.ENDPOINT,
				"shardkeeper.sls.project=" + SlsTestServer.PROJECT, "shardkeeper.sls.proxy=" + this.server.proxy(),
				"shardkeeper.sls.access-key-id=id", "shardkeeper.sls.access-key-secret=secret",
				"shardkeeper.sls.topics.orders.logstore=shop-orders", "shardkeeper.sls.poll-interval=50ms" };
	}

}
