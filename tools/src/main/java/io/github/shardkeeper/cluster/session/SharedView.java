package io.github.shardkeeper.cluster.session;

import java.util.OptionalInt;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.cluster.ClusterView;
import io.github.shardkeeper.shard.MemberId;

/** The view that the session reads. Thread-safe. */
public final class SharedView implements ClusterView, ClusterTool {

	private final ClusterSession session;

	private final ValueListeners<View> listeners;

	/** Creates the tool and adds it to the session. */
	public SharedView(ClusterSession session) {
		this.session = session;
		this.listeners = new ValueListeners<>("view of group '" + session.group() + "'", session.callbacks(),
				this::current, SharedView::isNew);
		session.add(this);
	}

	@Override
	public View current() {
		View view = this.session.view();
		MemberId self = view.self();
		// Without the lease there is no index, however old the view is.
		return (self == null || this.session.isHeld(self)) ? view : new View(view.number(), view.members(), null);
	}

	@Override
	public OptionalInt index() {
		return current().index();
	}

	@Override
	public boolean isMine(long id) {
		return current().isMine(id);
	}

	@Override
	public Runnable onChange(Consumer<? super View> listener) {
		return this.listeners.add(listener);
	}

	@Override
	public void catchUp(MemberId member, ViewStore.Reply reply) {
		this.listeners.rescue();
		this.listeners.wake();
	}

	/** A view that was reported without an index is reported again with it. */
	private static boolean isNew(View view, @Nullable View last) {
		View before = (last != null) ? last : View.NONE;
		return view.number() != before.number() || view.self() != null && before.self() == null;
	}

}
