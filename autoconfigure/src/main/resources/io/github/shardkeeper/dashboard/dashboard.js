/** The page: reads the model, shows it, and follows the stream of changes. */

import * as acts from "./acts.js";
import { issues, letterFilter, onInstance, onLetter, onShard, onTopic, onWaiting, position, verdict } from "./issues.js";
import { Failure, Model, RECENT_MINUTES, key, request, settings, shardPath, topicPoints } from "./model.js";
import { bars, brief, briefly, button, byId, cause, dot, duration, element, figure, hue, line, meter, number, say, setText, showName, span, sync,
	time } from "./elements.js";

const CELLS_PER_PAGE = 200;
const PROBLEMS_SHOWN = 12;
const POLL_MILLIS = 2000;
const IDLE_MILLIS = 5000;
const DETAIL_MILLIS = 2000;
const TOPICS_SHOWN = 24;
const LETTERS = 20;

const model = new Model();
let page = 0;
let selected = null;
let timer = null;
let reading = false;
let again = false;
let streaming = false;
let allProblems = false;
let topicShown = null;
let readAt = null;

const filter = () => ({
	text: byId("search").value, topic: byId("topic").value, member: byId("member").value, state: byId("state").value,
	problems: byId("only-problems").checked,
});

/* What is wrong, and where */

function showTrouble() {
	const found = issues(model);
	byId("trouble").classList.toggle("bad", found.some((one) => one.level === "bad"));
	byId("trouble").classList.toggle("warn", found.some((one) => one.level === "warn"));
	setText("verdict", verdict(model, found));
	sync(byId("problems"), found.slice(0, allProblems ? 500 : PROBLEMS_SHOWN), (issue) => issue.name, () => element("li", ""),
			(item, issue) => {
				const version = JSON.stringify([issue.text, issue.where, issue.since, issue.level, issue.acts.map((act) => act.body)]);
				if (item.dataset.version === version) {
					return;
				}
				item.dataset.version = version;
				keepingFocus(item, () => {
					item.className = issue.level;
					item.replaceChildren(...[
						issue.shard ? button(issue.where, "link where", () => open(issue.shard)) : element("span", "where", issue.where),
						element("span", "tag level", { bad: "▲ problem", warn: "to do", note: "to know" }[issue.level]),
						element("span", "what", issue.text, ...issue.since ? [element("span", "soft", " · since ", time(issue.since))] : []),
						element("span", "acts", ...issue.acts.map(acts.actButton)),
					]);
				});
			});
	const more = Math.max(0, found.length - PROBLEMS_SHOWN);
	byId("all-problems").hidden = more === 0;
	setText("all-problems", allProblems ? "Show fewer" : `Show ${number(more)} more`);
	setText("more-problems", model.incomplete ?? "");
}

/** Puts the focus back on the button of the same text, after its list was made again. */
function keepingFocus(place, change) {
	const focused = place.contains(document.activeElement) ? document.activeElement.textContent : null;
	change();
	if (focused) {
		[...place.querySelectorAll("button")].find((one) => one.textContent === focused)?.focus();
	}
}

/* Members */

function memberActs(member) {
	const on = (action, verb) => acts.actButton(onInstance(action, verb, member.instance));
	return [
		member.draining ? on("undrain", "Undrain") : on("drain", "Drain"),
		// An instance has to be asked itself.
		member.id === model.group.self ? on("leave", "Leave") : null,
	];
}

