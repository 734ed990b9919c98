package io.github.shardkeeper.handler;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Flow;
import java.util.stream.Stream;

import kotlin.coroutines.Continuation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.core.ResolvableType;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.Mockito.mock;

class HandlerSignatureTests {

	private static final Object CONVERTED = new Object();

	private static final ShardContext CONTEXT = mock(ShardContext.class);

	private static final ShardState STATE = mock(ShardState.class);

	private static final Acknowledgment ACKNOWLEDGMENT = () -> {
	};

	static Stream<Method> supported() {
		return Stream.of(Supported.class.getDeclaredMethods());
	}

	@ParameterizedTest
	@MethodSource("supported")
	void parametersMayHaveAnyOrder(Method method) {
		HandlerSignature signature = HandlerSignature.ofConsumer(method, Supported.class);

		Object[] arguments = signature.arguments(CONVERTED, new CallArguments(CONTEXT, STATE, ACKNOWLEDGMENT));
		Class<?>[] types = method.getParameterTypes();
		assertThat(arguments).hasSameSizeAs(types);
		for (int i = 0; i < types.length; i++) {
			Object expected = (types[i] == ShardContext.class) ? CONTEXT : (types[i] == ShardState.class) ? STATE
					: (types[i] == Acknowledgment.class) ? ACKNOWLEDGMENT : CONVERTED;
			assertThat(arguments[i]).isSameAs(expected);
		}
		List<Class<?>> wanted = List.of(types);
		boolean batch = wanted.contains(List.class);
		boolean whole = method.getName().contains("ecord");
		assertThat(signature.shape()).isEqualTo(batch ? HandlerShape.BATCH
				: (wanted.contains(String.class) || whole) ? HandlerShape.RECORD : HandlerShape.LOOP);
		assertThat(signature.takesWhole()).isEqualTo(whole);
		assertThat(signature.payloadType()).isEqualTo((signature.shape() == HandlerShape.LOOP) ? null : String.class);
		assertThat(signature.takes(HandlerArgument.STATE)).isEqualTo(wanted.contains(ShardState.class));
		assertThat(signature.takes(HandlerArgument.ACKNOWLEDGMENT)).isEqualTo(wanted.contains(Acknowledgment.class));
		assertThat(signature.name()).startsWith("Supported." + method.getName() + "(");
	}

	@Test
	void payloadsMayBeGeneric() {
		String listOfVisits = ResolvableType.forClassWithGenerics(List.class, Visit.class).toString();

		assertThat(payloadType(Generic.class, "record")).hasToString(listOfVisits);
		assertThat(payloadType(Generic.class, "batchOfLists")).hasToString(listOfVisits);
		assertThat(payloadType(Generic.class, "batchOfListRecords")).hasToString(listOfVisits);
		assertThat(payloadType(Generic.class, "batch")).isEqualTo(Visit.class);
		assertThat(payloadType(Generic.class, "map"))
			.hasToString(ResolvableType.forClassWithGenerics(Map.class, String.class, Integer.class).toString());
		assertThat(payloadType(Generic.class, "primitive")).isEqualTo(long.class);
		assertThat(payloadType(Generic.class, "bytes")).isEqualTo(byte[].class);
		assertThat(payloadType(Generic.class, "array")).isEqualTo(Visit[].class);
		assertThat(payloadType(Generic.class, "anything")).isEqualTo(Object.class);
	}

	@Test
	void listIsABatchAndRecordOfAListIsNot() {
		assertThat(signature(Generic.class, "record").shape()).isEqualTo(HandlerShape.RECORD);
		assertThat(signature(Generic.class, "array").shape()).isEqualTo(HandlerShape.RECORD);
		assertThat(signature(Generic.class, "batch").shape()).isEqualTo(HandlerShape.BATCH);
		assertThat(signature(Generic.class, "batchOfLists").shape()).isEqualTo(HandlerShape.BATCH);
		assertThat(signature(Generic.class, "batchOfLists").takesWhole()).isFalse();
		assertThat(signature(Generic.class, "batchOfListRecords").takesWhole()).isTrue();
	}

	@Test
	void typeVariableIsResolvedInTheSubclass() {
		assertThat(payloadType(OfVisits.class, "payload")).isEqualTo(Visit.class);
		assertThat(payloadType(OfVisits.class, "record")).isEqualTo(Visit.class);
		assertThat(payloadType(OfVisits.class, "list")).isEqualTo(Visit.class);
		assertThat(payloadType(OfVisits.class, "records")).isEqualTo(Visit.class);
		assertThat(payloadType(OfVisits.class, "recordOfList"))
			.hasToString(ResolvableType.forClassWithGenerics(List.class, Visit.class).toString());
	}

