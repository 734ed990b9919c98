package io.github.shardkeeper.handler;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import jakarta.validation.Valid;
import jakarta.validation.Validation;
import jakarta.validation.Validator;
import jakarta.validation.ValidatorFactory;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.messaging.support.ErrorMessage;
import org.springframework.validation.annotation.Validated;
import org.springframework.validation.beanvalidation.SpringValidatorAdapter;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardHeaders;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.handler.messaging.SpringMessageArguments;
import io.github.shardkeeper.schedule.TopicSchedule;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.source.PayloadConversionException;
import io.github.shardkeeper.source.PayloadConverter;
import io.github.shardkeeper.source.SourceRecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * Parameters that Spring Messaging fills.
 */
class MessageHandlersTests {

	private static final long APPENDED = 1_700_000_000_000L;

	private static final ValidatorFactory VALIDATORS = Validation.buildDefaultValidatorFactory();

	private static final ShardContext CONTEXT = mock(ShardContext.class);

	private static final ShardState STATE = mock(ShardState.class);

	private static final Acknowledgment ACKNOWLEDGMENT = () -> {
	};

	static {
		given(CONTEXT.group()).willReturn("shop");
		given(CONTEXT.shard()).willReturn(ShardId.of("orders", 3));
	}

	@AfterAll
	static void close() {
		VALIDATORS.close();
	}

	@Test
	void annotatedPayloadIsConverted() throws Throwable {
		assertThat(call(new OfPayload(), record("{'number':'a','amount':2}"))).containsExactly(new Order("a", 2),
				CONTEXT, STATE, ACKNOWLEDGMENT);
		assertThat(call(new OfText(), record("text"))).containsExactly("text");
		assertThat((byte[]) call(new OfBytes(), record("text")).get(0)).asString().isEqualTo("text");
		assertThat(call(new OfMap(), record("{'a':[{'number':'a','amount':2}]}")))
			.containsExactly(Map.of("a", List.of(new Order("a", 2))));
	}

	@Test
	void originOfARecordIsInItsHeaders() throws Throwable {
		assertThat(call(new OfOrigin(), record("text"))).containsExactly("text", "customer-1", "orders", 3, "17-4",
				new Offset("17-4"), Instant.ofEpochMilli(APPENDED), "shop");
	}

	@Test
	void headersOfTheRecordAreAvailableByName() throws Throwable {
		SourceRecord record = record("text", Map.of("id", "own", "attempt", "7", "timestamp", "yesterday"));

		assertThat(call(new OfHeaders(), record)).containsExactly("own", 7, "yesterday", "none", Optional.empty());
	}

	@Test
	void headersOfTheRecordCannotReplaceItsOrigin() throws Throwable {
		SourceRecord faked = new SourceRecord(new Offset("17-4"), null, "text".getBytes(), Map.of(ShardHeaders.KEY,
				"faked", ShardHeaders.SHARD, "9", ShardHeaders.OFFSET, "0-0", ShardHeaders.GROUP, "faked"), APPENDED);

		Map<?, ?> headers = (Map<?, ?>) call(new OfAllHeaders(), faked).get(0);
		assertThat(headers.containsKey(ShardHeaders.KEY)).isFalse();
		assertThat(headers.get(ShardHeaders.SHARD)).isEqualTo("3");
		assertThat(headers.get(ShardHeaders.OFFSET)).isEqualTo("17-4");
		assertThat(headers.get(ShardHeaders.GROUP)).isEqualTo("shop");
	}

	@Test
	void messageHasPayloadAndHeaders() throws Throwable {
		SourceRecord record = record("[{'number':'a','amount':2}]", Map.of("id", "own", "timestamp", "yesterday"));
		List<Object> arguments = call(new OfMessage(), record);

		Message<?> message = (Message<?>) arguments.get(0);
		assertThat(message.getPayload()).isEqualTo(List.of(new Order("a", 2)));
		assertThat(message.getHeaders()).containsEntry("id", "own").containsEntry(ShardHeaders.KEY, "customer-1");
		MessageHeaders headers = (MessageHeaders) arguments.get(1);
		assertThat(headers.getId()).isNull();
		assertThat(headers.getTimestamp()).isEqualTo(APPENDED);
		assertThat(headers).containsEntry("timestamp", "yesterday");
		assertThat(((Message<?>) arguments.get(2)).getPayload()).isEqualTo(record.payload());
	}

