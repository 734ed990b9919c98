/** The page: reads the model, shows it, and follows the stream of changes. */

import * as acts from "./acts.js";
import { Failure, Model, key, request, settings, shardPath, topicPoints } from "./model.js";
import { bars, brief, button, byId, cause, dot, duration, element, figure, hue, line, meter, number, say, setText, span, sync, time }
	from "./view.js";

const CELLS_PER_PAGE = 200;
const PROBLEMS_SHOWN = 12;
const POLL_MILLIS = 2000;
const IDLE_MILLIS = 5000;
const DETAIL_MILLIS = 2000;
const MINUTES_SHOWN = 30;

const model = new Model();
let page = 0;
let selected = null;
let timer = null;
let reading = false;
let again = false;
let streaming = false;

const filter = () => ({
	text: byId("search").value, topic: byId("topic").value, member: byId("member").value, state: byId("state").value,
	problems: byId("only-problems").checked,
});

/* What is wrong, and where */

function showTrouble() {
	const { group } = model;
	const ofGroup = group.problems.map((problem) => ({
		where: problem.concerned || "The whole group", text: problem.problem, serious: problem.serious, kind: problem.kind,
	}));
	const ofShards = [...model.problems.values()].map((shard) => ({ shard, where: key(shard), text: shard.problem, serious: true }));
	const count = group.topics.reduce((sum, topic) => sum + topic.problems, 0);
	const bad = ofGroup.filter((problem) => problem.serious).length + count;
	const free = group.topics.reduce((sum, topic) => sum + (topic.states.FREE ?? 0), 0);
	byId("trouble").classList.toggle("bad", bad > 0 || !group.leader);
	const parts = [];
	if (count > 0) {
		parts.push(`${number(count)} ${count === 1 ? "shard has" : "shards have"} a problem`);
	}
	const serious = ofGroup.filter((problem) => problem.serious).length;
	if (serious > 0) {
		parts.push(`${number(serious)} ${serious === 1 ? "problem" : "problems"} of the group`);
	}
	if (!group.leader) {
		parts.push("the group has no leader");
	}
	if (free > 0) {
		parts.push(`${number(free)} ${free === 1 ? "shard has" : "shards have"} no owner`);
	}
	const text = parts.join(", ");
	setText("verdict", text ? `${text[0].toUpperCase()}${text.slice(1)}.` : "None known: every shard has an owner that makes progress.");
	const all = [...ofGroup.filter((problem) => problem.serious), ...ofShards, ...ofGroup.filter((problem) => !problem.serious)];
	sync(byId("problems"), all.slice(0, PROBLEMS_SHOWN), (problem) => problem.shard ? problem.where : `${problem.kind} ${problem.where} ${problem.text}`,
			() => element("li", ""), (item, problem) => {
		const version = `${problem.text}`;
		if (item.dataset.version === version) {
			return;
		}
		item.dataset.version = version;
		const where = problem.shard ? button(problem.where, "link where", () => open(problem.shard)) : element("span", "where", problem.where);
		item.replaceChildren(where, problem.serious ? null : element("span", "tag", "to know"), " ", problem.text);
	});
	const more = Math.max(0, count + ofGroup.length - PROBLEMS_SHOWN);
	setText("more-problems", [more > 0 ? `and ${number(more)} more` : "", model.incomplete ?? ""].filter(Boolean).join(" · "));
}

/* Members */

function memberActs(member) {
	const of = (action, title, verb) => ({ title, verb, path: settings.shards, body: { action, instance: member.instance } });
	return [
		member.draining
			? acts.actButton("Undrain …", of("undrain", `Undrain ${member.instance}`, "Undrain"))
			: acts.actButton("Drain …", of("drain", `Drain ${member.instance}`, "Drain")),
	];
}

