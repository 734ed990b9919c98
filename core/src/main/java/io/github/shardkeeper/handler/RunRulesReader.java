package io.github.shardkeeper.handler;

import java.time.Duration;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.springframework.format.datetime.standard.DurationFormatterUtils;

import io.github.shardkeeper.schedule.RunRules;
import io.github.shardkeeper.schedule.RunRules.MissedRuns;
import io.github.shardkeeper.schedule.RunRules.OnInterruption;
import io.github.shardkeeper.schedule.RunTrigger.Cron;
import io.github.shardkeeper.schedule.RunTrigger.Every;
import io.github.shardkeeper.schedule.RunTrigger;
import io.github.shardkeeper.schedule.TopicSchedule;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Reads when a handler without records is called, from its annotation and from the
 * properties of its topic. Immutable.
 */
final class RunRulesReader {

	private static final String POSSIBLE_INTERVAL = "Write a duration that is neither negative nor longer than 36500 days, such as '10s', '5m' or '500ms'.";

	private final HandlerSignature signature;

	private final String topic;

	private final boolean hasRecords;

	private final TopicSchedule configured;

	/**
	 * Creates a reader.
	 * @param hasRecords whether the source of the topic has records
	 */
	RunRulesReader(HandlerSignature signature, String topic, boolean hasRecords, TopicSchedule configured) {
		this.signature = signature;
		this.topic = topic;
		this.hasRecords = hasRecords;
		this.configured = configured;
	}

	/**
	 * Reads the rules. A handler without records must have them: only they tell it from a
	 * handler whose parameter for the record was forgotten, and nobody would notice that
	 * its records are never read.
	 * @param interval the interval of the annotation, empty for none, as the other two
	 * @return the rules; {@code null} for a handler of records
	 * @throws ShardkeeperConfigurationException if they are missing or not valid
	 */
	@Nullable RunRules read(String interval, String cron, String zone) {
		if (this.signature.shape() != HandlerShape.LOOP) {
			refuseRecords(interval, cron, zone);
			return null;
		}
		RunTrigger trigger = trigger(interval, cron, zone);
		if (trigger == null) {
			throw missing();
		}
		OnInterruption onInterruption = this.configured.onInterruption();
		MissedRuns missedRuns = this.configured.missedRuns();
		Duration missedAfter = this.configured.missedAfter();
		if (!(trigger instanceof Cron) && (missedRuns != null || missedAfter != null)) {
			throw new ShardkeeperConfigurationException(
					"'%s' is set, but %s has an interval, which misses no run: the next one starts as soon as it can."
						.formatted(property((missedRuns != null) ? "missed-runs" : "missed-after"), name()),
					"Remove it, or replace the interval by a cron expression.");
		}
		if (this.hasRecords && (trigger instanceof Cron || onInterruption != null)) {
			throw new ShardkeeperConfigurationException(
					"%s has %s, but the topic '%s' has records, and its offsets are those of its records.".formatted(
							name(),
							(trigger instanceof Cron) ? "a cron expression"
									: "'%s'".formatted(property("on-interruption")),
							this.topic),
					"Set 'shardkeeper.topics.%s.source' to 'fixed': such a topic has shards without records. Or use an interval only."
						.formatted(this.topic));
		}
		if (onInterruption != null && trigger instanceof Every every && every.interval().isZero()) {
			throw new ShardkeeperConfigurationException(
					"'%s' is set, but %s has an interval of zero, so it has no runs that begin and end."
						.formatted(property("on-interruption"), name()),
					"Remove it, or set an interval or a cron expression.");
		}
		return new RunRules(trigger, (onInterruption != null) ? onInterruption : OnInterruption.REPEAT,
				(missedRuns != null) ? missedRuns : MissedRuns.ONCE,
				(missedAfter != null) ? missedAfter : RunRules.MISSED_AFTER);
	}

