package io.github.shardkeeper.benchmarks.locks;

import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * The peer with the lowest figure, beside Shardkeeper. Immutable.
 *
 * @param peer the peer
 * @param figure its figure
 * @param ours the figure of Shardkeeper
 */
record Fastest(Contender peer, double figure, double ours) {

	/** Returns it; empty unless Shardkeeper and a peer were measured. */
	static <T> Optional<Fastest> of(Map<Contender, T> measured, ToDoubleFunction<T> figure) {
		T ours = measured.get(Contender.SHARDKEEPER);
		return measured.entrySet()
			.stream()
			.filter((peer) -> ours != null && peer.getKey() != Contender.SHARDKEEPER)
			.min(Comparator.comparingDouble((peer) -> figure.applyAsDouble(peer.getValue())))
			.map((peer) -> new Fastest(peer.getKey(), figure.applyAsDouble(peer.getValue()),
					figure.applyAsDouble(ours)));
	}

}
