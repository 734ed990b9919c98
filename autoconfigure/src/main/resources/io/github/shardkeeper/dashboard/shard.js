/** The panel of one shard: where it is, its lag, what waits in it, and its last moves. */

import { actButton } from "./acts.js";
import { commonActs, onLetter, onShard, onWaiting } from "./issues.js";
import { key, request, settings, shardPath } from "./model.js";
import { button, byId, cause, element, fact, figure, keepingFocus, line, number, pausedBanner, span, time } from "./elements.js";

const DETAIL_MILLIS = 2000;
const LETTERS = 20;

let model = null;
let selected = null;

/** Uses a model, whose members shards can be moved to. */
export function begin(of) {
	model = of;
	byId("shard").addEventListener("close", () => {
		clearTimeout(selected?.timer);
		const back = selected?.returnTo;
		selected = null;
		if (back?.isConnected) {
			back.focus();
		}
	});
}

/** Opens the panel with a shard. */
export function open(shard) {
	selected = { shard, points: [], returnTo: document.activeElement, run: 0 };
	byId("shard-title").textContent = key(shard);
	byId("shard-body").replaceChildren(element("p", "soft", "Reading …"));
	if (!byId("shard").open) {
		byId("shard").showModal();
	}
	byId("shard-title").focus();
	refreshShard(selected);
}

/**
 * Reads the shard of an open panel.
 * @param all whether lists are read again that have as many entries as before
 */
export function refresh(all) {
	if (selected && all) {
		selected.lettersRead = undefined;
		selected.waitingRead = undefined;
	}
	if (selected) {
		refreshShard(selected);
	}
}

async function refreshShard(of) {
	clearTimeout(of.timer);
	try {
		const path = shardPath(of.shard);
		const moves = settings.moves ? `${settings.moves}?limit=10&topic=${encodeURIComponent(of.shard.topic)}`
				+ `&shard=${encodeURIComponent(of.shard.id)}` : null;
		const [details, history] = await Promise.all([request(path), moves ? request(moves) : { moves: [] }]);
		if (details.deadLetters !== of.lettersRead) {
			of.lettersRead = details.deadLetters;
			of.letters = details.deadLetters > 0 ? await request(`${path}/deadletters?limit=${LETTERS}`) : null;
		}
		if (details.retries !== of.waitingRead) {
			of.waitingRead = details.retries;
			of.waiting = details.retries > 0 ? await readWaiting(path) : null;
		}
		if (of === selected) {
			of.points.push({ at: Date.now(), offset: details.shard.offset, lag: details.lag });
			of.points.splice(0, of.points.length - 60);
			showShard(of, details, history);
		}
	} catch (failure) {
		if (of === selected) {
			showShardFailure(failure);
		}
	} finally {
		if (of === selected && !document.hidden) {
			of.timer = setTimeout(() => refreshShard(of), DETAIL_MILLIS);
		}
	}
}

/** A store of the application may not be able to list it. */
async function readWaiting(path) {
	try {
		return await request(`${path}/waiting?limit=${LETTERS}`);
	} catch (failure) {
		return { keys: [], failure: failure.message };
	}
}

function showShardFailure(failure) {
	byId("shard-body").querySelector(".failed")?.remove();
	byId("shard-body").prepend(element("p", "banner bad failed", failure.message));
}

function lagText(lag) {
	if (!lag) {
		return "not known";
	}
	const parts = [];
	if (lag.records !== null) {
		parts.push(`${number(lag.records)} records`);
	}
	else if (lag.millis !== 0) {
		parts.push("many records, or not known");
	}
	if (lag.stable !== null && lag.stable < lag.records) {
		parts.push(`${number(lag.records - lag.stable)} of them wait for the end of a transaction`);
	}
	if (lag.millis !== null) {
		parts.push(lag.millis === 0 ? "up to date" : `oldest ${span(lag.millis)}`);
	}
	return parts.join(", ");
}

/** Rate of the committed offset, where offsets are numbers, in Kafka with epoch and topic behind them. */
function rates(points) {
	return differences(points, /^(\d{1,15})(?::\d{1,10})?(?::[\w-]{22})?$/);
}

/** How many seconds of records are handled in a second, where offsets are times: those of Redis streams. */
function paces(points) {
	return differences(points, /^(\d{13})-\d+$/).map((millis) => millis / 1000);
}

