/** The page: reads the model, shows it, and follows the stream of changes. */

import * as acts from "./acts.js";
import * as cells from "./cells.js";
import { commonActs, issues, onInstance, onTopic, verdict } from "./issues.js";
import { Failure, Model, RECENT_MINUTES, key, settings, shown, topicPoints } from "./model.js";
import { begin as beginShard, open, refresh } from "./shard.js";
import { bars, brief, briefly, button, byId, cause, dot, duration, element, fact, figure, keepingFocus, line, meter, number, pausedBanner, say,
	setText, sync, time } from "./elements.js";

const PROBLEMS_SHOWN = 12;
const POLL_MILLIS = 2000;
const IDLE_MILLIS = 5000;
const TOPICS_SHOWN = 24;

const model = new Model();
let timer = null;
let reading = false;
let again = false;
let streaming = false;
let allProblems = false;
let topicShown = null;
let readAt = null;

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

/* Groups of the application */

function showGroups() {
	byId("groups").hidden = settings.groups.length < 2;
	byId("groups").replaceChildren(...settings.groups.map((name) => {
		const to = element("a", "", name);
		to.href = `?group=${encodeURIComponent(name)}`;
		if (name === shown) {
			to.setAttribute("aria-current", "page");
		}
		return to;
	}));
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

/* Topics */

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
	cells.show(model, open);
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
	showGroups();
	acts.begin();
	beginShard(model);
	cells.begin(() => model.group && cells.show(model, open));
	byId("earlier").addEventListener("click", () => model.readEarlier().then(showMoves,
			(failure) => live(`${failure.message}. Trying again …`, true)));
	byId("rebalance").addEventListener("click", () => acts.confirm({
		title: "Rebalance the group", verb: "Rebalance", path: settings.shards, body: { action: "rebalance" },
	}));
	document.querySelectorAll("[data-close]").forEach((one) =>
		one.addEventListener("click", () => byId(one.dataset.close).close()));
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
		refresh(true);
	});
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
			refresh(false);
		}
	});
	listen();
	read();
}

begin();
