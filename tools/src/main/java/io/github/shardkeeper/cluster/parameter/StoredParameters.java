package io.github.shardkeeper.cluster.parameter;

import java.lang.reflect.Field;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.util.ObjectUtils;
import org.springframework.util.ReflectionUtils;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.ClusterParameters;
import io.github.shardkeeper.cluster.Parameter;
import io.github.shardkeeper.cluster.Parameter.Source;
import io.github.shardkeeper.cluster.ParameterConflictException;
import io.github.shardkeeper.cluster.parameter.ParameterStore.Contents;
import io.github.shardkeeper.cluster.parameter.ParameterStore.Entry;
import io.github.shardkeeper.cluster.parameter.ParameterStore.Reply;
import io.github.shardkeeper.cluster.parameter.StoredEntry.Content;
import io.github.shardkeeper.cluster.parameter.ValueFormat.UnusableValueException;
import io.github.shardkeeper.cluster.session.ClusterSession;
import io.github.shardkeeper.cluster.session.ClusterTool;
import io.github.shardkeeper.cluster.session.ViewStore;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Names;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * The parameters on this instance. They work without a session, with what was read when
 * they were created; with one they follow the store: at each message, and at each reply
 * of the view with another version. Thread-safe.
 */
public final class StoredParameters implements ClusterParameters, ClusterTool, AutoCloseable {

	private static final Logger logger = PrintableLogger.of(StoredParameters.class);

	private static final String MESSAGE = "parameter";

	private static final String PROPERTY = "shardkeeper.parameters.";

	private static final String THREAD_NAME_PREFIX = "shardkeeper-parameters-";

	/** More than one, in case a check of the application blocks. */
	private static final int THREADS = 4;

	private static final int IDLE_SECONDS = 30;

	private final String group;

	private final String instance;

	private final ParameterStore store;

	private final Map<String, String> configured;

	private final ValueFormat format;

	private final ValueConstraints constraints;

	private final Executor callbacks;

	/**
	 * Blocked callbacks must not delay new values, so these have threads of their own.
	 */
	private final ExecutorService settling;

	private final Map<String, LiveParameter<?>> declared = new ConcurrentHashMap<>();

	/** Entries of the store, also of parameters that are not declared here. */
	private final Map<String, StoredEntry> entries = new ConcurrentHashMap<>();

	/** Numbers the moments at which the store is asked and replies. */
	private final AtomicLong moments = new AtomicLong();

	/** Version of the last change that was made here, and that the store may not lose. */
	private final AtomicLong written = new AtomicLong();

	private volatile @Nullable ClusterSession session;

	/** Whether all that the store had was known when it answered last. */
	private volatile boolean upToDate;

	/** Whether the store may have lost what it has answered. */
	private volatile boolean doubtful = true;

	/** Version of the store up to which all is known. Guarded by this. */
	private long known;

	/**
	 * Creates the tool and reads the store once. If it does not reply, defaults apply.
	 * @param group the name of the group
	 * @param instance the author of changes without another one
	 * @param configured the configured defaults by name
	 * @param callbacks runs the listeners of the application; may block
	 */
	public StoredParameters(String group, String instance, ParameterStore store, Map<String, String> configured,
			ValueFormat format, ValueConstraints constraints, Executor callbacks) {
		this.group = group;
		this.instance = instance.substring(0, Math.min(instance.length(), MAX_AUTHOR_LENGTH));
		this.store = store;
		this.configured = Map.copyOf(configured);
		this.format = format;
		this.constraints = constraints;
		this.callbacks = callbacks;
		CustomizableThreadFactory threads = new CustomizableThreadFactory(THREAD_NAME_PREFIX);
		threads.setDaemon(true);
		ThreadPoolExecutor pool = new ThreadPoolExecutor(THREADS, THREADS, IDLE_SECONDS, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(), threads);
		pool.allowCoreThreadTimeOut(true);
		this.settling = pool;
		try {
			read();
		}
		catch (StoreUnavailableException ex) {
			logger.warn("Parameters of group '{}' have their defaults until the store replies: {}", group,
					ex.getMessage());
		}
	}