function differences(points, format) {
	const values = [];
	for (let index = 1; index < points.length; index++) {
		const [one, other] = [points[index - 1], points[index]];
		const [before, after] = [format.exec(one.offset ?? ""), format.exec(other.offset ?? "")];
		if (!before || !after) {
			return [];
		}
		values.push(Math.max(0, (Number(after[1]) - Number(before[1])) / Math.max(0.001, (other.at - one.at) / 1000)));
	}
	return values;
}

function charts(points) {
	const all = element("div", "charts");
	const chart = (caption, values, label) => {
		if (values.length > 1) {
			all.append(figure(caption(values.at(-1)), line(values, label(values.at(-1)))));
		}
	};
	const numbers = (part) => points.map((point) => point.lag?.[part]).filter((value) => typeof value === "number");
	chart((now) => `lag, now ${number(now)} records`, numbers("records"), (now) => `Lag, now ${now} records`);
	chart((now) => `age of the oldest record, now ${span(now)}`, numbers("millis"), (now) => `Age, now ${span(now)}`);
	chart((now) => `rate, now ${number(Math.round(now))} records/s`, rates(points), (now) => `Rate, now ${Math.round(now)} per second`);
	const pace = paces(points);
	chart((now) => `pace, now ${now.toFixed(1)}: seconds of the stream handled in a second. The rate in records is not known, `
			+ "because offsets of Redis are times", pace, (now) => `Pace, now ${now.toFixed(1)}`);
	return all;
}

function outboxText(outbox) {
	return element("span", "", `${number(outbox.records)} ${outbox.records === 1 ? "record waits" : "records wait"}`,
			outbox.size === null ? null : ` · ${number(outbox.size)} bytes`, outbox.since ? " · since " : null,
			outbox.since ? time(outbox.since) : null);
}

function timersText(timers) {
	const next = timers.next[0];
	return element("span", "", number(timers.waiting), next ? " · next " : null, next ? time(next.dueAt) : null,
			next ? `: ${next.name} of ${next.key}` : null);
}

function showShard(of, details, history) {
	const shard = details.shard;
	of.shard = shard;
	const body = byId("shard-body");
	const list = element("dl", "");
	fact(list, "State", shard.state.toLowerCase());
	fact(list, "Owner", shard.owner ?? "nobody");
	fact(list, "Moves to", shard.target);
	fact(list, "Pinned to", shard.pinnedTo);
	fact(list, "Why", shard.why ?? "not recorded");
	fact(list, "Since", time(shard.since));
	fact(list, "Lag", lagText(details.lag));
	fact(list, "Dead letters", details.deadLetters === null ? null : number(details.deadLetters));
	fact(list, "Retry queue", details.retries === null ? null : number(details.retries));
	fact(list, "Outbox", details.outbox ? outboxText(details.outbox) : null);
	fact(list, "Timers", details.timers ? timersText(details.timers) : null);
	fact(list, "State entries", details.stateEntries === null ? null : number(details.stateEntries));
	fact(list, "Offset", shard.offset ?? "none committed");
	fact(list, "Token", String(shard.token));
	if (shard.schedule) {
		fact(list, "Next run", time(shard.schedule.nextRun));
		fact(list, "Running since", shard.schedule.runningSince ? time(shard.schedule.runningSince) : null);
		fact(list, "Failing", shard.schedule.failing ? "yes, it is repeated" : null);
	}
	Object.entries(details.unreadable ?? {}).forEach(([part, reason]) => fact(list, `${part} cannot be read`, reason));
	const status = element("div", "", shard.problem ? element("p", "banner bad", element("b", "", "▲ Problem: "), shard.problem) : null,
			shard.paused ? pausedBanner(shard.paused) : null, list, charts(of.points));
	if (!body.querySelector(".status")) {
		body.replaceChildren(element("div", "status"), element("div", "acts"), element("div", "waiting"), element("div", "letters"),
				element("div", "history"));
	}
	body.querySelector(".failed")?.remove();
	body.querySelector(".status").replaceChildren(status);
	showActs(body.querySelector(".acts"), shard, details);
	showWaiting(body.querySelector(".waiting"), of);
	showLetters(body.querySelector(".letters"), of);
	const past = body.querySelector(".history");
	const version = history.moves.map((move) => move.id).join();
	if (past.dataset.version !== version) {
		past.dataset.version = version;
		past.replaceChildren(element("h3", "", history.moves.length > 0 ? "Last moves" : "No moves are recorded"),
				element("ul", "", ...history.moves.map((move) => element("li", "", time(move.planned),
						` ${move.from ?? "nobody"} → ${move.to ?? "nobody"} · ${cause(move.cause)}`))));
	}
}