	@ParameterizedTest
	@ValueSource(strings = { "raw", "wildcard", "variable" })
	void recordWithoutPayloadTypeIsRejected(String name) {
		assertRefused(name, "takes a ShardRecord without saying of what", "for example ShardRecord<String>");
	}

	@ParameterizedTest
	@CsvSource({ "rawBatch, takes a List without saying of what, for example List<String>",
			"wildcardBatch, takes a List without saying of what, for example List<String>",
			"rawRecords, takes a ShardRecord without saying of what, for example List<ShardRecord<String>>",
			"collection, could be a batch or one payload, Write List<T> for a batch",
			"iterable, could be a batch or one payload, Write List<T> for a batch",
			"publisher, returns Publisher, Flux.then()",
			"suspends, 'is a suspending function, which cannot be called', kotlinx-coroutines-reactor",
			"loopAcknowledged, takes an Acknowledgment but no record, nothing to acknowledge",
			"variablePayload, 'takes a T, whose type is not known', Write the type itself",
			"mapOfVariables, 'T>, whose type is not known', Write the type itself",
			"variableArray, 'takes a T[], whose type is not known', Write the type itself",
			"listOfMapsOfVariables, 'whose type is not known', Write the type itself" })
	void ambiguousParametersAreRejected(String name, String problem, String fix) {
		assertRefused(name, problem.replace("Acknowledgment but", "Acknowledgment, but"), fix);
	}

	@ParameterizedTest
	@CsvSource({ "returnsSomething, returns String, Declare it 'void'", "isPrivate, is private or static, not private",
			"isStatic, is private or static, instance method",
			"twoPayloads, parameter 2 of type java.lang.Integer, each at most once",
			"payloadAndRecord, more than one parameter for the same thing, each at most once",
			"recordAndPayload, more than one parameter for the same thing, each at most once",
			"twoContexts, more than one parameter for the same thing, each at most once",
			"payloadAndBatch, more than one parameter for the same thing, each at most once",
			"twoAcknowledgments, more than one parameter for the same thing, each at most once",
			"twoStates, more than one parameter for the same thing, each at most once" })
	void unsupportedSignaturesAreRejected(String name, String problem, String fix) {
		assertRefused(name, problem, fix);
	}

	@Test
	void callbacksTakeContextAndState() {
		HandlerSignature signature = HandlerSignature.ofCallback(method(Callbacks.class, "both"), Callbacks.class,
				"@OnShardAssigned");

		assertThat(signature.arguments(null, new CallArguments(CONTEXT, STATE, null))).containsExactly(STATE, CONTEXT);
		assertThat(HandlerSignature.ofCallback(method(Callbacks.class, "none"), Callbacks.class, "@OnShardAssigned")
			.arguments(null, new CallArguments(CONTEXT, STATE, null))).isEmpty();
	}

	@ParameterizedTest
	@CsvSource({ "payload, has a parameter of type java.lang.String, ShardContext and ShardState only",
			"record, has a parameter of type, ShardContext and ShardState only",
			"acknowledged, has a parameter of type, ShardContext and ShardState only",
			"batch, has a parameter of type, ShardContext and ShardState only",
			"twice, more than one parameter for the same thing, at most once",
			"returns, returns int, Declare it 'void'" })
	void callbacksTakeNothingElse(String name, String problem, String fix) {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(
				() -> HandlerSignature.ofCallback(method(Callbacks.class, name), Callbacks.class, "@OnShardRevoked"))
			.satisfies((ex) -> {
				assertThat(ex.getDescription()).contains("@OnShardRevoked", "Callbacks." + name + "(", problem);
				assertThat(ex.getAction()).contains(fix);
			});
	}

