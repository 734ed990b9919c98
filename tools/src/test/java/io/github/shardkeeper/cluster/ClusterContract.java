package io.github.shardkeeper.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import io.github.shardkeeper.cluster.session.ClusterMessages;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.StoreServer;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the contracts of the cluster tools' stores share: a group with members that join,
 * leave and fall silent, and the messages to two addresses.
 */
public abstract class ClusterContract {

	/** A lease that ends in no story. */
	protected static final Duration LONG = Duration.ofHours(1);

	/** A time that stories wait for. It may end earlier than they ask again. */
	protected static final Duration SHORT = Duration.ofMillis(150);

	private final Map<String, BlockingQueue<String>> inboxes = new TreeMap<>();

	private final List<AutoCloseable> toClose = new ArrayList<>();

	protected abstract CoordinationStore group();

	protected abstract ClusterMessages messages();

	/** The server of the stores. */
	protected abstract StoreServer server();

	@BeforeEach
	final void found() {
		MemberId founder = MemberId.of("founder", "1");
		group().joinGroup(founder, describe("founder"), LONG, LONG);
		endClaims(founder);
		group().leaveGroup(founder, Duration.ZERO);
		for (String address : List.of("one", "two")) {
			BlockingQueue<String> inbox = new LinkedBlockingQueue<>();
			this.inboxes.put(address, inbox);
			this.toClose.add(messages().subscribe(address, inbox::add));
		}
	}

	@AfterEach
	final void close() throws Exception {
		for (AutoCloseable each : this.toClose) {
			each.close();
		}
		group().close();
	}

	/** Ends the time in which members may claim what they held before a loss. */
	protected final void endClaims(MemberId leader) {
		HeartbeatReply.Alive alive = (HeartbeatReply.Alive) group().heartbeat(leader, Seen.NOTHING, true,
				LoadReport.NONE);
		assertThat(alive.leader()).isEqualTo(leader);
		group().endClaims(leader, alive.epoch(), alive.claimsUntilMillis());
	}

	/** A member that is alive until the story ends. */
	protected final MemberId join(String name) {
		MemberId member = MemberId.of(name, "1");
		join(member, LONG);
		return member;
	}

	private void join(MemberId member, Duration lease) {
		group().joinGroup(member, describe(member.instance()), lease, LONG);
	}

	protected final void leave(MemberId member) {
		group().leaveGroup(member, Duration.ZERO);
	}

	/** Lets the lease of a member end; its session goes on. */
	protected final void fallSilent(MemberId member) {
		join(member, SHORT);
		advance(SHORT.multipliedBy(2));
	}

	/** Gives a silent member a lease until the story ends. */
	protected final void beat(MemberId member) {
		assertThat(group().heartbeat(member, Seen.NOTHING, false, LoadReport.NONE))
			.isInstanceOf(HeartbeatReply.Alive.class);
		join(member, LONG);
	}

	/** Lets time pass. */
	protected final void advance(Duration time) {
		server().advance(time);
	}

	/** The next message to an address. */
	protected final String received(String address) {
		try {
			String message = this.inboxes.get(address).poll(10, TimeUnit.SECONDS);
			assertThat(message).as("a message to " + address).isNotNull();
			return message;
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** The messages to an address that have arrived and were not looked at. */
	protected final List<String> waitingAt(String address) {
		return List.copyOf(this.inboxes.get(address));
	}

	private static MemberDescription describe(String name) {
		return new MemberDescription(new TreeMap<>(), new ApplicationVersion("1.4"), 1 + name.length(),
				"zone-of-" + name, null);
	}

}
