package io.github.shardkeeper.sample;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/**
 * Start it once, twice, three times: the instances share the shards, and the counts stay
 * exact whichever of them you kill.
 */
@SpringBootApplication
public class SampleApplication {

	/**
	 * Starts an instance.
	 * @param args properties like {@code --sample.file=access.log}
	 */
	public static void main(String[] args) {
		SpringApplication.run(SampleApplication.class, args);
	}

}
