package io.github.shardkeeper.cluster.parameter;

import java.time.DayOfWeek;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.MutablePropertyValues;
import org.springframework.boot.convert.ApplicationConversionService;
import org.springframework.util.unit.DataSize;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.ClusterInstance;
import io.github.shardkeeper.cluster.ClusterParameter;
import io.github.shardkeeper.cluster.ClusterParameters;
import io.github.shardkeeper.cluster.ClusterParameters.Change;
import io.github.shardkeeper.cluster.ClusterParameters.State;
import io.github.shardkeeper.cluster.ClusterParameters.Update;
import io.github.shardkeeper.cluster.Parameter;
import io.github.shardkeeper.cluster.Parameter.Source;
import io.github.shardkeeper.cluster.ParameterConflictException;
import io.github.shardkeeper.cluster.memory.MemoryCluster;
import io.github.shardkeeper.cluster.memory.MemoryParameterStore;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.memory.MemoryFailover;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Parameters of several instances in one process, with real sessions. */
@Tag("proof")
class StoredParametersTests {

	private final MemoryCoordinationStore store = new MemoryCoordinationStore();

	private final MemoryCluster cluster = MemoryCluster.of(this.store);

	private final List<ClusterInstance> instances = new ArrayList<>();

	@AfterEach
	void closeAll() {
		this.instances.forEach(ClusterInstance::close);
	}

	private ClusterInstance instance(String name) {
		ClusterInstance instance = new ClusterInstance(name, this.store, this.cluster);
		this.instances.add(instance);
		return instance;
	}

	/** Parameters that follow the store. */
	private StoredParameters parameters(ClusterInstance instance, Map<String, String> configured) {
		StoredParameters parameters = create(instance, configured);
		parameters.follow(instance.session());
		return parameters;
	}

	private StoredParameters create(ClusterInstance instance, Map<String, String> configured) {
		return new StoredParameters("group", "somebody", instance.reachable(ParameterStore.class, stored()), configured,
				new ValueFormat(new ApplicationConversionService(), new JsonMapper()),
				(field, value) -> value.equals(-1) ? "it must be greater than or equal to 0 (@Min)" : null,
				instance.session().callbacks());
	}

	private StoredParameters parameters(String name) {
		return parameters(instance(name), Map.of());
	}

	private ParameterStore stored() {
		return new MemoryParameterStore(this.cluster);
	}

	private static ConditionFactory await() {
		return Awaitility.await().atMost(Duration.ofSeconds(40)).pollInterval(Duration.ofMillis(5));
	}

	@Test
	void defaultAppliesUntilAValueIsSet() {
		Parameter<Integer> parameter = parameters("a").get("batch-size", Integer.class, 500);

		assertThat(parameter.name()).isEqualTo("batch-size");
		assertThat(parameter.get()).isEqualTo(500);
		assertThat(parameter.defaultValue()).isEqualTo(500);
		assertThat(parameter.source()).isEqualTo(Source.DEFAULT);
		assertThat(parameter.version()).isZero();
		assertThat(parameter.problem()).isEmpty();
		assertThat(parameter).hasToString("parameter 'batch-size' of group 'group': 500");
	}

	@Test
	void configuredDefaultReplacesTheOneInCode() {
		Parameter<Integer> parameter = parameters(instance("a"), Map.of("batch-size", "200")).get("batch-size",
				int.class, 500);

		assertThat(parameter.get()).isEqualTo(200);
		assertThat(parameter.defaultValue()).isEqualTo(200);
		assertThat(parameter.source()).isEqualTo(Source.DEFAULT);
	}

	/** The other instance would look by itself only later than this waits. */
	@Test
	void valueAppliesHereAtOnceAndThenEverywhere() {
		Parameter<Integer> here = parameters("a").get("batch-size", Integer.class, 500);
		ClusterInstance other = new ClusterInstance("b", this.store, this.cluster, Duration.ofMinutes(1));
		this.instances.add(other);
		Parameter<Integer> there = parameters(other, Map.of()).get("batch-size", Integer.class, 500);
		awaitFollowing();

		long version = here.set(100);

		assertThat(here.get()).isEqualTo(100);
		assertThat(here.version()).isEqualTo(version);
		await().until(() -> there.get() == 100);
		await().until(() -> there.source() == Source.STORE);
		assertThat(there.version()).isEqualTo(version);
		assertThat(here.source()).isEqualTo(Source.STORE);
	}

