/** What is known of the group, put together from replies of any instance. No DOM here. */

/** Replies of instances that are behind are left out for so long; then the group really is at that state. */
const BEHIND_MILLIS = 10_000;
const PAGE = 1000;
/** Dead letters are counted so often: it is a command or a query per shard. */
const COUNT_MILLIS = 10_000;
const POINTS = 60;
/** Moves are counted for so long. */
export const RECENT_MINUTES = 30;
const MOVES_PAGE = 50;
const MORE_MOVES_PAGE = 500;
/** Moves that are kept, the newest; with more of them in the last minutes, not all are counted. */
const MOST_MOVES = 2050;
const MOST_LISTED = 500;

const paths = document.documentElement.dataset;

export const settings = { acts: paths.acts === "true", shards: paths.shards, moves: paths.moves,
	groups: (paths.groups ?? "").split(" ").filter(Boolean) };

/** The group that is shown, of several of the application; null if it has only one. */
export const shown = new URLSearchParams(location.search).get("group") ?? (settings.groups.length > 1 ? settings.groups[0] : null);

/** The id of a move is its own; its shard has another name there. */
export const key = (shard) => `${shard.topic}/${shard.shard ?? shard.id}`;

export class Failure extends Error {
	constructor(message, status, ofEndpoint = false) {
		super(message);
		this.status = status;
		this.ofEndpoint = ofEndpoint;
	}
}

/** Reads JSON of the group that is shown; refusals are failures with the reason that they have. */
export async function request(path, options = {}) {
	const group = shown === null ? "" : `${path.includes("?") ? "&" : "?"}group=${encodeURIComponent(shown)}`;
	const response = await fetch(path + group, {
		cache: "no-store", credentials: "same-origin", signal: AbortSignal.timeout(15_000), redirect: "manual", ...options,
		// Spring Security replies with a status then, and not with a form or a dialog of the browser.
		headers: { "X-Requested-With": "XMLHttpRequest", ...options.headers },
	});
	if (response.type === "opaqueredirect" || response.status === 401) {
		throw new Failure("You are not signed in, or no longer. Load the page again, and sign in", 401);
	}
	const text = await response.text();
	let body = null;
	try {
		body = JSON.parse(text);
	} catch (error) {
		if (response.ok) {
			throw new Failure("The reply is not JSON; is there a proxy or a sign-in page?", response.status);
		}
	}
	if (!response.ok) {
		throw new Failure(body?.reason ?? refusal(path.split("?")[0], response.status, options.method === "POST")
				?? String(body?.detail ?? body?.message ?? body?.error ?? `${path.split("?")[0]} replies ${response.status}`),
				response.status, Boolean(body?.reason));
	}
	return body;
}

/** Replies that come from before the endpoint, in plain words; it has a reason for its own. */
function refusal(path, status, act) {
	const where = path.split("/").find((part) => part !== "..");
	return {
		403: act ? "You may not do this: your user lacks the right, or the session has ended. Load the page again, or ask for the right"
				: `You may not read the endpoint '${where}': your user lacks the right`,
		404: `The endpoint '${where}' is not there: it is not exposed, or access to it is 'none'`,
		405: "The endpoint accepts no acts: management.endpoint.shards.access is not 'unrestricted'",
	}[status];
}

export const shardPath = (shard) =>
	`${settings.shards}/${encodeURIComponent(shard.topic)}/${encodeURIComponent(shard.id)}`;

export const topicPath = (topic) => `${settings.shards}/${encodeURIComponent(topic)}`;

export class Model {
	group = null;
	shards = new Map();
	problems = new Map();
	/** The newest first, without gaps. */
	moves = [];
	/** How many of them are listed. */
	listed = 0;
	movesError = null;
	incomplete = null;
	complete = false;
	advances = new Map();
	moved = new Set();

	#seen = { epoch: -1, generation: -1, at: 0 };
	#after = null;
	#round = new Set();
	#scanned = new Map();
	#counted = -Infinity;
	#counts = false;
	#moreMoves = false;
	#letters = new Map();

