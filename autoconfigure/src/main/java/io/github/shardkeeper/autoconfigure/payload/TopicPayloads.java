package io.github.shardkeeper.autoconfigure.payload;

import java.util.List;
import java.util.Set;

import io.github.shardkeeper.source.PayloadConverter;

/**
 * Converter of the payloads of some topics, as the client of their source is configured.
 *
 * @param topics the topics; without any, the converter is not used
 * @param converter the converter
 * @param resources what is closed with it
 */
public record TopicPayloads(Set<String> topics, PayloadConverter converter,
		List<AutoCloseable> resources) implements AutoCloseable {

	@Override
	public void close() {
		for (AutoCloseable resource : this.resources) {
			try {
				resource.close();
			}
			catch (Exception ex) {
				throw new IllegalStateException("Cannot close the converter of %s".formatted(this.topics), ex);
			}
		}
	}

}