	@Test
	void recordsAndPayloadsMayBeCombinedWithHeaders() throws Throwable {
		List<Object> arguments = call(new OfRecordAndHeader(), record("{'number':'a','amount':2}"));
		assertThat(((ShardRecord<?>) arguments.get(0)).payload()).isEqualTo(new Order("a", 2));
		assertThat(arguments.get(1)).isEqualTo("customer-1");

		assertThat(call(new OfPlainAndHeader(), record("{'number':'a','amount':2}"))).containsExactly(new Order("a", 2),
				"customer-1");
		assertThat(detect(new OfHeaderOnly()).shape()).isEqualTo(HandlerShape.RECORD);
		assertThat(call(new OfHeaderOnly(), record("not looked at"))).containsExactly("customer-1");
	}

	@Test
	void repeatedCallGetsTheSameArguments() throws Throwable {
		OfPayload bean = new OfPayload();
		ShardHandler handler = detect(bean);
		Object converted = handler.convert(CONTEXT, record("{'number':'a','amount':2}"), 1);

		handler.handle(converted, new CallArguments(CONTEXT, STATE, ACKNOWLEDGMENT));
		handler.handle(converted, new CallArguments(CONTEXT, mock(ShardState.class), ACKNOWLEDGMENT));
		assertThat(bean.arguments.get(4)).isSameAs(bean.arguments.get(0));
		assertThat(bean.arguments.get(6)).isNotSameAs(STATE);
	}

	@Test
	void payloadsAreValidated() throws Throwable {
		assertThat(call(new OfValid(), record("{'number':'a','amount':2}"))).hasSize(1);
		assertNotConverted(new OfValid(), record("{'number':' ','amount':0}"), "The payload is not valid:",
				"amount must be", "number must not be blank");
	}

	@Test
	void validationGroupsAreApplied() throws Throwable {
		assertThat(call(new OfStrict(), record("{'number':' ','amount':200}"))).hasSize(1);
		assertNotConverted(new OfStrict(), record("{'number':'a','amount':50}"), "amount");
	}

	@Test
	void eachPayloadOfABatchIsConvertedAndValidatedAlone() throws Throwable {
		OfBatch bean = new OfBatch();
		ShardHandler handler = detect(bean);
		assertThat(handler.shape()).isEqualTo(HandlerShape.BATCH);

		handler.handle(
				List.of(handler.convert(CONTEXT, record("{'number':'a','amount':2}"), 1),
						handler.convert(CONTEXT, record("{'number':'b','amount':3}"), 1)),
				new CallArguments(CONTEXT, STATE, ACKNOWLEDGMENT));
		assertThat(bean.arguments).containsExactly(List.of(new Order("a", 2), new Order("b", 3)), STATE);
		assertNotConverted(bean, record("{'number':'a','amount':0}"), "amount must be");
	}

	@Test
	void batchIsUnmodifiable() throws Throwable {
		OfBatch bean = new OfBatch();
		ShardHandler handler = detect(bean);
		List<Object> converted = new ArrayList<>(
				List.of(handler.convert(CONTEXT, record("{'number':'a','amount':2}"), 1)));
		handler.handle(converted, new CallArguments(CONTEXT, STATE, ACKNOWLEDGMENT));

		List<?> given = (List<?>) bean.arguments.get(0);
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(given::clear);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					OfPayload   | {'number':   | cannot be converted to
					OfPayload   | ""           | payload is not valid: Payload value must not be empty
					OfMessage   | {}           | cannot be converted to java.util.List
					OfMissing   | text         | Parameter 2, of type String, cannot be filled from the record: Missing header 'missing'
					OfAttempt   | text         | Parameter 1, of type int, cannot be filled from the record: Failed to convert
					""")
	void missingHeaderIsAFailureOfTheRecord(String bean, String payload, String message) throws Exception {
		assertNotConverted(bean(bean), record(payload, Map.of("attempt", "many")), message);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
			Expression        | has a @Payload with the expression 'number'           | Remove it
			Anything          | has a payload of type Object                          | Map<String, Object>
			ValidRecord       | has @Payload, @Valid or @Validated on a               | '@Valid T'
			ValidRecords      | has @Payload, @Valid or @Validated on a               | '@Valid List<T>'
			ValidContext      | has @Payload, @Valid or @Validated on a               | Remove the annotation
			HeadersOfText     | has @Headers on a String                              | MessageHeaders
			HeaderOfKafka     | has a @Header('kafka_receivedMessageKey')             | @Header(ShardHeaders.KEY)
			OtherMessage      | takes a ErrorMessage                                  | Message<T>
			Messages          | takes a batch of messages                             | List<ShardRecord<T>>
			BatchAndHeader    | takes a batch, and something of one message           | List<ShardRecord<T>>
			TwoPayloads       | has more than one parameter for the same thing        | what has @Payload
			PayloadOrBatch    | could be a batch or one payload                       | Write List<T>
			""")
	void unsupportedParametersAreRejectedAtStartup(String bean, String what, String action) throws Exception {
		assertRefused(new SpringMessageArguments(converter(), new DefaultListableBeanFactory(), validator()),
				bean(bean), what, action);
	}

	@Test
	void validationRequiresAValidatorAndSpringMessaging() {
		assertRefused(new SpringMessageArguments(converter(), new DefaultListableBeanFactory(), null), new OfValid(),
				"has a payload to be validated, but there is no Validator", "spring-boot-starter-validation");
		assertRefused(MessageArguments.NONE, new OfValid(), "has a parameter to be validated", "spring-messaging");
	}

	@Test
	void otherParametersStayUnchanged() throws Throwable {
		Plain bean = new Plain();
		ShardHandler handler = detect(bean);

		assertThat(handler.convert(CONTEXT, record("text"), 1)).isEqualTo("text");
	}

	private static void assertNotConverted(Recording bean, SourceRecord record, String... parts) {
		ShardHandler handler = detect(bean);
		assertThatExceptionOfType(PayloadConversionException.class)
			.isThrownBy(() -> handler.convert(CONTEXT, record, 1))
			.satisfies((ex) -> assertThat(ex.getMessage()).contains(parts));
	}

	private static void assertRefused(MessageArguments messages, Recording bean, String what, String action) {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> detect(messages, bean))
			.satisfies((ex) -> {
				assertThat(ex.getDescription()).contains(bean.getClass().getSimpleName()).contains(what);
				assertThat(ex.getAction()).contains(action);
			});
	}

