package io.github.shardkeeper.cluster.session;

import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

import org.slf4j.Logger;

import io.github.shardkeeper.cluster.ClusterView;
import io.github.shardkeeper.loop.SerialTask;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.text.PrintableLogger;

/** The view that the session reads. Thread-safe. */
public final class SharedView implements ClusterView, ClusterTool {

	private static final Logger logger = PrintableLogger.of(SharedView.class);

	private final ClusterSession session;

	private final List<Listener> listeners = new CopyOnWriteArrayList<>();

	/** Creates the tool and adds it to the session. */
	public SharedView(ClusterSession session) {
		this.session = session;
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
		Objects.requireNonNull(listener, "listener must not be null");
		Listener added = new Listener(listener);
		this.listeners.add(added);
		added.task.wake();
		return () -> this.listeners.remove(added);
	}

	@Override
	public void catchUp(MemberId member, ViewStore.Reply reply) {
		this.listeners.forEach((listener) -> {
			listener.task.rescue();
			listener.task.wake();
		});
	}

	private final class Listener {

		private final Consumer<? super View> listener;

		private final SerialTask task;

		/** Confined to the task. */
		private View told = View.NONE;

		Listener(Consumer<? super View> listener) {
			this.listener = listener;
			this.task = new SerialTask(SharedView.this.session.callbacks(), this::tell, (refusal) -> {
				throw new IllegalStateException("No thread for a listener to the view", refusal);
			});
		}

		/** A view that was told without an index is told again with it. */
		private boolean isNew(View view) {
			return view.number() != this.told.number() || view.self() != null && this.told.self() == null;
		}

		private boolean tell() {
			View view = current();
			if (isNew(view) && SharedView.this.listeners.contains(this)) {
				this.told = view;
				try {
					this.listener.accept(view);
				}
				catch (Throwable ex) {
					logger.error("A listener to the view of group '{}' has failed", SharedView.this.session.group(),
							ex);
				}
			}
			return false;
		}

	}

}