function showMembers() {
	const { members, self } = model.group;
	const most = Math.max(1, ...members.map((member) => member.shards / Math.max(1, member.capacity)));
	sync(byId("members"), members, (member) => member.id, () => element("li", ""), (item, member) => {
		const version = JSON.stringify([member, most, member.id === self]);
		if (item.dataset.version === version) {
			return;
		}
		item.dataset.version = version;
		const focused = item.contains(document.activeElement) ? document.activeElement.textContent : null;
		const tag = (text, className = "") => element("span", `tag ${className}`, text);
		const name = element("span", "name", member.instance);
		name.title = member.id;
		const shards = `${number(member.shards)} ${member.shards === 1 ? "shard" : "shards"}`;
		item.replaceChildren(element("div", "row", dot(member.id), name, member.leader ? tag("leader") : null,
				member.id === self ? tag("answers") : null, member.leaving ? tag("leaving", "warn") : null,
				member.draining ? tag("draining", "warn") : null, member.zone ? tag(`zone ${member.zone}`) : null,
				member.version ? element("span", "soft", member.version) : null,
				element("span", "push", ...memberActs(member).filter(Boolean)),
				element("span", "load", meter(member.shards / Math.max(1, member.capacity) / most, `Load: ${shards}`),
						member.capacity === 1 ? shards : `${shards}, capacity ${member.capacity}`)));
		if (focused) {
			[...item.querySelectorAll("button")].find((one) => one.textContent === focused)?.focus();
		}
	});
	byId("rebalance").hidden = !settings.acts || members.length === 0;
	options("member", members.map((member) => [member.id, `${member.instance}`]));
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
}

/* Topics and shards */

function showTopics() {
	const { topics } = model.group;
	options("topic", topics.map((topic) => [topic.topic, topic.topic]));
	sync(byId("topics"), topics.slice(0, 24), (topic) => topic.topic, () => element("div", "topic"), (item, topic) => {
		const points = topicPoints(model, topic.topic);
		const label = `${topic.topic}: shards whose offset advanced between two readings, now ${points.at(-1) ?? 0}`;
		const chart = line(points, label);
		const states = Object.entries(topic.states).map(([state, count]) => `${number(count)} ${state.toLowerCase()}`).join(", ");
		const active = points.length > 1 ? ` · ${number(points.at(-1))} advancing` : "";
		const name = element("span", "name", element("b", "", topic.topic), " ",
				element("span", "soft", `${states || "no shards yet"}${active}`));
		item.title = "The line: shards whose offset advanced between two readings";
		const paused = topic.paused ? element("span", "tag warn", "paused") : null;
		item.replaceChildren(...[name, paused, topic.problems > 0 ? element("span", "tag bad", `${number(topic.problems)} ▲`) : null, chart]
			.filter(Boolean));
	});
}

function how(shard) {
	if (shard.problem) {
		return `▲ ${shard.problem}`;
	}
	if (shard.paused) {
		return "Ⅱ paused";
	}
	if (shard.target) {
		return `→ ${brief(shard.target)}`;
	}
	return shard.state === "OWNED" ? (shard.pinnedTo ? "pinned" : "owned") : shard.state.toLowerCase();
}