function showActs(place, shard, details) {
	const version = JSON.stringify([shard.owner, Boolean(shard.paused), shard.pinnedTo, details.deadLetters > 0,
			model.group?.members.map((member) => member.id)]);
	if (!settings.acts || place.dataset.version === version) {
		return;
	}
	place.dataset.version = version;
	const members = (model.group?.members ?? []).filter((member) => member.topics?.[shard.topic] !== undefined || !member.topics);
	const to = (without) => [{ name: "to", label: "To the instance",
		options: members.filter((member) => member.id !== without).map((member) => ({ value: member.instance, text: member.instance })) }];
	const all = [
		...members.length > 1 ? [onShard("move", "Move", "Move", shard, to(shard.owner))] : [],
		shard.pinnedTo ? onShard("unpin", "Unpin", "Unpin", shard) : onShard("pin", "Pin", "Pin", shard, to(null)),
		...commonActs(shard, onShard, shard.paused, details.deadLetters > 0),
	];
	keepingFocus(place, () => place.replaceChildren(...all.map(actButton)));
}

function showWaiting(place, of) {
	const version = JSON.stringify(of.waiting ?? null);
	if (place.dataset.version === version) {
		return;
	}
	place.dataset.version = version;
	if (!of.waiting) {
		place.replaceChildren();
		return;
	}
	const { keys, failure, next, numberOfKeys } = of.waiting;
	keepingFocus(place, () => place.replaceChildren(...[
		element("h3", "", next ? `Waiting for another attempt: the first ${keys.length} of ${number(numberOfKeys)} keys`
				: "Waiting for another attempt, by key"),
		failure ? element("p", "soft", failure) : null,
		element("ul", "", ...keys.map((one) => waitingItem(of, one))),
	].filter(Boolean)));
}

function waitingItem(of, one) {
	const act = (action, text) => actButton(onWaiting(action, text, of.shard, one));
	return element("li", "", time(one.since), `${one.key ? ` key ${one.key}` : ` offset ${one.id}`}`,
			` · ${number(one.records)} ${one.records === 1 ? "record" : "records"} · ${number(one.size)} bytes`,
			` · ${one.attempts} ${one.attempts === 1 ? "call" : "calls"} of the first`, element("div", "soft", one.error),
			settings.acts ? element("div", "acts", act("retry-waiting", "Retry now"), act("send-back-waiting", "Send back"),
					act("drop-waiting", "Drop")) : null);
}

function showLetters(place, of) {
	const letters = of.letters?.deadLetters ?? [];
	const version = JSON.stringify([letters.map((letter) => letter.id), of.letters?.next]);
	if (place.dataset.version === version) {
		return;
	}
	place.dataset.version = version;
	if (letters.length === 0) {
		place.replaceChildren();
		return;
	}
	keepingFocus(place, () => place.replaceChildren(...[
		element("h3", "", "Dead letters, the oldest first"),
		of.letters.valuesShown ? null
			: element("p", "soft", "Keys, payloads and texts are hidden; management.endpoint.shards.show-values shows them."),
		element("ul", "", ...letters.map((letter) => letterItem(of, letter))),
		of.letters.next ? button("More dead letters", "", () => moreLetters(of)) : null,
	].filter(Boolean)));
}

function letterItem(of, letter) {
	const value = (summary, text) => text ? element("details", "", element("summary", "", summary), element("pre", "", text)) : null;
	return element("li", "", time(letter.failedAt), ` offset ${letter.offset}${letter.key ? ` · key ${letter.key}` : ""}`,
			` · ${letter.attempts === 0 ? "could not be converted" : `${letter.attempts} ${letter.attempts === 1 ? "call" : "calls"}`}`,
			` · ${number(letter.payloadSize)} bytes`, element("div", "soft", letter.error),
			value("Payload", letter.payload), value("Stack trace", letter.stackTrace),
			settings.acts ? element("div", "acts", actButton(onLetter("send-back", "Send back", "Send back", of.shard, letter.id)),
					actButton(onLetter("drop", "Drop", "Drop", of.shard, letter.id))) : null);
}

async function moreLetters(of) {
	try {
		const more = await request(`${shardPath(of.shard)}/deadletters?limit=${LETTERS}&after=${encodeURIComponent(of.letters.next)}`);
		of.letters = { ...more, deadLetters: [...of.letters.deadLetters, ...more.deadLetters] };
		if (of === selected) {
			showLetters(byId("shard-body").querySelector(".letters"), of);
		}
	} catch (failure) {
		showShardFailure(failure);
	}
}