	/** Follows the store from now on. */
	public void follow(ClusterSession session) {
		this.session = session;
		session.add(this);
	}

	String group() {
		return this.group;
	}

	ValueFormat format() {
		return this.format;
	}

	/** Returns the executor for listeners. */
	Executor callbacks() {
		return this.callbacks;
	}

	/** Returns the executor that reads, checks and publishes new values. */
	Executor settling() {
		return this.settling;
	}

	/** Returns whether the store was reachable lately, and nothing has changed since. */
	boolean isCurrent() {
		ClusterSession followed = this.session;
		return this.upToDate && (followed == null || followed.problem().isEmpty());
	}

	@Override
	public <T> Parameter<T> get(String name, Class<T> type, T defaultValue, Predicate<? super T> check) {
		requireName(name);
		Objects.requireNonNull(type, "type must not be null");
		Objects.requireNonNull(defaultValue, "defaultValue must not be null");
		Objects.requireNonNull(check, "check must not be null");
		LiveParameter<T> parameter = declare(name, ValueType.of(type), defaultValue, "the default in the code");
		requireDefault(parameter, check, (value) -> {
			try {
				return check.test(value) ? null : "its check does not accept it";
			}
			catch (IllegalArgumentException ex) {
				return String.valueOf(ex.getMessage());
			}
		});
		if (!parameter.type().isPlain()) {
			requireDefault(parameter, ValueConstraints.class, (value) -> this.constraints.violation(null, value));
		}
		parameter.settle();
		return parameter;
	}

	/**
	 * Sets a field now and at each change. Its value is the default, unless one is
	 * configured.
	 * @throws ShardkeeperConfigurationException if the declaration is not valid
	 */
	void bind(Object bean, Field field, String name) {
		String where = field.getDeclaringClass().getSimpleName() + "." + field.getName();
		Object initial = ReflectionUtils.getField(field, bean);
		if (initial == null && !this.configured.containsKey(name)) {
			throw new ShardkeeperConfigurationException(
					"The parameter '%s' of the field %s has no default.".formatted(name, where),
					"Give the field an initial value, or set '%s%s'.".formatted(PROPERTY, name));
		}
		LiveParameter<Object> parameter;
		try {
			parameter = declare(name, ValueType.of(field, bean.getClass()), initial,
					"the initial value of the field " + where);
		}
		catch (IllegalArgumentException ex) {
			throw new ShardkeeperConfigurationException("The field " + where + ": " + ex.getMessage() + ".",
					"Declare it alike everywhere, or use another name.", ex);
		}
		requireDefault(parameter, field, (value) -> this.constraints.violation(field, value));
		parameter.settle();
		parameter.bind(bean, field);
	}

	private <T> void requireDefault(LiveParameter<T> parameter, Object declaredAt,
			Function<T, @Nullable String> check) {
		String violation = check.apply(parameter.defaultValue());
		if (violation != null) {
			String name = parameter.name();
			throw new ShardkeeperConfigurationException(
					"The default '%s' of the parameter '%s' is not valid: %s."
						.formatted(LiveParameter.shown(String.valueOf(parameter.defaultValue())), name, violation),
					"Set '%s%s', or the default in the code, to a valid value.".formatted(PROPERTY, name));
		}
		parameter.check(declaredAt, check);
	}

	@SuppressWarnings("unchecked")
	private <T> LiveParameter<T> declare(String name, ValueType type, @Nullable T inCode, String where) {
		LiveParameter<?> existing = this.declared.get(name);
		if (existing == null) {
			T defaultValue = defaultValue(name, type, inCode);
			existing = this.declared.computeIfAbsent(name,
					(added) -> new LiveParameter<>(added, type, defaultValue, this, entry(added)));
		}
		if (!existing.type().isSameAs(type)) {
			throw new IllegalArgumentException(
					"The parameter '%s' is declared as %s and as %s".formatted(name, existing.type(), type));
		}
		if (!this.configured.containsKey(name) && !ObjectUtils.nullSafeEquals(existing.defaultValue(), inCode)) {
			throw new IllegalArgumentException("The parameter '%s' is declared with two defaults, '%s' and '%s' (%s)"
				.formatted(name, LiveParameter.shown(String.valueOf(existing.defaultValue())),
						LiveParameter.shown(String.valueOf(inCode)), where));
		}
		return (LiveParameter<T>) existing;
	}