function showMembers() {
	const { members, self, instance } = model.group;
	const most = Math.max(1, ...members.map((member) => member.shards / Math.max(1, member.capacity)));
	// Two sessions of one instance, while the earlier one is not over.
	const called = (member) => members.some((other) => other !== member && other.instance === member.instance) ? member.id : member.instance;
	sync(byId("members"), members, (member) => member.id, () => element("li", ""), (item, member) => {
		const version = JSON.stringify([member, most, member.id === self, called(member)]);
		if (item.dataset.version === version) {
			return;
		}
		item.dataset.version = version;
		const tag = (text, className = "") => element("span", `tag ${className}`, text);
		const name = element("span", "name", called(member));
		name.title = member.id;
		const shards = `${number(member.shards)} ${member.shards === 1 ? "shard" : "shards"}`;
		keepingFocus(item, () => item.replaceChildren(element("div", "row", dot(member.id), name,
				member.silentSince ? tag("silent", "bad") : null, member.leader ? tag("leader") : null,
				member.id === self ? tag("answers") : null, member.leaving ? tag("leaving", "warn") : null,
				member.draining ? tag("draining", "warn") : null, member.zone ? tag(`zone ${member.zone}`) : null,
				member.version ? element("span", "soft", member.version) : null,
				element("span", "push acts", ...memberActs(member)),
				element("span", "load", meter(member.shards / Math.max(1, member.capacity) / most, `Load: ${shards}`),
						member.capacity === 1 ? shards : `${shards}, capacity ${member.capacity}`))));
	});
	const outside = instance && self === null && !members.some((member) => member.instance === instance);
	const apart = model.group.broadcast.length > 0;
	const place = byId("outside");
	const version = `${instance} ${apart}`;
	if (place.hidden === outside || place.dataset.version !== version) {
		place.hidden = !outside;
		place.dataset.version = version;
		place.replaceChildren(...[
			element("span", "", `${instance}, which replies, is not in the group${apart ? ", and consumes broadcast topics for itself" : ""}.`),
			apart ? null : acts.actButton(onInstance("join", "Join", instance))].filter(Boolean));
	}
	byId("rebalance").hidden = !settings.acts || members.length === 0;
	options("member", members.map((member) => [member.id, called(member)]));
}

function options(id, wanted) {
	const select = byId(id);
	const version = JSON.stringify(wanted);
	if (select.dataset.version === version) {
		return;
	}
	select.dataset.version = version;
	const chosen = select.value;
	select.replaceChildren(...[["", "all"], ...wanted].map(([value, text]) => {
		const option = element("option", "", text);
		option.value = value;
		return option;
	}));
	select.value = wanted.some(([value]) => value === chosen) ? chosen : "";
	select.title = select.selectedOptions[0].textContent;
}

/* Topics and shards */

function showTopics() {
	const { topics } = model.group;
	options("topic", topics.map((topic) => [topic.topic, topic.topic]));
	const all = [...topics, ...model.group.broadcast];
	setText("more-topics", all.length > TOPICS_SHOWN ? `and ${number(all.length - TOPICS_SHOWN)} more topics` : "");
	sync(byId("topics"), all.slice(0, TOPICS_SHOWN), (topic) => `${topic.instance ? "broadcast " : ""}${topic.topic}`, () => element("div", "topic"), (item, topic) => {
		if (topic.instance) {
			showBroadcastTopic(item, topic);
			return;
		}
		const points = topicPoints(model, topic.topic);
		const label = `${topic.topic}: shards whose offset advanced between two readings, now ${points.at(-1) ?? 0}`;
		const chart = line(points, label);
		const states = Object.entries(topic.states).map(([state, count]) => `${number(count)} ${state.toLowerCase()}`).join(", ");
		const active = points.length > 1 ? ` · ${number(points.at(-1))} advancing` : "";
		const name = element("span", "name", button(topic.topic, "link", () => openTopic(topic.topic)), " ",
				element("span", "soft", `${states || "no shards yet"}${active}`));
		item.title = "The line: shards whose offset advanced between two readings";
		const paused = topic.paused ? element("span", "tag warn", "paused") : null;
		keepingFocus(item, () => item.replaceChildren(...[name, paused,
			topic.problems > 0 ? element("span", "tag bad", `${number(topic.problems)} ▲`) : null, chart].filter(Boolean)));
	});
}

function showBroadcastTopic(item, topic) {
	const problems = Object.keys(topic.problems).length;
	const version = JSON.stringify(topic);
	if (item.dataset.version === version) {
		return;
	}
	item.dataset.version = version;
	item.title = `Every instance consumes all shards of this topic for itself. The numbers are those of ${topic.instance}, which replies`;
	keepingFocus(item, () => item.replaceChildren(...[
		element("span", "name", button(topic.topic, "link", () => openTopic(topic.topic)), " ",
				element("span", "soft", `${number(topic.shards)} on ${topic.instance}`)),
		element("span", "tag", "broadcast"), problems > 0 ? element("span", "tag bad", `${number(problems)} ▲`) : null,
	].filter(Boolean)));
}

