package io.github.shardkeeper.sls;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

import com.aliyun.openservices.log.common.auth.CredentialsProvider;
import com.aliyun.openservices.log.common.auth.DefaultCredentials;
import com.aliyun.openservices.log.common.auth.StaticCredentialsProvider;

import io.github.shardkeeper.sls.testsupport.SlsTestServer;
import io.github.shardkeeper.source.ResetPolicy;

/** Settings of sources on a test server, with short intervals. */
final class TestSource {

	static final String ACCESS_KEY_ID = "LTAItestkey";

	static final String SECRET = "s3cr3t-of-the-test";

	private String project = SlsTestServer.PROJECT;

	private int fetchCount = 1000;

	private int threads = 4;

	private Duration timeout = Duration.ofSeconds(10);

	private Duration pollInterval = Duration.ofMillis(50);

	private Duration shardListInterval = Duration.ofMillis(100);

	private String region;

	private String consumerGroup;

	private final Map<String, SlsSettings.Logstore> topics = new LinkedHashMap<>();

	private final SlsTestServer server;

	TestSource(SlsTestServer server) {
		this.server = server;
		server.allow(ACCESS_KEY_ID, SECRET);
	}

	static CredentialsProvider credentials() {
		return new StaticCredentialsProvider(new DefaultCredentials(ACCESS_KEY_ID, SECRET));
	}

	TestSource topic(String topic) {
		return topic(topic, topic, null, ResetPolicy.EARLIEST);
	}

	TestSource topic(String topic, String logstore, String keyField, ResetPolicy reset) {
		this.topics.put(topic, new SlsSettings.Logstore(logstore, keyField, reset));
		return this;
	}

	TestSource project(String name) {
		this.project = name;
		return this;
	}

	TestSource fetchCount(int count) {
		this.fetchCount = count;
		return this;
	}

	TestSource pollInterval(Duration interval) {
		this.pollInterval = interval;
		return this;
	}

	TestSource shardListInterval(Duration interval) {
		this.shardListInterval = interval;
		return this;
	}

	TestSource threads(int count) {
		this.threads = count;
		return this;
	}

	TestSource timeout(Duration limit) {
		this.timeout = limit;
		return this;
	}

	TestSource region(String name) {
		this.region = name;
		return this;
	}

	TestSource consumerGroup(String name) {
		this.consumerGroup = name;
		return this;
	}

	SlsSettings settings() {
		return new SlsSettings(SlsTestServer.ENDPOINT, this.project, this.topics, this.pollInterval,
				this.shardListInterval, this.fetchCount, this.threads, this.timeout, this.region, this.server.proxy(),
				this.consumerGroup);
	}

	SlsShardSource open() {
		return open(credentials());
	}

	SlsShardSource open(CredentialsProvider provider) {
		return new SlsShardSource(settings(), provider);
	}

}
