package io.github.shardkeeper.sample;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.event.EventListener;

/**
 * Start it once, twice, three times: the instances share the shards, and the counts stay
 * exact whichever of them you kill.
 */
@SpringBootApplication
@EnableConfigurationProperties(SampleProperties.class)
public class SampleApplication {

	private static final Logger logger = LoggerFactory.getLogger(SampleApplication.class);

	/**
	 * Starts an instance, or, when an instance asks for it, the keeper of its Redis.
	 * @param args properties like {@code --sample.file=access.log}
	 */
	public static void main(String[] args) {
		if (RedisKeeper.isMeantBy(args)) {
			RedisKeeper.main(args);
			return;
		}
		FreeWebPort freeWebPort = new FreeWebPort();
		SpringApplication application = new SpringApplication(SampleApplication.class);
		application.addListeners(new OwnRedis(), freeWebPort);
		application.addInitializers(freeWebPort);
		application.run(args);
	}

	@EventListener
	void sayWhereToLook(ApplicationReadyEvent event) {
		logger.info("Open http://localhost:{}",
				event.getApplicationContext().getEnvironment().getProperty("local.server.port"));
	}

}