	/** Reads the summary, the shards with problems, and the next page of all; one round trip in a small group. */
	async read(now) {
		if (!settings.shards) {
			throw new Failure("The endpoint 'shards' is not exposed over HTTP. Add it to management.endpoints.web.exposure.include");
		}
		if (!this.#after) {
			this.#counts = now - this.#counted >= COUNT_MILLIS;
			this.#counted = this.#counts ? now : this.#counted;
		}
		const after = this.#after ? `&after=${encodeURIComponent(this.#after)}` : "";
		const [page, bad] = await Promise.all([
			request(`${settings.shards}?limit=${PAGE}${this.#counts ? "&deadLetters=true" : ""}${after}`),
			this.#after || !this.complete || this.shards.size > PAGE ? request(`${settings.shards}?problem=true&limit=200`) : null,
		]);
		const group = page.groups[0];
		if (!group) {
			throw new Failure("This instance knows no group");
		}
		if (group.error) {
			throw new Failure(group.error);
		}
		if (this.#isBehind(group, now)) {
			return false;
		}
		this.group = { ...group, broadcast: this.#withLetters(group) };
		this.incomplete = group.incomplete;
		group.shards.forEach((shard) => this.#put(shard));
		this.#countAdvances(group.shards);
		this.#after = group.next;
		if (!group.next) {
			this.#endOfRound();
		}
		if (bad?.groups[0] && !bad.groups[0].error) {
			this.#markProblems(bad.groups[0]);
		} else {
			this.problems = new Map([...this.shards].filter(([, shard]) => shard.problem));
		}
		return true;
	}

	/** Counts dead letters with the next reading: somebody has acted on them. */
	recount() {
		this.#counted = -Infinity;
	}

	/** Returns whether an instance replies that has not seen what another one told. */
	#isBehind(group, now) {
		const older = group.epoch < this.#seen.epoch
				|| (group.epoch === this.#seen.epoch && group.generation < this.#seen.generation);
		if (older && now - this.#seen.at < BEHIND_MILLIS) {
			return true;
		}
		if (older) {
			this.shards.clear();
			this.complete = false;
		}
		this.#seen = { epoch: group.epoch, generation: group.generation, at: now };
		return false;
	}

	#put(shard) {
		const name = key(shard);
		this.#round.add(name);
		const known = this.shards.get(name);
		if (known && known.token > shard.token) {
			return;
		}
		if (known && known.owner !== shard.owner) {
			this.moved.add(name);
		}
		this.#store(name, shard);
	}

	/** Broadcast topics are those of the instance that replies. */
	#withLetters({ instance, broadcast }) {
		return (broadcast ?? []).map((topic) => {
			const name = `${instance} ${topic.topic}`;
			this.#letters.set(name, topic.deadLetters ?? this.#letters.get(name) ?? null);
			return { ...topic, instance, deadLetters: this.#letters.get(name) };
		});
	}

	/** Most readings do not count dead letters. */
	#store(name, shard) {
		this.shards.set(name, { ...shard, deadLetters: shard.deadLetters ?? this.shards.get(name)?.deadLetters ?? null });
	}