	private void refuseRecords(String interval, String cron, String zone) {
		if (!this.hasRecords) {
			throw new ShardkeeperConfigurationException(
					"%s takes records, but the topic '%s' has none: its shards are a fixed list.".formatted(name(),
							this.topic),
					"Remove the parameter for the record and say when the method is called, for example "
							+ "@ShardConsumer(value = \"%s\", interval = \"10s\"). Or set 'shardkeeper.topics.%s.source' to a source with records."
								.formatted(this.topic, this.topic));
		}
		String set = !interval.isEmpty() ? "the interval '%s'".formatted(interval)
				: !cron.isEmpty() ? "the cron expression '%s'".formatted(cron)
						: !zone.isEmpty() ? "the zone '%s'".formatted(zone)
								: !this.configured.equals(TopicSchedule.NONE)
										? "'shardkeeper.topics.%s.schedule'".formatted(this.topic) : null;
		if (set != null) {
			throw new ShardkeeperConfigurationException("%s has %s, but takes records.".formatted(name(), set),
					"Remove the %s: the method is called when there are records. Or remove the parameter for the record, if the method is to be called again and again."
						.formatted(!interval.isEmpty() ? "interval" : "schedule"));
		}
	}

	private @Nullable RunTrigger trigger(String interval, String cron, String zone) {
		if (!interval.isEmpty() && !cron.isEmpty()) {
			throw new ShardkeeperConfigurationException(
					"%s has both the interval '%s' and the cron expression '%s'.".formatted(name(), interval, cron),
					"Keep one of them.");
		}
		String configuredCron = this.configured.cron();
		Duration configuredInterval = this.configured.interval();
		if (configuredCron != null && configuredInterval != null) {
			throw new ShardkeeperConfigurationException(
					"Both '%s' and '%s' are set.".formatted(property("cron"), property("interval")),
					"Keep one of them.");
		}
		boolean isCron = configuredCron != null || configuredInterval == null && !cron.isEmpty();
		String effectiveZone = (this.configured.zone() != null) ? this.configured.zone() : zone;
		if (isCron) {
			return Cron.parse((configuredCron != null) ? configuredCron : cron, effectiveZone, (configuredCron != null)
					? "'%s'".formatted(property("cron")) : "the @ShardConsumer method " + this.signature.name());
		}
		if (this.configured.zone() != null || !zone.isEmpty() && configuredInterval == null) {
			throw new ShardkeeperConfigurationException(
					"%s has the zone '%s', but no cron expression.".formatted(name(), effectiveZone),
					"Remove the zone, or set a cron expression.");
		}
		if (configuredInterval != null) {
			if (!Every.isPossible(configuredInterval)) {
				throw new ShardkeeperConfigurationException(
						"'%s' is '%s'.".formatted(property("interval"), configuredInterval), POSSIBLE_INTERVAL);
			}
			return new Every(configuredInterval);
		}
		return interval.isEmpty() ? null : new Every(parse(interval));
	}

	private ShardkeeperConfigurationException missing() {
		if (this.hasRecords) {
			return new ShardkeeperConfigurationException(
					"%s takes no record, so the records of its topic would never be read.".formatted(name()),
					"Add a parameter for the record, such as ShardRecord<String> or the type of its payload. Or, if the "
							+ "method is to be called again and again without records, say how often: "
							+ "@ShardConsumer(value = \"…\", interval = \"10s\").");
		}
		return new ShardkeeperConfigurationException(
				"%s has neither an interval nor a cron expression.".formatted(name()),
				"Say when it is called: @ShardConsumer(value = \"%s\", interval = \"10s\"), or cron = \"0 0 3 * * *\"; or set '%s'."
					.formatted(this.topic, property("cron")));
	}

	private Duration parse(String interval) {
		Duration parsed;
		try {
			parsed = DurationFormatterUtils.detectAndParse(interval);
		}
		catch (IllegalArgumentException | ArithmeticException ex) {
			throw invalidInterval(interval, ex);
		}
		if (!Every.isPossible(parsed)) {
			throw invalidInterval(interval, null);
		}
		return Objects.requireNonNull(parsed);
	}

	private ShardkeeperConfigurationException invalidInterval(String interval, @Nullable Throwable cause) {
		return new ShardkeeperConfigurationException(
				"The interval of the @ShardConsumer method %s is '%s'.".formatted(this.signature.name(), interval),
				POSSIBLE_INTERVAL, cause);
	}

	private String name() {
		return "The @ShardConsumer method " + this.signature.name();
	}

	private String property(String name) {
		return "shardkeeper.topics.%s.schedule.%s".formatted(this.topic, name);
	}

}
