package io.github.shardkeeper.slice;

import org.springframework.stereotype.Service;

/** What a handler needs, and component scanning of the slice leaves out. */
@Service
class Pages {

	void opened(String page) {
		if (page.isEmpty()) {
			throw new IllegalArgumentException("No page");
		}
	}

}