/* One topic */

function openTopic(topic) {
	topicShown = { topic, returnTo: document.activeElement };
	byId("topic-title").textContent = topic;
	byId("topic-panel").showModal();
	byId("topic-title").focus();
	showTopic();
}

function showTopic() {
	const topic = [...model.group.topics, ...model.group.broadcast].find((one) => one.topic === topicShown?.topic);
	if (!topic) {
		return;
	}
	const list = element("dl", "");
	const letters = topic.instance ? broadcastFacts(list, topic) : topicFacts(list, topic);
	const place = byId("topic-body");
	if (!place.firstChild) {
		place.append(element("div", "status"), element("div", "acts"));
	}
	place.firstChild.replaceChildren(...topic.paused ? [pausedBanner(topic.paused)] : [], list);
	const version = JSON.stringify([topic.topic, Boolean(topic.paused), letters > 0]);
	if (settings.acts && place.lastChild.dataset.version !== version) {
		place.lastChild.dataset.version = version;
		const all = commonActs(topic.topic, onTopic, topic.paused, letters > 0);
		keepingFocus(place.lastChild, () => place.lastChild.replaceChildren(...all
			.filter((act) => !topic.instance || !["pause", "resume"].includes(act.body.action)).map(acts.actButton)));
	}
}

/** Returns the number of dead letters. */
function broadcastFacts(list, topic) {
	fact(list, "Consumed by", "every instance, for itself");
	fact(list, "What follows is of", `${topic.instance}, which replies`);
	fact(list, "Shards", number(topic.shards));
	Object.entries(topic.problems).forEach(([id, problem]) => fact(list, `Problem of ${id}`, problem));
	fact(list, "Dead letters", topic.deadLetters === null ? "not known" : number(topic.deadLetters));
	return topic.deadLetters;
}

function topicFacts(list, topic) {
	const shards = [...model.shards.values()].filter((shard) => shard.topic === topic.topic);
	const letters = shards.reduce((sum, shard) => sum + (shard.deadLetters ?? 0), 0);
	fact(list, "Shards", Object.entries(topic.states).map(([state, count]) => `${number(count)} ${state.toLowerCase()}`).join(", ")
			|| "none has had an owner yet");
	fact(list, "With a problem", number(topic.problems));
	fact(list, "Dead letters", model.complete ? number(letters) : `${number(letters)} so far`);
	fact(list, "Consumed by", model.group.members.filter((member) => member.topics?.[topic.topic] !== undefined)
		.map((member) => member.instance).join(", ") || "nobody");
	return letters;
}

function pausedBanner(pause) {
	return element("p", "banner", `Ⅱ Paused${pause.by ? ` by ${pause.by}` : ""}${pause.reason ? `: ${pause.reason}` : ""}, since `,
			time(pause.since));
}

/** Acts that a topic and a shard have in common. */
function commonActs(subject, on, paused, letters) {
	return [
		paused ? on("resume", "Resume", "Resume", subject) : on("pause", "Pause", "Pause", subject),
		on("seek", "Seek", "Seek", subject, position()),
		...letters ? [on("send-back", "Send dead letters back", "Send back the dead letters of", subject, letterFilter()),
			on("drop", "Drop dead letters", "Drop the dead letters of", subject, letterFilter())] : [],
	];
}

function how(shard, silent) {
	if (shard.problem) {
		return `▲ ${shard.problem}`;
	}
	if (shard.paused) {
		return "Ⅱ paused";
	}
	if (silent.has(shard.owner)) {
		return "▲ owner is silent";
	}
	if (shard.target) {
		return `→ ${briefly(shard.target, shard.owner)}`;
	}
	if (shard.deadLetters > 0) {
		return `✉ ${number(shard.deadLetters)} dead`;
	}
	return shard.state === "OWNED" ? (shard.pinnedTo ? "pinned" : "owned") : shard.state.toLowerCase();
}