	@SuppressWarnings("unchecked")
	private <T> T defaultValue(String name, ValueType type, @Nullable T inCode) {
		String text = this.configured.get(name);
		if (this.configured.containsKey(name + ".0")) {
			throw new ShardkeeperConfigurationException("'%s%s' is a list.".formatted(PROPERTY, name),
					"Write it as JSON in one text, for example '[1,2]'.");
		}
		if (text == null) {
			return Objects.requireNonNull(inCode);
		}
		try {
			LiveParameter.requireSize(name, text);
			return (T) this.format.read(text, type);
		}
		catch (UnusableValueException | IllegalArgumentException ex) {
			throw new ShardkeeperConfigurationException(
					"'%s%s' is '%s': %s.".formatted(PROPERTY, name, LiveParameter.shown(text), ex.getMessage()),
					"Write a value of type " + type + (type.isPlain() ? "." : ", as JSON in one text."), ex);
		}
	}

	private StoredEntry entry(String name) {
		return this.entries.computeIfAbsent(name, (added) -> new StoredEntry());
	}

	private static void requireName(String name) {
		Objects.requireNonNull(name, "name must not be null");
		if (!Names.isValid(name)) {
			throw new IllegalArgumentException("The name '" + name + "' of a parameter is not valid. " + Names.RULE);
		}
	}

	@Override
	public List<State> states() {
		return names().stream().map(this::state).flatMap(Optional::stream).toList();
	}

	/** Declared, configured or stored. */
	private Set<String> names() {
		Set<String> names = new TreeSet<>(this.declared.keySet());
		names.addAll(this.configured.keySet());
		this.entries.forEach((name, entry) -> {
			if (entry.content().exists()) {
				names.add(name);
			}
		});
		return names;
	}

	@Override
	public Optional<State> state(String name) {
		Objects.requireNonNull(name, "name must not be null");
		LiveParameter<?> parameter = this.declared.get(name);
		if (parameter != null) {
			return Optional.of(parameter.state());
		}
		StoredEntry entry = this.entries.get(name);
		Content content = (entry != null) ? entry.content() : Content.NONE;
		String byDefault = this.configured.get(name);
		if (!content.exists() && byDefault == null) {
			return Optional.empty();
		}
		Change change = content.change();
		String value = content.value();
		Source source = (value == null) ? Source.DEFAULT : isCurrent() ? Source.STORE : Source.LAST_KNOWN;
		return Optional.of(new State(name, null, (value != null) ? value : byDefault, byDefault, source,
				content.version(), (change != null) ? change.time() : null, (change != null) ? change.author() : null,
				content.unreadable()));
	}

	@Override
	public long set(String name, String value, Update update) {
		Objects.requireNonNull(value, "value must not be null");
		Objects.requireNonNull(update, "update must not be null");
		return requireDeclared(name).setText(value, update);
	}

	private LiveParameter<?> requireDeclared(String name) {
		requireName(name);
		LiveParameter<?> parameter = this.declared.get(name);
		if (parameter == null) {
			throw new IllegalArgumentException(
					"The parameter '%s' is not declared on this instance, so its values cannot be checked; declared are %s"
						.formatted(name, new TreeSet<>(this.declared.keySet())));
		}
		return parameter;
	}

	@Override
	public long reset(String name, Update update) {
		requireName(name);
		Objects.requireNonNull(update, "update must not be null");
		return change(name, null, update);
	}