	private static List<Object> call(Recording bean, SourceRecord record) throws Throwable {
		ShardHandler handler = detect(bean);
		handler.handle(handler.convert(CONTEXT, record, 1), new CallArguments(CONTEXT, STATE, ACKNOWLEDGMENT));
		return bean.arguments;
	}

	private static ShardHandler detect(Recording bean) {
		return detect(new SpringMessageArguments(converter(), new DefaultListableBeanFactory(), validator()), bean);
	}

	private static ShardHandler detect(MessageArguments messages, Recording bean) {
		DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
		beans.registerSingleton("handler", bean);
		return new ShardHandlerDetector(new AnnotatedBeans(beans), converter(), messages, CallHooks.NONE,
				(topic) -> TopicSchedule.NONE)
			.detect(Map.of("orders", 4))
			.get("orders");
	}

	private static SpringValidatorAdapter validator() {
		Validator validator = VALIDATORS.getValidator();
		return new SpringValidatorAdapter(validator);
	}

	private static PayloadConverter converter() {
		return new JsonPayloadConverter(new JsonMapper());
	}

	private static Recording bean(String name) throws ReflectiveOperationException {
		return (Recording) Class.forName(MessageHandlersTests.class.getName() + "$" + name)
			.getDeclaredConstructor()
			.newInstance();
	}

	private static SourceRecord record(String payload) {
		return record(payload, Map.of());
	}

	/** JSON is easier to read with single quotes. */
	private static SourceRecord record(String payload, Map<String, String> headers) {
		return new SourceRecord(new Offset("17-4"), "customer-1", payload.replace('\'', '"').getBytes(), headers,
				APPENDED);
	}

	/** Handler that records its arguments. */
	static class Recording {

		final List<Object> arguments = new ArrayList<>();

		final void got(@Nullable Object... values) {
			for (Object value : values) {
				this.arguments.add(value);
			}
		}

	}

	static class OfPayload extends Recording {

		@ShardConsumer("orders")
		void handle(@Payload Order order, ShardContext context, ShardState state, Acknowledgment acknowledgment) {
			got(order, context, state, acknowledgment);
		}

	}

	static class OfText extends Recording {

		@ShardConsumer("orders")
		void handle(@Payload String text) {
			got(text);
		}

	}

	static class OfBytes extends Recording {

		@ShardConsumer("orders")
		void handle(@Payload byte[] bytes) {
			got(bytes);
		}

	}

	static class OfMap extends Recording {

		@ShardConsumer("orders")
		void handle(@Payload Map<String, List<Order>> orders) {
			got(orders);
		}

	}

	static class OfOrigin extends Recording {

