package io.github.shardkeeper.test.slice;

import org.springframework.core.Ordered;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestExecutionListener;

/** Begins each test with an empty group, and leaves no instance behind. Thread-safe. */
final class TestShardsReset implements TestExecutionListener, Ordered {

	@Override
	public int getOrder() {
		return LOWEST_PRECEDENCE;
	}

	@Override
	public void beforeTestMethod(TestContext test) {
		test.getApplicationContext().getBean(TestShards.class).reset();
	}

	@Override
	public void afterTestMethod(TestContext test) {
		test.getApplicationContext().getBean(TestShards.class).reset();
	}

}
