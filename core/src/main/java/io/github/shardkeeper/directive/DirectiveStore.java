package io.github.shardkeeper.directive;

import java.util.Collection;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.directive.Directive.Kind;
import io.github.shardkeeper.shard.MemberId;

/**
 * Store of the directives of one group, in the same place as its control plane and lost
 * together with it. Each method is one atomic step, and each change notifies all members;
 * the reply to a heartbeat has the version of the last change. A directive outlives its
 * subject: a pin is followed again when its instance comes back. Thread-safe.
 * <p>
 * Every method may throw {@link StoreUnavailableException}. A retry with the same
 * arguments is always safe.
 */
public interface DirectiveStore {

	/** Store that keeps none. */
	DirectiveStore NONE = new NoDirectives();

	/** Maximum number of directives of a group. */
	int MOST = 1_000;

	/**
	 * Reads all directives. What cannot be read, because others or later versions have
	 * written it, is among {@link Directives#problems} instead.
	 */
	Directives read();

	/**
	 * Stores a directive, with the store's time and a new version, instead of one with
	 * the same name. Changes nothing if that one wants the same.
	 */
	Change put(Directive directive);

	/**
	 * Removes a directive. A store without free memory accepts it, too.
	 */
	Change clear(Kind kind, String subject);

	/**
	 * Removes requests that the leader has followed, except those that have been replaced
	 * since.
	 * @return whether that was done; {@code false} if another member leads
	 */
	boolean complete(MemberId leader, long epoch, Collection<Directive> requests);

	/**
	 * The result of a change. Immutable.
	 *
	 * @param outcome whether it was made
	 * @param before the directive with the same name before it; {@code null} for none
	 */
	record Change(Outcome outcome, @Nullable Directive before) {

	}

	enum Outcome {

		CHANGED,

		/** There was nothing to change. */
		UNCHANGED,

		/** There are {@value #MOST} directives already; nothing was changed. */
		FULL

	}

	/** Keeps none, and refuses changes. */
	final class NoDirectives implements DirectiveStore {

		private NoDirectives() {
		}

		@Override
		public Directives read() {
			return Directives.NONE;
		}

		@Override
		public Change put(Directive directive) {
			throw new UnsupportedOperationException("This store keeps no directives");
		}

		@Override
		public Change clear(Kind kind, String subject) {
			return new Change(Outcome.UNCHANGED, null);
		}

		@Override
		public boolean complete(MemberId leader, long epoch, Collection<Directive> requests) {
			return true;
		}

	}

}
