package io.github.shardkeeper.testsupport;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * Network between a simulated process and a store: what is sent may be late, in another
 * order than it was sent, or lost, and so may its reply; it may also be carried out long
 * after its sender has given it up. Confined to the thread of the test.
 */
public final class UnreliableNetwork {

	private final RandomGenerator random;

	/** What is on its way. */
	private final List<Runnable> late = new ArrayList<>();

	private boolean calm;

	public UnreliableNetwork(RandomGenerator random) {
		this.random = random;
	}

	/** From now on, what is sent arrives and is answered at once. */
	public void calm() {
		this.calm = true;
	}

	public boolean isEmpty() {
		return this.late.isEmpty();
	}

	/** Something that is on its way arrives, or all of it. */
	public void arrive() {
		int number = this.random.nextInt(1 + this.late.size());
		for (int i = 0; i < number && !this.late.isEmpty(); i++) {
			this.late.remove(this.random.nextInt(this.late.size())).run();
		}
	}

	/**
	 * Performs a step of a store.
	 * @param step the step, which replies or throws
	 * @param lost the failure of a caller that gives up
	 */
	public <T> CompletableFuture<T> transfer(Supplier<T> step, Supplier<? extends RuntimeException> lost) {
		CompletableFuture<T> answer = new CompletableFuture<>();
		switch (this.calm ? 0 : this.random.nextInt(8)) {
			case 0, 1, 2 -> perform(step, answer);
			case 3 -> {
				CompletableFuture<T> reply = new CompletableFuture<>();
				perform(step, reply);
				this.late.add(() -> perform(reply::join, answer));
			}
			case 4, 5 -> this.late.add(() -> perform(step, answer));
			case 6 -> {
				perform(step, new CompletableFuture<>());
				this.late.add(() -> answer.completeExceptionally(lost.get()));
			}
			default -> this.late.add(() -> {
				answer.completeExceptionally(lost.get());
				this.late.add(() -> perform(step, new CompletableFuture<>()));
			});
		}
		return answer;
	}

	private static <T> void perform(Supplier<T> step, CompletableFuture<T> answer) {
		T reply;
		try {
			reply = step.get();
		}
		catch (CompletionException ex) {
			answer.completeExceptionally(ex.getCause());
			return;
		}
		answer.complete(reply);
	}

}
