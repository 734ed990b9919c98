package io.github.shardkeeper.handler;

import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.core.GenericTypeResolver;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Reads the signature of one method and rejects what is not supported. Confined to one
 * thread.
 */
final class HandlerSignatureReader {

	private static final String MAY_TAKE = "It may take the record (as ShardRecord<T> or as its payload T) or a batch "
			+ "(as List<ShardRecord<T>> or as List<T>), ShardContext, ShardState, ShardOutput, ShardTimers and Acknowledgment, each at most once; "
			+ "and where Spring Messaging is on the class path, what has @Payload, @Header or @Headers, and Message<T>.";

	private final Method method;

	private final Class<?> beanType;

	private final String annotation;

	private final List<HandlerArgument> arguments = new ArrayList<>();

	private @Nullable Type payloadType;

	private MessageArguments.@Nullable OfMethod messages;

	private @Nullable AnnotatedBeans beans;

	/** Type of the parameter that was taken for the record. */
	private @Nullable Class<?> ofRecord;

	HandlerSignatureReader(Method method, Class<?> beanType, String annotation) {
		this.method = method;
		this.beanType = beanType;
		this.annotation = annotation;
	}

	HandlerSignature consumer(MessageArguments library, @Nullable AnnotatedBeans application) {
		this.beans = application;
		this.messages = library.of(this.method, this.beanType, this::refused);
		HandlerSignature signature = read(EnumSet.complementOf(EnumSet.of(HandlerArgument.TIMER)), MAY_TAKE);
		if (signature.shape() == HandlerShape.LOOP && signature.takes(HandlerArgument.ACKNOWLEDGMENT)) {
			throw refused("takes an Acknowledgment, but no record.",
					"Remove it: without a parameter for the record or the batch the method is called again and again, "
							+ "and there is nothing to acknowledge.");
		}
		if (signature.shape() == HandlerShape.BATCH && signature.takes(HandlerArgument.MESSAGE)) {
			throw refused("takes a batch, and something of one message.",
					"Write List<ShardRecord<T>> for the batch: each record has its key, headers, offset and timestamp.");
		}
		return signature;
	}

	HandlerSignature callback() {
		return read(EnumSet.of(HandlerArgument.CONTEXT, HandlerArgument.STATE),
				"It may take ShardContext and ShardState only, each at most once.");
	}

	HandlerSignature timer() {
		return read(
				EnumSet.of(HandlerArgument.TIMER, HandlerArgument.STATE, HandlerArgument.OUTPUT, HandlerArgument.TIMERS,
						HandlerArgument.CONTEXT),
				"It may take ShardTimer, ShardState, ShardOutput, ShardTimers and ShardContext only, each at most once.");
	}

	HandlerSignature preparation() {
		return read(EnumSet.of(HandlerArgument.CONTEXT),
				"It may take ShardContext only: the state is not there before @OnShardAssigned.");
	}

	private HandlerSignature read(Set<HandlerArgument> allowed, String mayTake) {
		checkDeclaration();
		for (int i = 0; i < SuspendingFunction.parameterCount(this.method); i++) {
			ResolvableType type = ResolvableType
				.forMethodParameter(new MethodParameter(this.method, i).withContainingClass(this.beanType));
			HandlerArgument argument = argument(i, type);
			if (!allowed.contains(argument)) {
				throw refused("has a parameter of type %s.".formatted(type), mayTake);
			}
			refuseBean(argument, type.resolve(Object.class), mayTake);
			boolean repeated = argument != HandlerArgument.MESSAGE && this.arguments.contains(argument)
					|| argument.isOfRecords() && this.arguments.stream().anyMatch(HandlerArgument::isOfRecords);
			if (repeated) {
				throw refused("has more than one parameter for the same thing: parameter %d of type %s."
					.formatted(i + 1, type), mayTake);
			}
			if (argument.isOfRecords()) {
				Type payload = payloadType(argument, type);
				this.payloadType = isFilled(i) ? null : payload;
			}
			requireKnown(i);
			this.arguments.add(argument);
		}
		return new HandlerSignature(this.method, this.annotation, this.arguments, this.payloadType, this.messages);
	}

	/** Rejects a bean, which would be taken for the payload. */
	private void refuseBean(HandlerArgument argument, Class<?> type, String mayTake) {
		AnnotatedBeans application = this.beans;
		if (application == null || !argument.isOfRecords()) {
			return;
		}
		Class<?> other = this.ofRecord;
		this.ofRecord = type;
		Class<?> bean = (application.isOnlyBean(type) || other != null && application.isBean(type)) ? type
				: (other != null && application.isBean(other)) ? other : null;
		if (bean != null) {
			throw refused("has a parameter of type %s, of which there is a bean.".formatted(bean.getName()),
					AnnotatedBeans.INJECT_BEANS + mayTake);
		}
	}