function showCells() {
	const found = model.select(filter());
	const pages = Math.max(1, Math.ceil(found.length / CELLS_PER_PAGE));
	page = Math.min(page, pages - 1);
	const shown = found.slice(page * CELLS_PER_PAGE, (page + 1) * CELLS_PER_PAGE);
	const list = byId("cells");
	const silent = model.silent();
	list.classList.toggle("dense", shown.length > 60);
	sync(list, shown, key, (shard) => {
		const cell = button("", "cell", () => open(model.shards.get(key(shard)) ?? shard));
		cell.append(element("span", "id"), element("span", "who"), element("span", "how"));
		cell.addEventListener("animationend", () => cell.classList.remove("moved"));
		return element("li", "", cell);
	}, (item, shard) => {
		const cell = item.firstElementChild;
		const moved = model.moved.has(key(shard));
		const version = `${shard.state} ${shard.owner} ${shard.target} ${shard.problem} ${Boolean(shard.paused)} ${shard.pinnedTo} ${shard.deadLetters} ${silent.has(shard.owner)}`;
		if (cell.dataset.version !== version) {
			cell.dataset.version = version;
			const [id, who, what] = cell.children;
			showName(id, key(shard));
			showName(who, briefly(shard.owner, shard.target));
			what.classList.remove("cut");
			what.textContent = how(shard, silent);
			if (what.textContent.startsWith("→")) {
				showName(what, what.textContent);
			}
			cell.className = `cell ${/^[A-Z]+$/.test(shard.state) ? shard.state : ""} ${shard.owner ? hue(shard.owner) : ""}`
					+ `${shard.problem || silent.has(shard.owner) ? " problem" : shard.deadLetters > 0 ? " letters" : ""}`;
			cell.title = `${key(shard)} · ${shard.owner ?? "nobody"} · ${how(shard, silent)}`;
			cell.setAttribute("aria-label", `${key(shard)}, ${shard.state.toLowerCase()}, ${brief(shard.owner)}`
					+ `${shard.target ? `, moves to ${brief(shard.target)}` : ""}${shard.problem ? `, problem: ${shard.problem}` : ""}`
					+ `${silent.has(shard.owner) ? ", its owner is silent" : ""}`
					+ `${shard.paused ? ", paused" : ""}${shard.deadLetters > 0 ? `, dead letters: ${shard.deadLetters}` : ""}`);
		}
		if (moved) {
			cell.classList.remove("moved");
			requestAnimationFrame(() => cell.classList.add("moved"));
		}
	});
	model.moved.clear();
	const all = model.group.topics.reduce((sum, topic) => sum + topic.shards, 0);
	const reading = model.complete || model.shards.size >= all ? "" : `, reading … ${number(model.shards.size)}`;
	setText("count", found.length === all ? `${number(all)} shards${reading}` : `${number(found.length)} of ${number(all)} match${reading}`);
	byId("pages").hidden = pages === 1;
	setText("page", `page ${page + 1} of ${pages}`);
	byId("previous").disabled = page === 0;
	byId("next").disabled = page === pages - 1;
}

/* Moves */

function showMoves() {
	setText("no-moves", model.movesError ?? "None yet.");
	byId("no-moves").hidden = model.moves.length > 0 && !model.movesError;
	sync(byId("moves"), model.moves.slice(0, model.listed), (move) => move.id, moveItem, () => { });
	byId("earlier").hidden = !model.hasEarlier;
	const { perMinute, total, minutes } = model.recentMoves();
	const version = `${perMinute.join()} ${minutes}`;
	if (byId("spark").dataset.version !== version && model.moves.length > 0) {
		byId("spark").dataset.version = version;
		const text = minutes === RECENT_MINUTES ? `last ${RECENT_MINUTES} minutes: ${number(total)}`
				: `the newest ${number(total)}; those before the last ${minutes} minutes are not counted`;
		byId("spark").replaceChildren(figure(`moves per minute, ${text}`, bars(perMinute, `Moves per minute, ${text}`)));
	}
}