	private void awaitFollowing() {
		this.instances.forEach((instance) -> await().until(() -> instance.session().view().number() > 0));
	}

	/** Also messages are lost. */
	@Test
	void changeWithoutAMessageIsFoundWithinALease() {
		ClusterInstance deaf = instance("b");
		Parameter<Integer> there = parameters(deaf, Map.of()).get("batch-size", Integer.class, 500);
		awaitFollowing();
		deaf.deaf(true);

		parameters("a").get("batch-size", Integer.class, 500).set(100);

		await().until(() -> there.get() == 100);
	}

	@Test
	void valueThatWasSetEarlierAppliesAtTheDeclaration() {
		stored().set("batch-size", "100", "ann", ParameterStore.ANY_VERSION);

		Parameter<Integer> parameter = create(instance("a"), Map.of()).get("batch-size", Integer.class, 500);

		assertThat(parameter.get()).isEqualTo(100);
		assertThat(parameter.source()).isEqualTo(Source.STORE);
	}

	static Stream<Arguments> values() {
		return Stream.of(Arguments.of(Boolean.class, false, "yes", true), Arguments.of(long.class, 7L, " 8 ", 8L),
				Arguments.of(Double.class, 0.5, "1e3", 1000.0), Arguments.of(String.class, "", "a|b ä", "a|b ä"),
				Arguments.of(Duration.class, Duration.ofSeconds(90), "5m", Duration.ofMinutes(5)),
				Arguments.of(DayOfWeek.class, DayOfWeek.MONDAY, "friday", DayOfWeek.FRIDAY),
				Arguments.of(DataSize.class, DataSize.ofMegabytes(5), "64KB", DataSize.ofKilobytes(64)),
				Arguments.of(LocalDate.class, LocalDate.of(2026, 11, 23), "2026-12-24", LocalDate.of(2026, 12, 24)),
				Arguments.of(Limits.class, new Limits(1, List.of("a")), "{\"max\":2,\"names\":[\"b\",\"c\"]}",
						new Limits(2, List.of("b", "c"))),
				Arguments.of(Word.class, new Word("a"), "{\"text\":\"b\"}", new Word("b")),
				Arguments.of(Map.class, Map.of("a", 1), "{\"b\":2}", Map.of("b", 2)));
	}

	@ParameterizedTest
	@MethodSource("values")
	<T> void valuesOfAllTypesComeBackAsTheyWere(Class<T> type, T value, String text, T ofText) {
		StoredParameters here = parameters("a");
		StoredParameters there = parameters("b");
		Parameter<T> parameter = here.get("p", type, ofText);
		Parameter<T> other = there.get("p", type, ofText);

		parameter.set(value);
		assertThat(parameter.get()).isEqualTo(value);
		await().until(() -> other.get().equals(value));
		there.set("p", text, Update.ALWAYS);
		assertThat(other.get()).isEqualTo(ofText);
		await().until(() -> parameter.get().equals(ofText));
	}

	@Test
	void resetBringsTheDefaultBackEverywhere() {
		StoredParameters here = parameters("a");
		Parameter<Integer> parameter = here.get("batch-size", Integer.class, 500);
		Parameter<Integer> there = parameters("b").get("batch-size", Integer.class, 500);
		parameter.set(100);
		await().until(() -> there.get() == 100);

		long version = here.reset("batch-size", Update.ALWAYS.by("ann"));

		assertThat(parameter.get()).isEqualTo(500);
		assertThat(parameter.source()).isEqualTo(Source.DEFAULT);
		assertThat(parameter.version()).isEqualTo(version);
		await().until(() -> there.get() == 500);
		assertThat(here.state("batch-size")).hasValueSatisfying((state) -> {
			assertThat(state.author()).isEqualTo("ann");
			assertThat(state.value()).isEqualTo("500");
		});
	}

