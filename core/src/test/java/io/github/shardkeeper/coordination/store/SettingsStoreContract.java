package io.github.shardkeeper.coordination.store;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.coordination.store.SettingsStore.Other;
import io.github.shardkeeper.coordination.store.SettingsStore.Reply;
import io.github.shardkeeper.testsupport.Concurrently;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Rules of {@link SettingsStore}, the same for every store. */
public abstract class SettingsStoreContract {

	private static final Duration LEASE = Duration.ofMinutes(5);

	private static final Duration SHORTEST = Duration.ofMillis(1);

	protected static final SharedSettings COORDINATED = settings("coordinated", "7d");

	protected static final SharedSettings BROADCAST = settings("broadcast", "7d");

	private CoordinationStore store;

	protected SettingsStore settings;

	/** Returns the store of a group that never existed before. */
	protected abstract CoordinationStore createStore();

	@BeforeEach
	protected final void openStore() {
		this.store = createStore();
		this.settings = this.store.settings();
	}

	@AfterEach
	protected final void closeStore() {
		this.store.close();
	}

	private static SharedSettings settings(String mode, String maxAge) {
		return new SharedSettings(new TreeMap<>(Map.of("visits.mode", mode)),
				new TreeMap<>(Map.of("visits.max-age", maxAge)));
	}

	@Test
	void equalSettingsAreAccepted() {
		assertThat(announce("ann~1", COORDINATED)).isEqualTo(Reply.ACCEPTED);
		assertThat(announce("bob~1", COORDINATED)).isEqualTo(Reply.ACCEPTED);
		assertThat(announce("ann~1", COORDINATED)).isEqualTo(Reply.ACCEPTED);
	}

	@Test
	void settingsThatDivideTheDataAreRefusedAsLongAsAnInstanceWithOthersRuns() {
		announce("ann~1", COORDINATED);
		announce("bob~1", COORDINATED);

		Reply refused = announce("eve~1", BROADCAST);

		assertThat(refused.accepted()).isFalse();
		assertThat(refused.others()).singleElement().satisfies((other) -> {
			assertThat(other.settings()).isEqualTo(COORDINATED);
			assertThat(other.instances()).containsExactlyInAnyOrder("ann~1", "bob~1");
			assertThat(other.count()).isEqualTo(2);
		});
		this.settings.withdraw("ann~1");
		assertThat(announce("eve~1", BROADCAST).accepted()).isFalse();
		this.settings.withdraw("bob~1");
		assertThat(announce("eve~1", BROADCAST)).isEqualTo(Reply.ACCEPTED);
		assertThat(announce("ann~1", COORDINATED).accepted()).isFalse();
	}

	@Test
	void refusedInstanceIsNotAmongThoseThatRun() {
		announce("ann~1", COORDINATED);
		announce("eve~1", BROADCAST);
		this.settings.withdraw("ann~1");

		assertThat(announce("ann~2", COORDINATED)).isEqualTo(Reply.ACCEPTED);
	}

	@Test
	void harmlessDifferencesAreToldToTheLaterInstanceOnce() {
		SharedSettings other = settings("coordinated", "1d");
		announce("ann~1", COORDINATED);

		assertThat(announce("bob~1", other))
			.isEqualTo(new Reply(true, List.of(new Other(COORDINATED, List.of("ann~1"), 1))));
		assertThat(announce("bob~1", other)).isEqualTo(Reply.ACCEPTED);
	}

	@Test
	void settingThatOnlyOneOfTwoHasIsNotCompared() {
		announce("ann~1", COORDINATED);

		assertThat(announce("bob~1",
				new SharedSettings(new TreeMap<>(Map.of("orders.mode", "broadcast")), new TreeMap<>()))
			.accepted()).isTrue();
		assertThat(announce("eve~1", BROADCAST).accepted()).isFalse();
	}

	/** That of an instance that was killed. */
	@Test
	void entryEndsWithItsLease() {
		this.settings.announce("ann~1", COORDINATED, SHORTEST);

		await().until(() -> announce("eve~1", BROADCAST).accepted());
	}

	@Test
	void announcingAgainRenewsTheLease() {
		this.settings.announce("ann~1", COORDINATED, SHORTEST);
		announce("ann~1", COORDINATED);
		this.settings.announce("bob~1", COORDINATED, SHORTEST);

		await().until(() -> announce("eve~1", BROADCAST).others().get(0).count() == 1);
	}

	@Test
	void onlyOneOfTwoThatStartTogetherIsAccepted() {
		for (int round = 0; round < 20; round++) {
			Map<String, SharedSettings> both = Map.of("ann~" + round, COORDINATED, "eve~" + round, BROADCAST);

			assertThat(Concurrently.map(List.copyOf(both.entrySet()),
					(instance) -> announce(instance.getKey(), instance.getValue()).accepted()))
				.containsExactlyInAnyOrder(true, false);
			both.keySet().forEach(this.settings::withdraw);
		}
	}

	private Reply announce(String instance, SharedSettings announced) {
		return this.settings.announce(instance, announced, LEASE);
	}

}
