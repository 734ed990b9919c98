package io.github.shardkeeper.handler;

import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.support.StaticMessageSource;

import io.github.shardkeeper.ShardConsumer;

import static org.assertj.core.api.Assertions.assertThat;

/** Which of an application's beans are searched for annotated methods. */
class AnnotatedBeansTests {

	@Test
	void beansOfSpringAreNotSearchedAndClassesThatExtendThemAre() {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.registerBean("of-spring", StaticMessageSource.class);
			context.registerBean("extending", Extending.class);
			context.registerBean("own", Own.class);
			context.refresh();

			assertThat(new AnnotatedBeans(context.getBeanFactory()).candidates(ShardConsumer.class))
				.containsOnlyKeys("extending", "own")
				.containsEntry("extending", Extending.class);
		}
	}

	static class Own {

		@ShardConsumer("orders")
		void handle(String payload) {
		}

	}

	static class Extending extends StaticMessageSource {

		@ShardConsumer("visits")
		void handle(String payload) {
		}

	}

}