	@Test
	void revertSetsAnEarlierValueAgain() {
		StoredParameters parameters = parameters("a");
		Parameter<Integer> parameter = parameters.get("batch-size", Integer.class, 500);
		long first = parameter.set(100);
		long second = parameter.set(200, Update.ALWAYS.by("ann"));
		long reset = parameters.reset("batch-size", Update.ALWAYS);

		long reverted = parameters.revert("batch-size", first, Update.ALWAYS.by("bob").ifVersion(reset));

		assertThat(parameter.get()).isEqualTo(100);
		assertThat(parameters.history("batch-size")).extracting(Change::version)
			.containsExactly(reverted, reset, second, first);
		assertThat(parameters.history("batch-size")).extracting(Change::author)
			.containsExactly("bob", "somebody", "ann", "somebody");
		assertThatExceptionOfType(ParameterConflictException.class)
			.isThrownBy(() -> parameters.revert("batch-size", second, Update.ALWAYS.ifVersion(first)));
		parameters.revert("batch-size", reset);
		assertThat(parameter.get()).isEqualTo(500);
		assertThatIllegalArgumentException().isThrownBy(() -> parameters.revert("batch-size", 5))
			.withMessageContaining("'batch-size' has no version 5")
			.withMessageContaining(String.valueOf(first));
	}

	@Test
	void concurrentChangesDoNotOverwriteEachOtherUnseen() {
		Parameter<Integer> here = parameters("a").get("batch-size", Integer.class, 500);
		Parameter<Integer> there = parameters("b").get("batch-size", Integer.class, 500);
		long version = here.set(1, Update.ALWAYS.ifVersion(0));
		await().until(() -> there.version() == version);
		long next = there.set(2, Update.ALWAYS.ifVersion(version));

		assertThatExceptionOfType(ParameterConflictException.class)
			.isThrownBy(() -> here.set(3, Update.ALWAYS.ifVersion(version)))
			.withMessageContaining("'batch-size' has version " + next + ", not " + version)
			.matches((ex) -> ex.version() == next);
		await().until(() -> here.get() == 2);
	}

	@Test
	void checksOfEveryDeclarationAreKept() {
		StoredParameters parameters = parameters("a");
		Parameter<Integer> parameter = parameters.get("batch-size", Integer.class, 500, (value) -> value > 0);
		parameters.get("batch-size", Integer.class, 500, (value) -> {
			if (value > 1000) {
				throw new IllegalArgumentException("the database takes at most 1000");
			}
			return true;
		});

		assertThatIllegalArgumentException().isThrownBy(() -> parameter.set(0))
			.withMessage("The value '0' of the parameter 'batch-size' is not valid: its check does not accept it");
		assertThatIllegalArgumentException().isThrownBy(() -> parameters.set("batch-size", "1001", Update.ALWAYS))
			.withMessage(
					"The value '1001' of the parameter 'batch-size' is not valid: the database takes at most 1000");
		assertThat(parameter.get()).isEqualTo(500);
		assertThat(parameters.history("batch-size")).isEmpty();
		parameter.set(1000);
		assertThat(parameter.get()).isEqualTo(1000);
	}

	@Test
	void laterCheckThatDoesNotAcceptTheValueBringsTheDefaultBack() {
		StoredParameters parameters = parameters("a");
		Parameter<Integer> parameter = parameters.get("batch-size", Integer.class, 500);
		parameter.set(7);

		parameters.get("batch-size", Integer.class, 500, (value) -> value > 10);

		assertThat(parameter.get()).isEqualTo(500);
		assertThat(parameter.source()).isEqualTo(Source.DEFAULT);
		assertThat(parameter.problem()).hasValueSatisfying((problem) -> assertThat(problem).contains("'7'"));
	}