	@Test
	void preparationsTakeTheContextOnly() {
		assertThat(
				HandlerSignature.ofPreparation(method(Callbacks.class, "context"), Callbacks.class, "@OnShardPreparing")
					.arguments(null, new CallArguments(CONTEXT, null, null)))
			.containsExactly(CONTEXT);
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> HandlerSignature.ofPreparation(method(Callbacks.class, "both"), Callbacks.class,
					"@OnShardPreparing"))
			.satisfies((ex) -> {
				assertThat(ex.getDescription()).contains("@OnShardPreparing", "Callbacks.both(", "ShardState");
				assertThat(ex.getAction()).contains("ShardContext only", "not there before @OnShardAssigned");
			});
	}

	private static void assertRefused(String name, String problem, String fix) {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> HandlerSignature.ofConsumer(method(Unsupported.class, name), Unsupported.class))
			.satisfies((ex) -> {
				assertThat(ex.getDescription()).contains("@ShardConsumer", "Unsupported." + name + "(", problem);
				assertThat(ex.getAction()).contains(fix);
			});
	}

	private static Type payloadType(Class<?> type, String name) {
		return signature(type, name).payloadType();
	}

	private static HandlerSignature signature(Class<?> type, String name) {
		return HandlerSignature.ofConsumer(method(type, name), type);
	}

	private static Method method(Class<?> type, String name) {
		return Stream.concat(Stream.of(type.getDeclaredMethods()), Stream.of(type.getSuperclass().getDeclaredMethods()))
			.filter((method) -> method.getName().equals(name))
			.findFirst()
			.orElseThrow();
	}

	record Visit(String client) {

	}

	@SuppressWarnings("unused")
	abstract static class Supported {

		abstract void none();

		abstract void payload(String payload);

		abstract void record(ShardRecord<String> record);

		abstract void context(ShardContext context);

		abstract void state(ShardState state);

		abstract void payloadState(String payload, ShardState state);

		abstract void statePayload(ShardState state, String payload);

		abstract void recordContext(ShardRecord<String> record, ShardContext context);

		abstract void contextState(ShardContext context, ShardState state);

		abstract void payloadContextState(String payload, ShardContext context, ShardState state);

		abstract void payloadStateContext(String payload, ShardState state, ShardContext context);

		abstract void contextPayloadState(ShardContext context, String payload, ShardState state);

		abstract void contextStateRecord(ShardContext context, ShardState state, ShardRecord<String> record);

		abstract void stateRecordContext(ShardState state, ShardRecord<String> record, ShardContext context);

		abstract void batch(List<String> payloads);

		abstract void batchOfRecords(List<ShardRecord<String>> records);

		abstract void contextBatchState(ShardContext context, List<String> payloads, ShardState state);

		abstract void acknowledgmentPayload(Acknowledgment acknowledgment, String payload);

		abstract void batchStateAcknowledgment(List<String> payloads, ShardState state, Acknowledgment acknowledgment);

		abstract void stateContextPayload(ShardState state, ShardContext context, String payload);

	}

	@SuppressWarnings("unused")
	abstract static class Generic {

		abstract void record(ShardRecord<List<Visit>> visits);

		abstract void batch(List<Visit> visits);

		abstract void batchOfLists(List<List<Visit>> visits);

		abstract void batchOfListRecords(List<ShardRecord<List<Visit>>> visits);

		abstract void array(Visit[] visits);

		abstract void map(Map<String, Integer> counts);

		abstract void primitive(long number);

		abstract void bytes(byte[] payload);

		abstract void anything(Object payload);

	}

	@SuppressWarnings("unused")
	abstract static class Of<T> {

		abstract void payload(T payload);

		abstract void record(ShardRecord<T> record);

		abstract void list(List<T> payloads);

		abstract void records(List<ShardRecord<T>> records);

		abstract void recordOfList(ShardRecord<List<T>> record);

	}

	abstract static class OfVisits extends Of<Visit> {

	}

	@SuppressWarnings({ "unused", "rawtypes" })
	abstract static class Unsupported {

		abstract void raw(ShardRecord record);

		abstract void wildcard(ShardRecord<?> record);

		abstract void rawBatch(List payloads);

		abstract void wildcardBatch(List<?> payloads);

		abstract void rawRecords(List<ShardRecord> records);

		abstract void collection(Collection<String> payloads);

		abstract void iterable(Iterable<String> payloads);

		abstract Flow.Publisher<String> publisher(String payload);

		abstract Object suspends(String payload, Continuation<Object> continuation);

		abstract void loopAcknowledged(Acknowledgment acknowledgment);

		abstract void payloadAndBatch(String payload, List<String> payloads);

		abstract void twoAcknowledgments(String payload, Acknowledgment one, Acknowledgment other);

		abstract <T> void variable(ShardRecord<T> record);

		abstract <T> void variablePayload(T payload);

		abstract <T> void mapOfVariables(Map<String, T> payload);

		abstract <T> void variableArray(T[] payload);

		abstract <T> void listOfMapsOfVariables(List<Map<String, ? extends T>> payload);

		abstract String returnsSomething(String payload);

		private void isPrivate(String payload) {
		}

		static void isStatic(String payload) {
		}

		abstract void twoPayloads(String one, Integer other);

		abstract void payloadAndRecord(String payload, ShardRecord<String> record);

		abstract void recordAndPayload(ShardRecord<String> record, String payload);

		abstract void twoContexts(ShardContext one, ShardContext other);

		abstract void twoStates(String payload, ShardState one, ShardState other);

	}

	@SuppressWarnings("unused")
	abstract static class Callbacks {

		abstract void none();

		abstract void both(ShardState state, ShardContext context);

		abstract void context(ShardContext context);

		abstract void payload(String payload);

		abstract void record(ShardContext context, ShardRecord<String> record);

		abstract void acknowledged(Acknowledgment acknowledgment);

		abstract void batch(List<String> payloads);

		abstract void twice(ShardState one, ShardState other);

		abstract int returns();

	}

}
