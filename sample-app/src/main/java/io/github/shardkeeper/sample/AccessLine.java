package io.github.shardkeeper.sample;

/**
 * Line of the access log with its number: the record that travels through the topic, as
 * JSON. Immutable.
 *
 * @param number the line's number, from 0 on
 * @param text the line as the web server wrote it
 */
public record AccessLine(long number, String text) {

	/**
	 * Returns the client's address. It is also the key that chooses the shard, so all
	 * lines of a client are counted in one place.
	 * @return the text before the first space, or all of it, as {@code cut -d' ' -f1}
	 * does
	 */
	public String client() {
		int space = this.text.indexOf(' ');
		return (space < 0) ? this.text : this.text.substring(0, space);
	}

}
