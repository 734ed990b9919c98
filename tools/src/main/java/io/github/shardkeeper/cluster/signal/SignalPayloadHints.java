package io.github.shardkeeper.cluster.signal;

import io.github.shardkeeper.cluster.OnClusterSignal;
import io.github.shardkeeper.handler.PayloadHints;

/** Hints for a native image to convert the payloads of signals. Immutable. */
final class SignalPayloadHints extends PayloadHints {

	SignalPayloadHints() {
		super(OnClusterSignal.class);
	}

}