function showCells() {
	const found = model.select(filter());
	const pages = Math.max(1, Math.ceil(found.length / CELLS_PER_PAGE));
	page = Math.min(page, pages - 1);
	const shown = found.slice(page * CELLS_PER_PAGE, (page + 1) * CELLS_PER_PAGE);
	const list = byId("cells");
	list.classList.toggle("dense", shown.length > 60);
	sync(list, shown, key, (shard) => {
		const cell = button("", "cell", () => open(model.shards.get(key(shard)) ?? shard));
		cell.append(element("span", "id"), element("span", "who"), element("span", "how"));
		cell.addEventListener("animationend", () => cell.classList.remove("moved"));
		return element("li", "", cell);
	}, (item, shard) => {
		const cell = item.firstElementChild;
		const moved = model.moved.has(key(shard));
		const version = `${shard.state} ${shard.owner} ${shard.target} ${shard.problem} ${Boolean(shard.paused)} ${shard.pinnedTo}`;
		if (cell.dataset.version !== version) {
			cell.dataset.version = version;
			const [id, who, what] = cell.children;
			id.textContent = key(shard);
			who.textContent = brief(shard.owner);
			what.textContent = how(shard);
			cell.className = `cell ${/^[A-Z]+$/.test(shard.state) ? shard.state : ""} ${shard.owner ? hue(shard.owner) : ""}`
					+ `${shard.problem ? " problem" : ""}`;
			cell.title = `${key(shard)} · ${shard.owner ?? "nobody"} · ${how(shard)}`;
			cell.setAttribute("aria-label", `${key(shard)}, ${shard.state.toLowerCase()}, ${brief(shard.owner)}`
					+ `${shard.target ? `, moves to ${brief(shard.target)}` : ""}${shard.problem ? `, problem: ${shard.problem}` : ""}`);
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
	sync(byId("moves"), model.moves, (move) => move.id, moveItem, () => { });
	byId("earlier").hidden = !model.earlier;
	const perMinute = new Array(MINUTES_SHOWN).fill(0);
	const newest = Date.now();
	model.moves.forEach((move) => {
		const minute = Math.floor((newest - Date.parse(move.planned)) / 60_000);
		if (minute < MINUTES_SHOWN) {
			perMinute[MINUTES_SHOWN - 1 - Math.max(0, minute)]++;
		}
	});
	const version = perMinute.join();
	if (byId("spark").dataset.version !== version && model.moves.length > 0) {
		byId("spark").dataset.version = version;
		const total = perMinute.reduce((sum, value) => sum + value, 0);
		byId("spark").replaceChildren(figure(`moves per minute, last ${MINUTES_SHOWN} minutes: ${number(total)}`,
				bars(perMinute, `${total} moves in the last ${MINUTES_SHOWN} minutes`)));
	}
}

function moveItem(move) {
	const name = button(key(move), "link", () => open(model.shards.get(key(move)) ?? { topic: move.topic, id: move.shard }));
	const text = element("span", "name", name, ` ${move.from ? `${brief(move.from)} → ` : "→ "}${brief(move.to)}`);
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
		if (of.letters === undefined && details.deadLetters > 0) {
			of.letters = await request(`${path}/deadletters?limit=20`).catch(() => null);
		} else if (details.deadLetters === 0) {
			of.letters = undefined;
		}
		if (of === selected) {
			of.points.push({ at: Date.now(), offset: details.shard.offset, lag: details.lag });
			of.points.splice(0, of.points.length - 60);
			showShard(of, details, history);
		}
	} catch (failure) {
		if (of === selected) {
			const banner = element("p", "banner bad", failure.message);
			byId("shard-body").querySelector(".failed")?.remove();
			banner.classList.add("failed");
			byId("shard-body").prepend(banner);
		}
	} finally {
		if (of === selected && !document.hidden) {
			of.timer = setTimeout(() => refreshShard(of), DETAIL_MILLIS);
		}
	}
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
	const parts = [lag.records === null ? "many records, or not known" : `${number(lag.records)} records`];
	if (lag.millis !== null) {
		parts.push(lag.millis === 0 ? "up to date" : `oldest ${span(lag.millis)}`);
	}
	return parts.join(", ");
}

/** Rate of the committed offset, where offsets are numbers; those of streams are times. */
function rates(points) {
	const values = [];
	for (let index = 1; index < points.length; index++) {
		const [one, other] = [points[index - 1], points[index]];
		if (!/^\d{1,15}$/.test(one.offset ?? "") || !/^\d{1,15}$/.test(other.offset ?? "")) {
			return [];
		}
		values.push(Math.max(0, (Number(other.offset) - Number(one.offset)) / Math.max(0.001, (other.at - one.at) / 1000)));
	}
	return values;
}

function charts(points) {
	const all = element("div", "charts");
	const records = points.map((point) => point.lag?.records).filter((value) => typeof value === "number");
	const millis = points.map((point) => point.lag?.millis).filter((value) => typeof value === "number");
	const rate = rates(points);
	if (records.length > 1) {
		all.append(figure(`lag, now ${number(records.at(-1))} records`, line(records, `Lag, now ${records.at(-1)} records`)));
	}
	if (millis.length > 1) {
		all.append(figure(`age of the oldest record, now ${span(millis.at(-1))}`, line(millis, `Age, now ${span(millis.at(-1))}`)));
	}
	if (rate.length > 1) {
		all.append(figure(`rate, now ${number(Math.round(rate.at(-1)))} records/s`, line(rate, `Rate, now ${Math.round(rate.at(-1))} per second`)));
	}
	return all;
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
			shard.paused ? element("p", "banner", `Ⅱ Paused${shard.paused.by ? ` by ${shard.paused.by}` : ""}`
					+ `${shard.paused.reason ? `: ${shard.paused.reason}` : ""}`) : null, list, charts(of.points));
	if (!body.querySelector(".status")) {
		body.replaceChildren(element("div", "status"), element("div", "acts"), element("div", "letters"), element("div", "history"));
	}
	body.querySelector(".failed")?.remove();
	body.querySelector(".status").replaceChildren(status);
	showActs(body.querySelector(".acts"), shard, details);
	showLetters(body.querySelector(".letters"), of.letters);
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
	const focused = place.contains(document.activeElement) ? document.activeElement.textContent : null;
	const name = key(shard);
	const act = (action, title, fields) => ({ title: `${title} ${name}`, verb: title, path: shardPath(shard), body: { action }, fields });
	const members = (model.group?.members ?? []).filter((member) => member.topics?.[shard.topic] !== undefined || !member.topics);
	const to = (without) => [{ name: "to", label: "To the instance",
		options: members.filter((member) => member.id !== without).map((member) => ({ value: member.instance, text: member.instance })) }];
	const position = [{ name: "to", label: "To the position", required: true, hint: "earliest, latest, an offset or a time" }];
	const buttons = [];
	if (members.length > 1) {
		buttons.push(acts.actButton("Move …", act("move", "Move", to(shard.owner))));
	}
	buttons.push(shard.pinnedTo ? acts.actButton("Unpin …", act("unpin", "Unpin")) : acts.actButton("Pin …", act("pin", "Pin", to(null))));
	buttons.push(shard.paused ? acts.actButton("Resume …", act("resume", "Resume")) : acts.actButton("Pause …", act("pause", "Pause")));
	buttons.push(acts.actButton("Seek …", act("seek", "Seek", position)));
	if (details.deadLetters > 0) {
		buttons.push(acts.actButton("Send dead letters back …", act("send-back", "Send back the dead letters of")),
				acts.actButton("Drop dead letters …", act("drop", "Drop the dead letters of")));
	}
	place.replaceChildren(...buttons.filter(Boolean));
	if (focused) {
		[...place.children].find((one) => one.textContent === focused)?.focus();
	}
}

function showLetters(place, answer) {
	const letters = answer?.deadLetters ?? [];
	const version = letters.map((letter) => letter.id).join();
	if (place.dataset.version === version) {
		return;
	}
	place.dataset.version = version;
	place.replaceChildren(...(letters.length === 0 ? [] : [element("h3", "", "Dead letters, the oldest first"),
		element("ul", "", ...letters.map((letter) => element("li", "", letter.failedAt ? time(letter.failedAt) : "",
				` offset ${letter.offset ?? "?"}${letter.key ? ` · key ${letter.key}` : ""}`
						+ `${letter.attempts ? ` · ${letter.attempts} calls` : ""}`,
				element("div", "soft", letter.error ?? "")))),
		answer.next ? element("p", "soft", "There are more.") : null].filter(Boolean)));
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
			show();
		}
		if (moves > 0 && model.complete) {
			const [newest] = model.moves;
			say(`${moves} new ${moves === 1 ? "move" : "moves"}: ${key(newest)} to ${brief(newest.to)}, ${cause(newest.cause)}`);
		}
		live(streaming ? "live" : "polling", false);
		if (!model.complete) {
			pause = 100;
		} else if (fresh === false) {
			pause = 1000;
		}
	} catch (failure) {
		const away = failure instanceof TypeError || failure.name === "TimeoutError";
		live(away ? "This instance does not answer; trying again …" : `${failure.message}. Trying again …`, true);
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

function listen() {
	if (stream || document.hidden || typeof EventSource === "undefined") {
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
			setTimeout(listen, 15_000);
		}
	});
}

function quiet() {
	stream?.close();
	stream = null;
	streaming = false;
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
	document.addEventListener("acted", () => {
		read();
		if (selected) {
			selected.letters = undefined;
			refreshShard(selected);
		}
	});
	byId("cells").addEventListener("keydown", walk);
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
