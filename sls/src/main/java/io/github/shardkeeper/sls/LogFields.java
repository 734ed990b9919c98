package io.github.shardkeeper.sls;

/**
 * Names of content fields that hold what a record sent by Shardkeeper has beside fields
 * of its own. Immutable.
 */
final class LogFields {

	static final String PREFIX = "shardkeeper_";

	static final String KEY = PREFIX + "key";

	static final String PAYLOAD = PREFIX + "payload";

	static final String PAYLOAD_BASE64 = PREFIX + "payload_base64";

	static final String HEADER = PREFIX + "header_";

	private LogFields() {
	}

}