		@ShardConsumer("orders")
		void handle(@Payload String payload, @Header(ShardHeaders.KEY) String key,
				@Header(ShardHeaders.TOPIC) String topic, @Header(ShardHeaders.SHARD) int shard,
				@Header(ShardHeaders.OFFSET) String position, @Header(ShardHeaders.OFFSET) Offset offset,
				@Header(ShardHeaders.TIMESTAMP) Instant appended, @Header(ShardHeaders.GROUP) String group) {
			got(payload, key, topic, shard, position, offset, appended, group);
		}

	}

	static class OfHeaders extends Recording {

		@ShardConsumer("orders")
		void handle(@Header String id, @Header("attempt") int attempt, @Header("timestamp") String timestamp,
				@Header(name = "source", defaultValue = "none") String source,
				@Header("trace") Optional<String> trace) {
			got(id, attempt, timestamp, source, trace);
		}

	}

	static class OfAllHeaders extends Recording {

		@ShardConsumer("orders")
		void handle(@Headers Map<String, Object> headers) {
			got(headers);
		}

	}

	static class OfMessage extends Recording {

		@ShardConsumer("orders")
		void handle(Message<List<Order>> message, MessageHeaders headers, Message<?> raw) {
			got(message, headers, raw);
		}

	}

	static class OfRecordAndHeader extends Recording {

		@ShardConsumer("orders")
		void handle(ShardRecord<Order> order, @Header(ShardHeaders.KEY) String key) {
			got(order, key);
		}

	}

	static class OfPlainAndHeader extends Recording {

		@ShardConsumer("orders")
		void handle(Order order, @Header(ShardHeaders.KEY) String key) {
			got(order, key);
		}

	}

	static class OfHeaderOnly extends Recording {

		@ShardConsumer("orders")
		void handle(@Header(ShardHeaders.KEY) String key) {
			got(key);
		}

	}

	static class OfValid extends Recording {

		@ShardConsumer("orders")
		void handle(@Valid Order order) {
			got(order);
		}

	}

	static class OfStrict extends Recording {

		@ShardConsumer("orders")
		void handle(@Payload @Validated(Strict.class) Order order) {
			got(order);
		}

	}

	static class OfBatch extends Recording {

		@ShardConsumer("orders")
		void handle(@Payload @Valid List<Order> orders, ShardState state) {
			got(orders, state);
		}

	}

	static class OfMissing extends Recording {

		@ShardConsumer("orders")
		void handle(String payload, @Header("missing") String header) {
		}

	}

	static class OfAttempt extends Recording {

		@ShardConsumer("orders")
		void handle(@Header("attempt") int attempt) {
		}

	}

	static class Plain extends Recording {

		@ShardConsumer("orders")
		void handle(String payload) {
			got(payload);
		}

	}

	static class Expression extends Recording {

		@ShardConsumer("orders")
		void handle(@Payload("number") String number) {
		}

	}

	static class Anything extends Recording {

		@ShardConsumer("orders")
		void handle(@Payload Object payload) {
		}

	}

	static class ValidRecord extends Recording {

		@ShardConsumer("orders")
		void handle(@Valid ShardRecord<Order> order) {
		}

	}

	static class ValidRecords extends Recording {

		@ShardConsumer("orders")
		void handle(@Valid List<ShardRecord<Order>> orders) {
		}

	}

	static class ValidContext extends Recording {

		@ShardConsumer("orders")
		void handle(@Valid ShardContext context) {
		}

	}

	static class HeadersOfText extends Recording {

		@ShardConsumer("orders")
		void handle(String payload, @Headers String headers) {
		}

	}

	static class HeaderOfKafka extends Recording {

		@ShardConsumer("orders")
		void handle(String payload, @Header("kafka_receivedMessageKey") String key) {
		}

	}

	static class OtherMessage extends Recording {

		@ShardConsumer("orders")
		void handle(ErrorMessage message) {
		}

	}

	static class Messages extends Recording {

		@ShardConsumer("orders")
		void handle(List<Message<Order>> messages) {
		}

	}

	static class BatchAndHeader extends Recording {

		@ShardConsumer("orders")
		void handle(List<Order> orders, @Header(ShardHeaders.KEY) String key) {
		}

	}

	static class TwoPayloads extends Recording {

		@ShardConsumer("orders")
		void handle(@Payload Order order, String other) {
		}

	}

	static class PayloadOrBatch extends Recording {

		@ShardConsumer("orders")
		void handle(@Payload Iterable<Order> orders) {
		}

	}

	record Order(@NotBlank String number, @Min(1) @Min(value = 100, groups = Strict.class) int amount) {

	}

	interface Strict {

	}

}
