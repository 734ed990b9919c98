package io.github.shardkeeper.handler;

import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.schedule.RunRules;
import io.github.shardkeeper.schedule.RunRules.MissedRuns;
import io.github.shardkeeper.schedule.RunRules.OnInterruption;
import io.github.shardkeeper.schedule.RunTrigger.Cron;
import io.github.shardkeeper.schedule.RunTrigger.Every;
import io.github.shardkeeper.schedule.TopicSchedule;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.JsonPayloadConverter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** When handlers without records are called, by annotation and by property. */
class HandlerSchedulesTests {

	private static final String DAILY = "0 0 3 * * *";

	private TopicSchedule configured = TopicSchedule.NONE;

	private boolean hasRecords;

	@Test
	void annotationSaysCronAndZone() {
		assertThat(schedule(new Daily())).isEqualTo(new RunRules(Cron.parse(DAILY, "Europe/Berlin", "here"),
				OnInterruption.REPEAT, MissedRuns.ONCE, Duration.ofMinutes(1)));
		assertThat(handler(new Daily()).interval()).isZero();
	}

	@Test
	void annotationSaysTheInterval() {
		assertThat(schedule(new Pausing())).isEqualTo(RunRules.every(Duration.ofSeconds(10)));
		assertThat(handler(new Pausing()).interval()).isEqualTo(Duration.ofSeconds(10));
	}

	@Test
	void propertiesReplaceTheAnnotation() {
		this.configured = new TopicSchedule("@hourly", null, null, OnInterruption.SKIP, MissedRuns.ALL,
				Duration.ofMinutes(5));
		assertThat(schedule(new Daily())).isEqualTo(new RunRules(Cron.parse("@hourly", "Europe/Berlin", "here"),
				OnInterruption.SKIP, MissedRuns.ALL, Duration.ofMinutes(5)));
		assertThat(schedule(new Pausing()).trigger()).isEqualTo(Cron.parse("@hourly", null, "here"));

		this.configured = new TopicSchedule(null, "Asia/Shanghai", null, null, null, null);
		assertThat(schedule(new Daily()).trigger()).isEqualTo(Cron.parse(DAILY, "Asia/Shanghai", "here"));

		this.configured = new TopicSchedule(null, null, Duration.ofMinutes(2), null, null, null);
		assertThat(schedule(new Daily()).trigger()).isEqualTo(new Every(Duration.ofMinutes(2)));
		assertThat(schedule(new Silent()).trigger()).as("an annotation alone")
			.isEqualTo(new Every(Duration.ofMinutes(2)));
	}

	@Test
	void intervalOfZeroIsNoSchedule() {
		this.configured = new TopicSchedule(null, null, Duration.ZERO, null, null, null);

		assertThat(schedule(new Pausing())).isNull();
	}

	@Test
	void topicWithRecordsKeepsNoSchedule() {
		this.hasRecords = true;

		assertThat(schedule(new Pausing())).isNull();
		assertThat(handler(new Pausing()).interval()).isEqualTo(Duration.ofSeconds(10));
		this.configured = new TopicSchedule(null, null, Duration.ofMinutes(2), null, null, null);
		assertThat(handler(new Pausing()).interval()).as("a property works there, too")
			.isEqualTo(Duration.ofMinutes(2));
	}

	@Test
	void scheduleThatIsMissingOrDoubleIsRefused() {
		refused(new Silent(), "has neither an interval nor a cron expression", "cron = \"0 0 3 * * *\"",
				"'shardkeeper.topics.tenants.schedule.cron'");
		refused(new Both(), "has both the interval '10s' and the cron expression '0 0 3 * * *'", "Keep one of them");
		this.configured = new TopicSchedule(DAILY, null, Duration.ofSeconds(1), null, null, null);
		refused(new Pausing(), "Both 'shardkeeper.topics.tenants.schedule.cron' and "
				+ "'shardkeeper.topics.tenants.schedule.interval' are set", "Keep one of them");
		this.configured = TopicSchedule.NONE;
		this.hasRecords = true;
		refused(new Silent(), "takes no record, so the records of its topic would never be read",
				"Add a parameter for the record");
	}

