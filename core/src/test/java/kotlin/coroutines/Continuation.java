package kotlin.coroutines;

/**
 * Replaces Kotlin's own type, which the compiler adds to the parameters of a suspending
 * function.
 */
public interface Continuation<T> {

	void resumeWith(Object result);

}