	/** Shards whose offset is another one than when their page was read before. */
	#countAdvances(shards) {
		for (const shard of shards) {
			const name = key(shard);
			if (shard.offset !== null && this.#scanned.has(name) && this.#scanned.get(name) !== shard.offset) {
				this.advances.set(shard.topic, (this.advances.get(shard.topic) ?? 0) + 1);
			}
			this.#scanned.set(name, shard.offset);
		}
	}

	#endOfRound() {
		for (const name of this.shards.keys()) {
			if (!this.#round.has(name)) {
				this.shards.delete(name);
				this.#scanned.delete(name);
			}
		}
		this.#round = new Set();
		this.complete = true;
		for (const topic of this.group.topics) {
			const points = topicPoints(this, topic.topic);
			points.push(this.advances.get(topic.topic) ?? 0);
			points.splice(0, points.length - POINTS);
		}
		this.advances.clear();
	}

	#markProblems(reply) {
		this.problems = new Map(reply.shards.map((shard) => [key(shard), shard]));
		for (const [name, shard] of this.shards) {
			const found = this.problems.get(name);
			if (found) {
				this.#store(name, found);
			} else if (shard.problem && !reply.next) {
				this.shards.set(name, { ...shard, problem: null });
			}
		}
	}

	/**
	 * Reads the moves that are not known yet, at first those of the last minutes, and applies them to the shards, whose
	 * pages may come later. Returns how many there are since the first reading.
	 */
	async readMoves() {
		if (!settings.moves) {
			this.movesError = "The endpoint 'shardmoves' is not exposed.";
			return 0;
		}
		const first = this.moves.length === 0;
		const known = new Set(this.moves.map((move) => move.id));
		const since = Date.now() - RECENT_MINUTES * 60_000;
		const fresh = [];
		let reply = await request(`${settings.moves}?limit=${MOVES_PAGE}`);
		let meets = false;
		for (;;) {
			fresh.push(...reply.moves.filter((move) => !known.has(move.id)));
			meets = reply.moves.some((move) => known.has(move.id));
			// A move may have been planned long before it was over.
			const old = reply.moves.slice(-20).every((move) => Date.parse(move.planned) < since);
			if (meets || old || !reply.next || fresh.length >= MOST_MOVES) {
				break;
			}
			reply = await request(`${settings.moves}?limit=${MORE_MOVES_PAGE}&before=${encodeURIComponent(reply.next)}`);
		}
		this.movesError = null;
		fresh.forEach((move) => this.#apply(move, first));
		const all = (meets ? [...fresh, ...this.moves] : fresh).sort((one, other) => compareIds(other.id, one.id));
		this.#moreMoves = all.length > MOST_MOVES || (meets ? this.#moreMoves : Boolean(reply.next));
		this.moves = all.slice(0, MOST_MOVES);
		this.listed = Math.min(first ? MOVES_PAGE : this.listed + fresh.length, MOST_LISTED, this.moves.length);
		return first ? 0 : fresh.length;
	}

	get hasEarlier() {
		return this.listed < MOST_LISTED && (this.listed < this.moves.length || this.#moreMoves);
	}

	/** Lists more moves, and reads them if they are not known. */
	async readEarlier() {
		if (this.listed === this.moves.length) {
			const reply = await request(`${settings.moves}?limit=${MOVES_PAGE}&before=${encodeURIComponent(this.moves.at(-1).id)}`);
			this.moves = [...this.moves, ...reply.moves];
			this.#moreMoves = Boolean(reply.next);
		}
		this.listed = Math.min(this.listed + MOVES_PAGE, MOST_LISTED, this.moves.length);
	}

	/** Returns the moves of each of the last minutes, the oldest first, and how many minutes are known completely. */
	recentMoves() {
		const perMinute = new Array(RECENT_MINUTES).fill(0);
		const minutesAgo = (move) => Math.max(0, Math.floor((Date.now() - Date.parse(move.planned)) / 60_000));
		this.moves.map(minutesAgo).filter((minute) => minute < RECENT_MINUTES)
			.forEach((minute) => perMinute[RECENT_MINUTES - 1 - minute]++);
		return { perMinute, total: perMinute.reduce((sum, value) => sum + value, 0),
			minutes: this.#moreMoves ? Math.min(RECENT_MINUTES, minutesAgo(this.moves.at(-1))) : RECENT_MINUTES };
	}

	#apply(move, first) {
		const shard = this.shards.get(key(move));
		if (shard && move.token > shard.token) {
			this.shards.set(key(move), { ...shard, owner: move.to, target: null, token: move.token,
				state: move.to ? "OWNED" : "COMPLETED", why: null });
			if (!first) {
				this.moved.add(key(move));
			}
		}
	}

	/** Returns the ids of members whose heartbeats do not arrive. */
	silent() {
		return new Set(this.group.members.filter((member) => member.silentSince).map((member) => member.id));
	}

	/** Returns the shards that match, those with problems first. */
	select({ text, topic, member, state, problems }) {
		const silent = this.silent();
		const urgent = (shard) => shard.problem ? 0 : silent.has(shard.owner) || ["REVOKING", "QUIET", "FREE"].includes(shard.state) ? 1
				: shard.paused || shard.deadLetters > 0 ? 2 : 3;
		const words = text.toLowerCase().split(/\s+/).filter(Boolean);
		const found = [];
		for (const [name, shard] of this.shards) {
			if ((topic && shard.topic !== topic) || (state && shard.state !== state) || (problems && urgent(shard) === 3)
					|| (member && shard.owner !== member && shard.target !== member)) {
				continue;
			}
			if (words.length > 0) {
				const all = `${name} ${shard.owner ?? ""} ${shard.target ?? ""} ${shard.problem ?? ""} ${shard.state}`.toLowerCase();
				if (!words.every((word) => all.includes(word))) {
					continue;
				}
			}
			found.push(shard);
		}
		const names = new Intl.Collator("en", { numeric: true });
		return found.sort((one, other) => urgent(one) - urgent(other) || names.compare(one.topic, other.topic)
				|| names.compare(one.id, other.id));
	}

}

const points = new WeakMap();

export function topicPoints(model, topic) {
	if (!points.has(model)) {
		points.set(model, new Map());
	}
	const all = points.get(model);
	if (!all.has(topic)) {
		all.set(topic, []);
	}
	return all.get(topic);
}

function compareIds(one, other) {
	const [a, b = "0"] = one.split("-");
	const [c, d = "0"] = other.split("-");
	return a.length - c.length || (a < c ? -1 : a > c ? 1 : b.length - d.length || (b < d ? -1 : b > d ? 1 : 0));
}
