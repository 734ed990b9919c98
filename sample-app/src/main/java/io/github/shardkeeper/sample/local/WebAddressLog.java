package io.github.shardkeeper.sample.local;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;

/**
 * Logs the address of the instance's page.
 */
final class WebAddressLog implements ApplicationListener<ApplicationReadyEvent> {

	private static final Logger logger = LoggerFactory.getLogger(WebAddressLog.class);

	@Override
	public void onApplicationEvent(ApplicationReadyEvent event) {
		logger.info("Open http://localhost:{}",
				event.getApplicationContext().getEnvironment().getProperty("local.server.port"));
	}

}