	/** A check of the new value goes on while another one is declared. */
	@Test
	void checkDeclaredWhileAValueArrivesIsNotPassedOver() {
		StoredParameters parameters = parameters("a");
		AtomicReference<Thread> checking = new AtomicReference<>();
		CountDownLatch released = new CountDownLatch(1);
		Parameter<Integer> parameter = parameters.get("batch-size", Integer.class, 500, (value) -> {
			if (value == 7 && checking.compareAndSet(null, Thread.currentThread())) {
				waitFor(released);
			}
			return true;
		});
		stored().set("batch-size", "7", "ann", ParameterStore.ANY_VERSION);
		await().until(() -> checking.get() != null);

		parameters.get("batch-size", Integer.class, 500, (value) -> value > 10);
		released.countDown();

		await().until(() -> isIdle(checking.get()));
		assertThat(parameter.get()).isEqualTo(500);
		assertThat(parameter.problem()).isPresent();
	}

	/** Returns whether a thread of a pool waits for its next task. */
	private static boolean isIdle(Thread thread) {
		return thread.getState() == Thread.State.TIMED_WAITING || thread.getState() == Thread.State.TERMINATED;
	}

	@Test
	void textOfTheWrongTypeIsRefused() {
		StoredParameters parameters = parameters("a");
		parameters.get("batch-size", Integer.class, 500);
		parameters.get("limits", Limits.class, new Limits(1, List.of()));
		parameters.get("day", DayOfWeek.class, DayOfWeek.MONDAY);

		for (String text : List.of("many", "", "1.5", "99999999999")) {
			assertThatIllegalArgumentException().isThrownBy(() -> parameters.set("batch-size", text, Update.ALWAYS))
				.withMessageStartingWith(
						"The value '" + text + "' of the parameter 'batch-size' is not valid: it is no value of type "
								+ "java.lang.Integer");
		}
		assertThatIllegalArgumentException().isThrownBy(() -> parameters.set("limits", "{\"max\":", Update.ALWAYS))
			.withMessageContaining("JSON");
		assertThatIllegalArgumentException().isThrownBy(() -> parameters.set("limits", "null", Update.ALWAYS))
			.withMessageContaining("it has no value");
		assertThatIllegalArgumentException().isThrownBy(() -> parameters.set("day", "someday", Update.ALWAYS))
			.withMessageContaining("someday");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "a b", "{a}", "a}", "ä", "a|b", "-a" })
	void nameOutsideTheRuleIsRefused(String name) {
		StoredParameters parameters = parameters("a");

		for (Runnable call : List.<Runnable>of(() -> parameters.get(name, Integer.class, 1),
				() -> parameters.set(name, "1", Update.ALWAYS), () -> parameters.reset(name, Update.ALWAYS),
				() -> parameters.history(name), () -> parameters.revert(name, 1))) {
			assertThatIllegalArgumentException().isThrownBy(call::run)
				.withMessageStartingWith("The name '" + name + "' of a parameter is not valid. Use 1 to 100 letters");
		}
		assertThat(stored().read(0).entries()).isEmpty();
	}

	@Test
	void valueOverTheBoundIsRefused() {
		StoredParameters parameters = parameters("a");
		Parameter<String> parameter = parameters.get("text", String.class, "");
		String largest = "ä".repeat(ClusterParameters.MAX_VALUE_BYTES / 2);

		parameter.set(largest);
		assertThatIllegalArgumentException().isThrownBy(() -> parameter.set(largest + "a"))
			.withMessageContaining("'text' has 65537 bytes as text, more than 65536");

		assertThat(parameter.get()).isEqualTo(largest);
	}

	@Test
	void parameterOfNobodyIsNotSet() {
		StoredParameters parameters = parameters(instance("a"), Map.of("configured", "1"));
		parameters.get("batch-size", Integer.class, 500);

		for (String name : List.of("batchsize", "configured")) {
			assertThatIllegalArgumentException().isThrownBy(() -> parameters.set(name, "1", Update.ALWAYS))
				.withMessageContaining("'" + name + "' is not declared on this instance")
				.withMessageContaining("[batch-size]");
		}
	}

	/** There is no value to check in a reset, and none in the history. */
	@Test
	void parameterOfNobodyIsNotRevertedButReset() {
		StoredParameters declaring = parameters("a");
		long version = declaring.get("batch-size", Integer.class, 500).set(100);
		StoredParameters parameters = parameters("b");

		assertThatIllegalArgumentException().isThrownBy(() -> parameters.revert("batch-size", version))
			.withMessageContaining("'batch-size' is not declared on this instance");
		assertThat(parameters.history("batch-size")).extracting(Change::version).containsExactly(version);
		parameters.reset("batch-size", Update.ALWAYS);
		assertThat(parameters.history("batch-size")).extracting(Change::value).containsExactly(null, "100");
	}

	@Test
	void authorsAndVersionsAreChecked() {
		assertThatIllegalArgumentException().isThrownBy(() -> Update.ALWAYS.by(" "));
		assertThatIllegalArgumentException().isThrownBy(() -> Update.ALWAYS.by("x".repeat(201)));
		assertThatIllegalArgumentException().isThrownBy(() -> Update.ALWAYS.ifVersion(-1)).withMessageContaining("-1");
	}

	@Test
	void declarationsOfOneNameAgree() {
		StoredParameters parameters = parameters("a");
		Parameter<Integer> parameter = parameters.get("batch-size", Integer.class, 500);

		assertThat(parameters.get("batch-size", int.class, 500)).isSameAs(parameter);
		assertThatIllegalArgumentException().isThrownBy(() -> parameters.get("batch-size", Long.class, 500L))
			.withMessageContaining("is declared as java.lang.Integer and as java.lang.Long");
		assertThatIllegalArgumentException().isThrownBy(() -> parameters.get("batch-size", Integer.class, 100))
			.withMessageContaining("two defaults, '500' and '100'");
	}

	@Test
	void invalidDefaultFailsTheDeclaration() {
		StoredParameters parameters = parameters(instance("a"), Map.of("batch-size", "many"));

		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> parameters.get("batch-size", Integer.class, 500))
			.withMessageContaining("'shardkeeper.parameters.batch-size' is 'many'")
			.withMessageContaining("Write a value of type java.lang.Integer");
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> parameters.get("threads", Integer.class, 0, (value) -> value > 0))
			.withMessageContaining("The default '0' of the parameter 'threads' is not valid");
	}

	/** Somebody has written the text, or an instance of another version has. */
	@Test
	void storedValueOfTheWrongTypeKeepsTheLastGoodOne() {
		StoredParameters parameters = parameters("a");
		Parameter<Integer> parameter = parameters.get("batch-size", Integer.class, 500, (value) -> value < 1000);
		long version = parameter.set(100);

		stored().set("batch-size", "many", "by hand", ParameterStore.ANY_VERSION);

		await().until(() -> parameter.problem().isPresent());
		assertThat(parameter.problem().orElseThrow()).contains("'many'", "by hand", "java.lang.Integer");
		assertThat(parameter.get()).isEqualTo(100);
		assertThat(parameter.source()).isEqualTo(Source.LAST_KNOWN);
		assertThat(parameter.version()).isEqualTo(version);
		assertThat(parameters.state("batch-size")).map(State::problem).isEqualTo(parameter.problem());
		Parameter<Integer> late = parameters("b").get("batch-size", Integer.class, 500);
		assertThat(late.get()).isEqualTo(500);
		assertThat(late.source()).isEqualTo(Source.DEFAULT);
		assertThat(late.problem()).isPresent();
		stored().set("batch-size", "5000", "by hand", ParameterStore.ANY_VERSION);
		await().until(() -> late.get() == 5000);
		assertThat(parameter.get()).isEqualTo(100);
		parameter.set(200);
		assertThat(parameter.problem()).isEmpty();
		assertThat(parameter.source()).isEqualTo(Source.STORE);
		await().until(() -> late.get() == 200);
	}

	@Test
	void withoutTheStoreDefaultsApplyAndLaterItsValues() {
		stored().set("batch-size", "100", "ann", ParameterStore.ANY_VERSION);
		ClusterInstance instance = instance("a");
		instance.cutOff(true);
		Parameter<Integer> parameter = parameters(instance, Map.of()).get("batch-size", Integer.class, 500);

		assertThat(parameter.get()).isEqualTo(500);
		assertThat(parameter.source()).isEqualTo(Source.DEFAULT);
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> parameter.set(200));
		assertThat(parameter.get()).isEqualTo(500);
		instance.cutOff(false);

		await().until(() -> parameter.get() == 100 && parameter.source() == Source.STORE);
	}

	@Test
	void lastKnownValueStaysWhileTheStoreIsAway() {
		ClusterInstance instance = instance("a");
		Parameter<Integer> parameter = parameters(instance, Map.of()).get("batch-size", Integer.class, 500);
		parameter.set(100);
		await().until(() -> instance.session().member() != null);

		instance.cutOff(true);
		await().until(() -> parameter.source() == Source.LAST_KNOWN);
		assertThat(parameter.get()).isEqualTo(100);
		stored().set("batch-size", "200", "ann", ParameterStore.ANY_VERSION);
		instance.cutOff(false);

		await().until(() -> parameter.get() == 200 && parameter.source() == Source.STORE);
	}

	@Test
	void settingNeedsNoSession() {
		StoredParameters tool = create(instance("tool"), Map.of());

		tool.get("batch-size", Integer.class, 500).set(100);

		assertThat(parameters("a").get("batch-size", Integer.class, 500).get()).isEqualTo(100);
	}

	/** The value goes back; instances agree with the store, and so with each other. */
	@Test
	void lostWriteIsLostEverywhere() {
		ClusterInstance instance = instance("a");
		Parameter<Integer> parameter = parameters(instance, Map.of()).get("batch-size", Integer.class, 500);
		parameter.set(100);
		await().until(() -> instance.session().member() != null);
		Object snapshot = MemoryFailover.snapshot(this.store);
		parameter.set(200);

		MemoryFailover.loseWritesSince(this.store, snapshot);

		await().until(() -> parameter.get() == 100);
	}

	@Test
	void listenerHearsTheValueAndEachOtherOne() throws Exception {
		Parameter<Integer> parameter = parameters("a").get("batch-size", Integer.class, 500);
		Parameter<Integer> there = parameters("b").get("batch-size", Integer.class, 500);
		BlockingQueue<Integer> heard = new LinkedBlockingQueue<>();
		Runnable removal = there.onChange(heard::add);
		assertThat(heard.poll(40, TimeUnit.SECONDS)).isEqualTo(500);

		parameter.set(100);
		assertThat(heard.poll(40, TimeUnit.SECONDS)).isEqualTo(100);
		parameter.set(100);
		parameter.set(200);
		assertThat(heard.poll(40, TimeUnit.SECONDS)).isEqualTo(200);
		removal.run();
		parameter.set(300);

		await().until(() -> there.get() == 300);
		assertThat(heard).isEmpty();
	}

	@Test
	void listenerThatBlocksOrFailsDelaysNoValue() throws Exception {
		Parameter<Integer> parameter = parameters("a").get("batch-size", Integer.class, 500);
		Parameter<Integer> there = parameters("b").get("batch-size", Integer.class, 500);
		CountDownLatch entered = new CountDownLatch(1);
		CountDownLatch released = new CountDownLatch(1);
		BlockingQueue<Integer> heard = new LinkedBlockingQueue<>();
		there.onChange((value) -> {
			entered.countDown();
			waitFor(released);
		});
		there.onChange((value) -> {
			heard.add(value);
			throw new IllegalStateException("a failing listener");
		});
		assertThat(entered.await(40, TimeUnit.SECONDS)).isTrue();
		assertThat(heard.poll(40, TimeUnit.SECONDS)).isEqualTo(500);

		parameter.set(100);

		await().until(() -> there.get() == 100);
		assertThat(heard.poll(40, TimeUnit.SECONDS)).isEqualTo(100);
		released.countDown();
	}

	private static void waitFor(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/** More of them than there are threads for callbacks. */
	@Test
	void valuesDoNotWaitForBlockedListeners() {
		StoredParameters parameters = parameters("a");
		Parameter<Integer> blocking = parameters.get("blocking", Integer.class, 0);
		Parameter<Integer> parameter = parameters.get("batch-size", Integer.class, 500);
		CountDownLatch released = new CountDownLatch(1);
		Set<Thread> blocked = ConcurrentHashMap.newKeySet();
		for (int i = 0; i < 100; i++) {
			blocking.onChange((value) -> {
				blocked.add(Thread.currentThread());
				waitFor(released);
			});
		}
		await().until(() -> blocked.size() == 32);

		stored().set("batch-size", "100", "ann", ParameterStore.ANY_VERSION);

		await().until(() -> parameter.get() == 100);
		released.countDown();
	}

	@Test
	void fieldsFollowTheParameter() throws Exception {
		StoredParameters parameters = parameters(instance("a"), Map.of("names", "[\"a\"]"));
		Bean bean = new Bean();
		Bean another = new Bean();
		ClusterParameterFields fields = new ClusterParameterFields(() -> parameters);

		for (Object each : List.of(bean, another, new Object())) {
			fields.postProcessProperties(new MutablePropertyValues(), each, "bean");
		}

		assertThat(bean.size).isEqualTo(500);
		assertThat(bean.names).containsExactly("a");
		parameters.get("batch-size", int.class, 500).set(100);
		assertThat(bean.size).isEqualTo(100);
		assertThat(another.size).isEqualTo(100);
		stored().set("names", "[\"b\",\"c\"]", "ann", ParameterStore.ANY_VERSION);
		await().until(() -> another.names.equals(List.of("b", "c")));
		assertThatIllegalArgumentException().isThrownBy(() -> parameters.set("batch-size", "-1", Update.ALWAYS))
			.withMessage("The value '-1' of the parameter 'batch-size' is not valid: it must be greater than or equal "
					+ "to 0 (@Min)");
		assertThatIllegalArgumentException().isThrownBy(() -> parameters.set("names", "[[]]", Update.ALWAYS));
	}

	@Test
	void fieldThatCannotFollowFailsStartup() {
		StoredParameters parameters = parameters("a");
		ClusterParameterFields fields = new ClusterParameterFields(() -> parameters);

		for (Object bean : List.of(new NotVolatile(), new Final(), new Static(), new WithoutDefault(), new BadName(),
				new Invalid())) {
			assertThatThrownBy(() -> fields.postProcessProperties(new MutablePropertyValues(), bean, "bean"))
				.as(bean.getClass().getSimpleName())
				.isInstanceOf(ShardkeeperConfigurationException.class)
				.hasMessageContaining(
						(bean instanceof Invalid) ? "'size'" : bean.getClass().getSimpleName() + ".field");
		}
	}

	@Test
	void statesListWhatIsDeclaredConfiguredAndStored() {
		stored().set("stored", "7", "ann", ParameterStore.ANY_VERSION);
		StoredParameters parameters = parameters(instance("a"), Map.of("configured", "1"));
		parameters.get("declared", Duration.class, Duration.ofSeconds(5));

		assertThat(parameters.states()).extracting(State::name).containsExactly("configured", "declared", "stored");
		assertThat(parameters.state("configured").orElseThrow())
			.isEqualTo(new State("configured", null, "1", "1", Source.DEFAULT, 0, null, null, null));
		assertThat(parameters.state("declared").orElseThrow()).isEqualTo(
				new State("declared", "java.time.Duration", "PT5S", "PT5S", Source.DEFAULT, 0, null, null, null));
		assertThat(parameters.state("stored").orElseThrow()).satisfies((state) -> {
			assertThat(state.value()).isEqualTo("7");
			assertThat(state.author()).isEqualTo("ann");
			assertThat(state.source()).isEqualTo(Source.STORE);
		});
		assertThat(parameters.state("nobody")).isEmpty();
	}

	record Limits(int max, List<String> names) {

	}

	/** Has a constructor that a converter of text would call. */
	record Word(String text) {

	}

	static class Bean {

		@ClusterParameter("batch-size")
		private volatile int size = 500;

		@ClusterParameter("names")
		private volatile List<String> names;

	}

	static class NotVolatile {

		@ClusterParameter("p")
		private int field;

	}

	static class Final {

		@ClusterParameter("p")
		private final int field = 1;

	}

	static class Static {

		@ClusterParameter("p")
		private static volatile int field;

	}

	static class WithoutDefault {

		@ClusterParameter("p")
		private volatile String field;

	}

	static class BadName {

		@ClusterParameter("{p}")
		private volatile int field;

	}

	static class Invalid {

		@ClusterParameter("size")
		private volatile int field = -1;

	}

}
