package io.github.shardkeeper.sample;

/**
 * A line of the access log and its place in it: what is sent through the topic, as JSON.
 *
 * @param number the line's number, from 0 on
 * @param text the line as the web server wrote it
 */
record AccessLine(long number, String text) {

	/**
	 * The client's address, which is also the key that chooses the shard: all lines of a
	 * client are counted in one place.
	 * @return the text before the first space, or all of it, just as
	 * {@code cut -d' ' -f1} does
	 */
	String client() {
		int space = this.text.indexOf(' ');
		return (space < 0) ? this.text : this.text.substring(0, space);
	}

}
