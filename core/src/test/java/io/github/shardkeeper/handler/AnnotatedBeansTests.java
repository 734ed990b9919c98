package io.github.shardkeeper.handler;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.aot.BeanInstanceSupplier;
import org.springframework.beans.factory.support.InstanceSupplier;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
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

	/** Otherwise a lazy one would not be found. */
	@Test
	void classMayDifferFromThatOfTheBeanMethodAlsoAfterProcessingAheadOfTime() {
		RootBeanDefinition processed = new RootBeanDefinition(Object.class);
		processed.setInstanceSupplier(BeanInstanceSupplier.forFactoryMethod(Configuration.class, "bean"));
		RootBeanDefinition component = new RootBeanDefinition(Own.class);
		component.setInstanceSupplier(InstanceSupplier.using(Own::new));

		assertThat(AnnotatedBeans.mayBeOfAnotherClass(processed, Object.class)).isTrue();
		assertThat(AnnotatedBeans.mayBeOfAnotherClass(processed, String.class)).isFalse();
		assertThat(AnnotatedBeans.mayBeOfAnotherClass(component, Own.class)).isFalse();
	}

	static class Configuration {

		@Bean
		Object bean() {
			return new Own();
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