function moveItem(move) {
	const name = button(key(move), "link", () => open(model.shards.get(key(move)) ?? { topic: move.topic, id: move.shard }));
	const text = element("span", "name", name,
			` ${move.from ? `${briefly(move.from, move.to)} → ` : "→ "}${briefly(move.to, move.from)}`);
	const detail = [cause(move.cause), move.from ? `drained in ${duration(move.drained)}` : null,
			`without owner ${duration(move.unowned)}`, move.by ? `by ${move.by}` : null].filter(Boolean).join(" · ");
	return element("li", /^[A-Z_]+$/.test(move.cause) ? move.cause : "", time(move.planned), text, element("span", "detail", detail));
}

/* One shard */

function open(shard) {
	selected = { shard, points: [], returnTo: document.activeElement, run: 0 };
	byId("shard-title").textContent = key(shard);
	byId("shard-body").replaceChildren(element("p", "soft", "Reading …"));
	if (!byId("shard").open) {
		byId("shard").showModal();
	}
	byId("shard-title").focus();
	refreshShard(selected);
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

function fact(list, name, value) {
	if (value !== null && value !== undefined && value !== "") {
		list.append(element("dt", "", name), element("dd", "", value));
	}
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
	keepingFocus(place, () => place.replaceChildren(...all.map(acts.actButton)));
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
	const act = (action, text) => acts.actButton(onWaiting(action, text, of.shard, one));
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
			settings.acts ? element("div", "acts", acts.actButton(onLetter("send-back", "Send back", "Send back", of.shard, letter.id)),
					acts.actButton(onLetter("drop", "Drop", "Drop", of.shard, letter.id))) : null);
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

/* Reading */

function live(text, away) {
	setText("live", text);
	byId("live").classList.toggle("away", away);
}

function show() {
	const { group } = model;
	setText("group", group.group);
	document.title = `${byId("trouble").classList.contains("bad") ? "▲ " : ""}${group.group} · shards`;
	setText("facts", `${number(group.members.length)} ${group.members.length === 1 ? "member" : "members"} · `
			+ `${number(group.topics.reduce((sum, topic) => sum + topic.shards, 0))} shards · epoch ${group.epoch} · `
			+ `generation ${number(group.generation)}`);
	showTrouble();
	showMembers();
	showTopics();
	showCells();
	showMoves();
	showTopic();
}

async function read() {
	if (reading) {
		again = true;
		return;
	}
	reading = true;
	again = false;
	clearTimeout(timer);
	let pause = streaming ? IDLE_MILLIS : POLL_MILLIS;
	try {
		const [fresh, moves] = await Promise.all([model.read(performance.now()), model.readMoves().catch((failure) => {
			model.movesError = failure.message;
			return 0;
		})]);
		if (model.group) {
			readAt = fresh === false ? readAt : new Date();
			show();
		}
		if (moves > 0 && model.complete) {
			const [newest] = model.moves;
			say(`${moves} new ${moves === 1 ? "move" : "moves"}: ${key(newest)} to ${brief(newest.to)}, ${cause(newest.cause)}`);
		}
		live(streaming ? "live" : "polling", false);
		signedOut = false;
		if (!stream && !waiting) {
			listen();
		}
		if (!model.complete) {
			pause = 100;
		} else if (fresh === false) {
			pause = 1000;
		}
	} catch (failure) {
		const away = failure instanceof TypeError || failure.name === "TimeoutError";
		const text = away ? "This instance does not reply" : failure.message.replace(/\.$/, "");
		live(`${text}. Trying again …`, true);
		byId("trouble").classList.add("bad");
		if (failure.status === 401) {
			signedOut = true;
			closeStream();
		}
		setText("verdict", model.group ? `${text}. What follows was read at ${readAt.toLocaleTimeString("en-GB")}.` : `${text}.`);
		if (!(failure instanceof Failure) && !away) {
			console.error(failure);
		}
	} finally {
		reading = false;
		if (!document.hidden) {
			timer = setTimeout(read, again ? 0 : pause);
		}
	}
}

/** Listens while the page can be seen; polls where a stream cannot be had. */
let stream = null;
let waiting = false;
/** A stream of somebody who is not signed in would make the browser ask for a password again and again. */
let signedOut = false;

function listen() {
	waiting = false;
	if (stream || signedOut || document.hidden || typeof EventSource === "undefined") {
		return;
	}
	stream = new EventSource(`${location.pathname.replace(/\/+$/, "")}/events`);
	stream.addEventListener("summary", () => {
		streaming = true;
		read();
	});
	stream.addEventListener("error", () => {
		streaming = false;
		if (stream && stream.readyState === EventSource.CLOSED) {
			stream = null;
			waiting = true;
			setTimeout(listen, 15_000);
		}
	});
}

function closeStream() {
	stream?.close();
	stream = null;
	streaming = false;
}

function quiet() {
	closeStream();
	clearTimeout(timer);
}

function begin() {
	acts.begin();
	let typing = null;
	byId("search").addEventListener("input", () => {
		clearTimeout(typing);
		typing = setTimeout(() => narrowed(), 120);
	});
	["topic", "member", "state", "only-problems"].forEach((id) => byId(id).addEventListener("change", narrowed));
	byId("filters").addEventListener("submit", (event) => event.preventDefault());
	byId("previous").addEventListener("click", () => turn(-1));
	byId("next").addEventListener("click", () => turn(1));
	byId("earlier").addEventListener("click", () => model.readEarlier().then(showMoves,
			(failure) => live(`${failure.message}. Trying again …`, true)));
	byId("rebalance").addEventListener("click", () => acts.confirm({
		title: "Rebalance the group", verb: "Rebalance", path: settings.shards, body: { action: "rebalance" },
	}));
	document.querySelectorAll("[data-close]").forEach((one) =>
		one.addEventListener("click", () => byId(one.dataset.close).close()));
	byId("shard").addEventListener("close", () => {
		clearTimeout(selected?.timer);
		const back = selected?.returnTo;
		selected = null;
		if (back?.isConnected) {
			back.focus();
		}
	});
	byId("topic-panel").addEventListener("close", () => {
		const back = topicShown?.returnTo;
		topicShown = null;
		byId("topic-body").replaceChildren();
		if (back?.isConnected) {
			back.focus();
		}
	});
	byId("all-problems").addEventListener("click", () => {
		allProblems = !allProblems;
		showTrouble();
	});
	document.addEventListener("acted", () => {
		model.recount();
		read();
		if (selected) {
			selected.lettersRead = undefined;
			selected.waitingRead = undefined;
			refreshShard(selected);
		}
	});
	byId("cells").addEventListener("keydown", walk);
	["focusin", "mouseover"].forEach((type) => byId("cells").addEventListener(type, (event) => showWhole(event.target.closest(".cell"))));
	["focusout", "mouseleave"].forEach((type) => byId("cells").addEventListener(type, () => showWhole(null)));
	document.addEventListener("keydown", (event) => {
		if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) {
			event.preventDefault();
			byId("search").focus();
		}
	});
	document.addEventListener("visibilitychange", () => {
		if (document.hidden) {
			quiet();
		} else {
			listen();
			read();
			if (selected) {
				refreshShard(selected);
			}
		}
	});
	listen();
	read();
}

function narrowed() {
	page = 0;
	if (model.group) {
		showCells();
	}
}

function turn(by) {
	page += by;
	showCells();
	byId("shards-title").focus();
}

/** Shows what does not fit into a cell, at the bottom of the window. */
function showWhole(cell) {
	byId("whole").hidden = !cell;
	byId("whole").textContent = cell?.title ?? "";
}

/** Arrow keys go from cell to cell. */
function walk(event) {
	const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
	const cell = event.target.closest("li");
	if (!cell || (step === undefined && event.key !== "ArrowDown" && event.key !== "ArrowUp")) {
		return;
	}
	event.preventDefault();
	const columns = getComputedStyle(byId("cells")).gridTemplateColumns.split(" ").length;
	const by = step ?? (event.key === "ArrowDown" ? columns : -columns);
	const cells = [...byId("cells").children];
	cells[cells.indexOf(cell) + by]?.firstElementChild.focus();
}

begin();
