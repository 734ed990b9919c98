package kotlin.coroutines;

/**
 * Stands for Kotlin's own, which the compiler adds to the parameters of a suspending
 * function.
 */
public interface Continuation<T> {

	void resumeWith(Object result);

}
