package io.github.shardkeeper.sample;

import java.util.List;
import java.util.stream.Collectors;

import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

import io.github.shardkeeper.sample.VisitCounts.ClientCount;

/**
 * Shows the counts: as JSON for the page, as text to compare with
 * {@code cut -d' ' -f1 access.log | sort | uniq -c}.
 */
@RestController
class VisitsController {

	private final VisitCounts counts;

	VisitsController(VisitCounts counts) {
		this.counts = counts;
	}

	@GetMapping(path = "/visits/top", produces = MediaType.APPLICATION_JSON_VALUE)
	TopClients top(@RequestParam(defaultValue = "15") int limit) {
		List<ClientCount> clients = this.counts.clients();
		long lines = clients.stream().mapToLong(ClientCount::count).sum();
		return new TopClients(lines, clients.size(), clients.stream().limit(Math.max(0, limit)).toList());
	}

	@GetMapping(path = "/visits", produces = MediaType.TEXT_PLAIN_VALUE + ";charset=UTF-8")
	String all() {
		return this.counts.clients()
			.stream()
			.map((client) -> client.count() + " " + client.client() + "\n")
			.collect(Collectors.joining());
	}

	/**
	 * Clients with the most visits.
	 *
	 * @param lines number of counted lines, of all clients
	 * @param clients number of clients
	 * @param top clients with the most visits, in descending order
	 */
	record TopClients(long lines, int clients, List<ClientCount> top) {

	}

}