	@Test
	void invalidCronZoneAndIntervalAreRefused() {
		refused(new BadCron(), "The cron expression 'nope' of the @ShardConsumer method BadCron.run() is not valid",
				"Write six fields");
		this.configured = new TopicSchedule("0 0 0 30 2 *", null, null, null, null, null);
		refused(new Pausing(), "'0 0 0 30 2 *' of 'shardkeeper.topics.tenants.schedule.cron' never fires",
				"Correct it");
		this.configured = new TopicSchedule(null, "Mars", null, null, null, null);
		refused(new Daily(), "The zone 'Mars' of the @ShardConsumer method Daily.run(ShardContext)", "Europe/Berlin");
		refused(new Pausing(), "has the zone 'Mars', but no cron expression", "Remove the zone");
		this.configured = new TopicSchedule(null, null, Duration.ofSeconds(-1), null, null, null);
		refused(new Pausing(), "'shardkeeper.topics.tenants.schedule.interval' is 'PT-1S'",
				"neither negative nor longer than 36500 days");
		this.configured = new TopicSchedule(null, null, Duration.ofDays(36_501), null, null, null);
		refused(new Pausing(), "'shardkeeper.topics.tenants.schedule.interval' is 'PT876024H'", "36500 days");
		this.configured = TopicSchedule.NONE;
		refused(new Endless(), "The interval of the @ShardConsumer method Endless.run() is '9999999999999d'",
				"36500 days");
	}

	@Test
	void rulesWithoutEffectAreRefused() {
		this.configured = new TopicSchedule(null, null, null, null, MissedRuns.ALL, null);
		refused(new Pausing(), "'shardkeeper.topics.tenants.schedule.missed-runs' is set, but", "Remove it");
		this.configured = new TopicSchedule(null, null, null, null, null, Duration.ofMinutes(1));
		refused(new Pausing(), "schedule.missed-after' is set", "Remove it");
		this.configured = new TopicSchedule(null, null, Duration.ZERO, OnInterruption.SKIP, null, null);
		refused(new Pausing(), "has an interval of zero", "Remove it");
	}

	@Test
	void cronNeedsATopicWithoutRecords() {
		this.hasRecords = true;
		refused(new Daily(), "has a cron expression, but the topic 'tenants' has records",
				"Set 'shardkeeper.topics.tenants.source' to 'fixed'");
		this.configured = new TopicSchedule(null, null, null, OnInterruption.SKIP, null, null);
		refused(new Pausing(), "has 'shardkeeper.topics.tenants.schedule.on-interruption', but", "'fixed'");
	}

	@Test
	void handlerOfRecordsHasNoSchedule() {
		refused(new OfRecords(), "takes records, but the topic 'tenants' has none",
				"@ShardConsumer(value = \"tenants\", interval = \"10s\")");
		this.hasRecords = true;
		assertThat(schedule(new OfRecords())).isNull();
		refused(new OfRecordsDaily(), "has the cron expression '0 0 3 * * *', but takes records",
				"Remove the schedule");
		this.configured = new TopicSchedule(DAILY, null, null, null, null, null);
		refused(new OfRecords(), "has 'shardkeeper.topics.tenants.schedule', but takes records", "Remove the schedule");
	}

	private RunRules schedule(Object bean) {
		return handler(bean).schedule();
	}

	private ShardHandler handler(Object bean) {
		DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
		beans.registerSingleton("handler", bean);
		return new ShardHandlerDetector(new AnnotatedBeans(beans), new JsonPayloadConverter(new JsonMapper()),
				MessageArguments.NONE, CallHooks.NONE, (topic) -> this.configured)
			.detect(Map.of("tenants", 2), (topic) -> this.hasRecords)
			.get("tenants");
	}

	private void refused(Object bean, String description, String... actions) {
		Consumer<ShardkeeperConfigurationException> explains = (ex) -> {
			assertThat(ex.getDescription()).contains(description);
			assertThat(ex.getAction()).contains(actions);
		};
		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> handler(bean))
			.satisfies(explains);
	}

	static class Daily {

		@ShardConsumer(value = "tenants", cron = DAILY, zone = "Europe/Berlin")
		void run(ShardContext shard) {
		}

	}

	static class Pausing {

		@ShardConsumer(value = "tenants", interval = "10s")
		void run() {
		}

	}

	static class Endless {

		@ShardConsumer(value = "tenants", interval = "9999999999999d")
		void run() {
		}

	}

	static class Silent {

		@ShardConsumer("tenants")
		void run() {
		}

	}

	static class Both {

		@ShardConsumer(value = "tenants", interval = "10s", cron = DAILY)
		void run() {
		}

	}

	static class BadCron {

		@ShardConsumer(value = "tenants", cron = "nope")
		void run() {
		}

	}

	static class OfRecords {

		@ShardConsumer("tenants")
		void run(String payload) {
		}

	}

	static class OfRecordsDaily {

		@ShardConsumer(value = "tenants", cron = DAILY)
		void run(String payload) {
		}

	}

}
