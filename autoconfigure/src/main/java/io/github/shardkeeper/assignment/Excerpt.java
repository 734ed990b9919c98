package io.github.shardkeeper.assignment;

import java.util.Set;

/**
 * A request for some of another one's topics. Its members have the same places, its
 * shards other numbers; moves under way are those of all topics. Immutable.
 */
final class Excerpt {

	private final AssignmentRequest whole;

	/** By number here the number in the whole. */
	private final int[] numbers;

	private final AssignmentRequest request;

	private Excerpt(AssignmentRequest whole, Shards shards, int[] numbers) {
		this.whole = whole;
		this.numbers = numbers;
		this.request = request(shards);
	}

	/**
	 * Cuts topics out.
	 * @param whole the request
	 * @param topics the topics to be kept
	 * @return the rest
	 */
	static Excerpt of(AssignmentRequest whole, Set<String> topics) {
		Shards all = whole.shards();
		Shards some = all.only((shard) -> topics.contains(shard.topic()));
		int[] numbers = new int[some.size()];
		int count = 0;
		for (int topic = 0; topic < all.topics().size(); topic++) {
			if (topics.contains(all.topics().get(topic))) {
				for (int shard = all.begin(topic); shard < all.end(topic); shard++) {
					numbers[count++] = shard;
				}
			}
		}
		return new Excerpt(whole, some, numbers);
	}

	private AssignmentRequest request(Shards shards) {
		int[] owners = new int[this.numbers.length];
		long[] since = new long[owners.length];
		long[] sinceMillis = new long[owners.length];
		ShardTraits[] traits = new ShardTraits[owners.length];
		double[] loads = new double[owners.length];
		boolean plain = true;
		for (int shard = 0; shard < owners.length; shard++) {
			int number = this.numbers[shard];
			owners[shard] = this.whole.owner(number);
			since[shard] = this.whole.since(number);
			sinceMillis[shard] = this.whole.sinceMillis(number);
			traits[shard] = this.whole.traits(number);
			loads[shard] = this.whole.load(number);
			plain &= traits[shard].equals(ShardTraits.NONE);
		}
		return AssignmentRequest.builder(this.whole.members(), shards)
			.owners(owners, since, sinceMillis)
			.traits(plain ? null : traits)
			.loads(loads)
			.movesUnderWay(this.whole.movesUnderWay())
			.now(this.whole.nowMillis())
			.build();
	}

	AssignmentRequest request() {
		return this.request;
	}

	int size() {
		return this.numbers.length;
	}

	/**
	 * The number of a shard in the whole.
	 * @param shard its number here
	 * @return the other number
	 */
	int number(int shard) {
		return this.numbers[shard];
	}

}