	@Override
	public long revert(String name, long version, Update update) {
		Objects.requireNonNull(update, "update must not be null");
		LiveParameter<?> parameter = requireDeclared(name);
		List<Change> history = history(name);
		Change target = history.stream()
			.filter((change) -> change.version() == version)
			.findFirst()
			.orElseThrow(
					() -> new IllegalArgumentException("The history of the parameter '%s' has no version %d, but %s"
						.formatted(name, version, history.stream().map(Change::version).toList())));
		String value = target.value();
		return (value != null) ? parameter.setText(value, update) : change(name, null, update);
	}

	private long change(String name, @Nullable String value, Update update) {
		long version = write(name, value, update);
		LiveParameter<?> parameter = this.declared.get(name);
		if (parameter != null) {
			parameter.settle();
		}
		return version;
	}

	@Override
	public List<Change> history(String name) {
		requireName(name);
		return this.store.history(name);
	}

	/** Writes a change, and remembers it. */
	long write(String name, @Nullable String value, Update update) {
		long askedAt = this.moments.incrementAndGet();
		Long expected = update.expectedVersion();
		String author = update.author();
		Reply reply = this.store.set(name, value, (author != null) ? author : this.instance,
				(expected != null) ? expected : ParameterStore.ANY_VERSION);
		if (reply instanceof Reply.Conflict conflict) {
			throw new ParameterConflictException(
					"The parameter '%s' has version %d, not %d: somebody else has changed it. Look at its value and try again"
						.formatted(name, conflict.version(), expected),
					conflict.version());
		}
		Change change = ((Reply.Changed) reply).change();
		accept(name, new Content(change, null), askedAt);
		this.written.accumulateAndGet(change.version(), Math::max);
		return change.version();
	}

	private void accept(String name, Content content, long askedAt) {
		boolean changed = entry(name).accept(content, askedAt, this.moments.incrementAndGet());
		LiveParameter<?> parameter = this.declared.get(name);
		if (changed && parameter != null) {
			parameter.wake();
		}
	}

	@Override
	public void message(String kind, String text) {
		ClusterSession followed = this.session;
		if (kind.equals(MESSAGE) && followed != null) {
			followed.requestCatchUp();
		}
	}

	@Override
	public void writesMayBeLost() {
		this.doubtful = true;
	}

	@Override
	public void sessionChanged() {
		ClusterSession followed = this.session;
		if (followed != null && followed.member() == null) {
			this.upToDate = false;
		}
	}

	@Override
	public void catchUp(MemberId member, ViewStore.Reply reply) {
		this.declared.values().forEach(LiveParameter::rescue);
		if (reply.parameters() < this.written.get()) {
			this.doubtful = true;
		}
		if (this.doubtful || reply.parameters() != known()) {
			read();
		}
		this.upToDate = true;
	}

	private synchronized long known() {
		return this.known;
	}

	/** Reads what has changed, or all if writes may be lost. */
	private synchronized void read() {
		boolean all = this.doubtful;
		this.doubtful = false;
		try {
			if (!read(all ? 0 : this.known)) {
				read(0);
			}
			this.upToDate = true;
		}
		catch (StoreUnavailableException ex) {
			this.doubtful = true;
			this.upToDate = false;
			throw ex;
		}
	}

	/** Returns whether all is known now. */
	private boolean read(long afterVersion) {
		long askedAt = this.moments.incrementAndGet();
		long writtenBefore = this.written.get();
		Contents contents = this.store.read(afterVersion);
		for (Entry entry : contents.entries()) {
			accept(entry.name(), Content.of(entry), askedAt);
		}
		if (contents.complete()) {
			Set<String> gone = new TreeSet<>(this.entries.keySet());
			contents.entries().forEach((entry) -> gone.remove(entry.name()));
			gone.forEach((name) -> accept(name, Content.NONE, askedAt));
			// What was lost is known now.
			this.written.compareAndSet(writtenBefore, Math.min(writtenBefore, contents.version()));
		}
		this.known = contents.version();
		return contents.complete() || contents
			.count() == this.entries.values().stream().filter((entry) -> entry.content().exists()).count();
	}

	/** Ends the threads; values no longer change. */
	@Override
	public void close() {
		this.settling.shutdownNow();
	}

}