	/** Rejects a type variable: its JSON would become a map. */
	private void requireKnown(int parameter) {
		Type declared = this.method.getGenericParameterTypes()[parameter];
		if (hasVariable(GenericTypeResolver.resolveType(declared, this.beanType))) {
			throw refused("takes a %s, whose type is not known.".formatted(declared.getTypeName()),
					"Write the type itself. A method of a generic class can be a handler in a subclass that says what "
							+ "its type variables are, as in 'class Visits extends %s<Visit>'."
								.formatted(this.method.getDeclaringClass().getSimpleName()));
		}
	}

	private static boolean hasVariable(Type type) {
		if (type instanceof ParameterizedType parameterized) {
			return Arrays.stream(parameterized.getActualTypeArguments()).anyMatch(HandlerSignatureReader::hasVariable);
		}
		if (type instanceof WildcardType wildcard) {
			return Arrays.stream(wildcard.getUpperBounds()).anyMatch(HandlerSignatureReader::hasVariable);
		}
		if (type instanceof GenericArrayType array) {
			return hasVariable(array.getGenericComponentType());
		}
		return type instanceof TypeVariable;
	}

	private HandlerArgument argument(int parameter, ResolvableType type) {
		HandlerArgument argument = HandlerArgument.of(type);
		if (isFilled(parameter)) {
			boolean payload = this.messages != null && this.messages.isPayload(parameter);
			if (payload && !argument.isOfRecords()) {
				throw refused("has @Payload, @Valid or @Validated on a %s.".formatted(type), "Remove the annotation.");
			}
			return payload ? argument : HandlerArgument.MESSAGE;
		}
		if (argument.isOfRecords() && isValidated(parameter)) {
			throw refused("has a parameter to be validated.",
					"Add the dependencies 'org.springframework:spring-messaging' and "
							+ "'org.springframework.boot:spring-boot-starter-validation', or remove the annotation.");
		}
		return argument;
	}

	private boolean isFilled(int parameter) {
		return this.messages != null && this.messages.fills(parameter);
	}

	/** By the annotation's name, as Spring does. */
	private boolean isValidated(int parameter) {
		return Arrays.stream(this.method.getParameterAnnotations()[parameter])
			.anyMatch((annotation) -> annotation.annotationType().getSimpleName().startsWith("Valid"));
	}

	private void checkDeclaration() {
		if (AnnotatedBeans.isSuspending(this.method)) {
			checkSuspending();
			return;
		}
		Class<?> returned = this.method.getReturnType();
		if (returned != void.class && !LateResult.isSupported(returned)) {
			throw refused("returns %s.".formatted(returned.getSimpleName()), AnnotatedBeans
				.isAsynchronousResult(returned)
						? "Return one result, such as a CompletableFuture or a Mono, as that of Flux.then(): when it is "
								+ "complete, the record counts as handled. Reactive types need Reactor on the class path."
						: "Declare it 'void' and do the work before it returns: when it returns, the record counts as handled.");
		}
		requireInstanceMethod();
	}

	private void requireInstanceMethod() {
		if (Modifier.isStatic(this.method.getModifiers()) || Modifier.isPrivate(this.method.getModifiers())) {
			throw refused("is private or static.", "Make it an instance method that is not private.");
		}
	}

	private void checkSuspending() {
		if (!SuspendingFunction.isCallable()) {
			throw refused("is a suspending function, which cannot be called.",
					"Add the dependencies 'org.jetbrains.kotlin:kotlin-reflect' and "
							+ "'org.jetbrains.kotlinx:kotlinx-coroutines-reactor', or write a plain 'fun'.");
		}
		String result = SuspendingFunction.result(this.method);
		if (result != null) {
			throw refused("is a suspending function that returns %s.".formatted(result),
					"Let it return nothing and do the work before it returns: when it returns, the record counts as "
							+ "handled.");
		}
		requireInstanceMethod();
	}

	private Type payloadType(HandlerArgument argument, ResolvableType type) {
		if (HandlerArgument.isAmbiguous(type)) {
			throw refused("takes a %s, which could be a batch or one payload.".formatted(type),
					"Write List<T> for a batch, and ShardRecord<%s> for a payload that is a JSON array."
						.formatted(type));
		}
		ResolvableType payload = argument.payload(type);
		if (payload != type && payload.resolve() == null) {
			throw refused("takes a %s without saying of what.".formatted(argument.isWhole() ? "ShardRecord" : "List"),
					"Write the payload's type, for example %s.".formatted(switch (argument) {
						case RECORD -> "ShardRecord<String>";
						case RECORDS -> "List<ShardRecord<String>>";
						default -> "List<String>";
					}));
		}
		return GenericTypeResolver.resolveType(payload.getType(), this.beanType);
	}

	private ShardkeeperConfigurationException refused(String what, String action) {
		return new ShardkeeperConfigurationException(
				"The %s method %s %s".formatted(this.annotation, HandlerSignature.name(this.method), what), action);
	}

}
