package io.github.shardkeeper.kafka;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AccessControlEntryFilter;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourcePatternFilter;
import org.apache.kafka.common.resource.ResourceType;

/**
 * What users may do with topics.
 */
final class Permissions {

	private final Map<String, Object> properties;

	Permissions(Map<String, Object> properties) {
		this.properties = properties;
	}

	void createTopics(String... names) throws Exception {
		try (Admin admin = Admin.create(this.properties)) {
			admin.createTopics(Stream.of(names).map((name) -> new NewTopic(name, 1, (short) 1)).toList()).all().get();
		}
	}

	/** Takes everything back that users may do with a topic. */
	void withdraw(String topic) throws Exception {
		try (Admin admin = Admin.create(this.properties)) {
			admin.deleteAcls(List
				.of(new AclBindingFilter(new ResourcePatternFilter(ResourceType.TOPIC, topic, PatternType.LITERAL),
						AccessControlEntryFilter.ANY)))
				.all()
				.get();
		}
	}

	/** Allows a user to see a topic, and to read it. */
	void allow(String user, String topic, boolean read) throws Exception {
		allow(user, topic, read ? AclOperation.READ : AclOperation.DESCRIBE);
	}

	void allow(String user, String topic, AclOperation operation) throws Exception {
		ResourcePattern resource = new ResourcePattern(ResourceType.TOPIC, topic, PatternType.LITERAL);
		try (Admin admin = Admin.create(this.properties)) {
			admin.createAcls(List.of(new AclBinding(resource,
					new AccessControlEntry("User:" + user, "*", operation, AclPermissionType.ALLOW))))
				.all()
				.get();
		}
	}

}
