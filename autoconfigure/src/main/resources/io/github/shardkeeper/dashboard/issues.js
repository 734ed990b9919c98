/** What is wrong with the group, where, since when, and the acts that mend it. No DOM here. */

import { RECENT_MINUTES, key, settings, shardPath, topicPath } from "./model.js";
import { brief, number } from "./elements.js";

/** A member that is gone is shown for so long, unless its instance comes back. */
const GONE_MILLIS = RECENT_MINUTES * 60_000;
const NAMED = 4;

const plural = (count, one, many) => `${number(count)} ${count === 1 ? one : many}`;

function named(shards) {
	const names = shards.slice(0, NAMED).map(key).join(", ");
	return shards.length > NAMED ? `${names} and ${number(shards.length - NAMED)} more` : names;
}

const earliest = (shards) => shards.map((shard) => shard.since).sort()[0];

/* Acts, each as a form whose effects are asked for first. */

export const onInstance = (action, verb, instance) =>
	({ text: `${verb} …`, title: `${verb} ${instance}`, verb, path: settings.shards, body: { action, instance } });

export const onTopic = (action, text, verb, topic, fields = []) =>
	({ text: `${text} …`, title: `${verb} ${topic}`, verb: text, path: topicPath(topic), body: { action }, fields });

export const onShard = (action, text, verb, shard, fields = []) =>
	({ text: `${text} …`, title: `${verb} ${key(shard)}`, verb: text, path: shardPath(shard), body: { action }, fields });

export const onLetter = (action, text, verb, shard, id) =>
	({ text: `${text} …`, title: `${verb} ${id}`, verb: text, path: shardPath(shard), body: { action, id } });

export const onWaiting = (action, text, shard, { id, key: name, records }) =>
	({ text: `${text} …`, title: `${text}: ${plural(records, "record", "records")} of ${name ? `the key ${name}` : `offset ${id}`}`,
		verb: text, path: shardPath(shard), body: { action, id } });

const to = (value) => ({ name: "to", label: "To the position", required: true, value,
	hint: "earliest, latest, a time, an offset, or: after an offset" });

export const position = () => [to(), { name: "clearState", label: "Also clear the state", check: true }];

export const letterFilter = () => [
	{ name: "exception", label: "Only those of this exception (optional)", hint: "TimeoutException" },
	{ name: "failedSince", label: "Only those that failed since (optional)", hint: "2026-11-21T04:00:00Z" },
];

/** Acts that a topic and a shard have in common. */
export function commonActs(subject, on, paused, letters) {
	return [
		paused ? on("resume", "Resume", "Resume", subject) : on("pause", "Pause", "Pause", subject),
		on("seek", "Seek", "Seek", subject, position()),
		...letters ? [on("send-back", "Send dead letters back", "Send back the dead letters of", subject, letterFilter()),
			on("drop", "Drop dead letters", "Drop the dead letters of", subject, letterFilter())] : [],
	];
}

function repairs(shard) {
	const at = /^Halted at offset ([^\s,:]+)|at offset ([^\s,:]+) keeps failing/.exec(shard.problem);
	const offset = at?.[1] ?? at?.[2];
	return offset
		? [onShard("seek", "Skip the record", "Skip the record in", shard, [to(`after ${offset}`)]),
			onShard("seek", "Seek", "Seek", shard, position())] : [];
}

function ofShard(shard) {
	const acts = repairs(shard);
	return { level: "bad", of: "shard", name: `problem ${key(shard)}`, where: key(shard), shard, text: shard.problem,
		acts: shard.paused ? acts : [...acts, onShard("pause", "Pause", "Pause", shard)] };
}

/** What the instance that replies knows of topics that every instance consumes for itself. */
function ofBroadcast(topic) {
	const on = ` on ${topic.instance}`;
	return [
		...Object.entries(topic.problems).map(([id, problem]) => ({ level: "bad", of: "broadcast", text: problem,
			name: `broadcast ${topic.topic}/${id}`, where: `${topic.topic}/${id}${on}`, acts: repairs({ topic: topic.topic, id, problem }) })),
		...topic.deadLetters > 0 ? [{ level: "warn", of: "letters", name: `broadcast letters ${topic.topic}`, count: topic.deadLetters,
			where: `${topic.topic}${on}`, text: failed(topic.deadLetters), acts: letterActs(onTopic, topic.topic) }] : [],
	];
}

/** Members whose heartbeats do not arrive: frozen, cut off, or dead and not yet replaced. */
function silent(member, shards) {
	const owned = shards.filter((shard) => shard.owner === member.id);
	const waiting = member.shards === 0 ? "It owns no shard"
			: `${plural(member.shards, "shard waits", "shards wait")} for it${owned.length > 0 ? `: ${named(owned)}` : ""}. `
					+ `${member.shards === 1 ? "It moves" : "They move"} to another member once the session is over`;
	return { level: "bad", of: "member", name: `silent ${member.id}`, where: member.instance, since: member.silentSince,
		text: `No heartbeat: the instance is frozen, cut off from the store, or dead, and consumes nothing. ${waiting}`, acts: [] };
}

/** Instances whose session ended without a leave and that have not come back. */
function gone(model) {
	const here = new Set(model.group.members.map((member) => member.instance));
	const lost = new Map();
	for (const move of model.moves) {
		if (move.cause === "CRASH" && move.from && !here.has(brief(move.from)) && Date.now() - Date.parse(move.planned) < GONE_MILLIS) {
			lost.set(move.from, [...lost.get(move.from) ?? [], move]);
		}
	}
	return [...lost].map(([member, moves]) => {
		const to = [...new Set(moves.map((move) => brief(move.to)))].slice(0, NAMED).join(", ");
		return { level: "warn", of: "member", name: `gone ${member}`, where: brief(member), since: moves.at(-1).planned,
			text: `Its session ended without a leave: the instance crashed, froze or was cut off. `
					+ `${plural(moves.length, "shard has", "shards have")} moved to ${to}: ${named(moves)}. Look at its process and its log`,
			acts: [] };
	});
}

function byTopic(shards) {
	const topics = new Map();
	shards.forEach((shard) => topics.has(shard.topic) ? topics.get(shard.topic).push(shard) : topics.set(shard.topic, [shard]));
	return [...topics];
}

function unowned(shards) {
	return byTopic(shards).map(([topic, some]) => ({ level: "bad", of: "shard", name: `free ${topic}`, where: topic,
		since: earliest(some), text: `${plural(some.length, "shard is", "shards are")} consumed by nobody: ${named(some)}. `
				+ "If no member consumes the topic, start one that does", acts: [] }));
}

/** Instances that restart: nobody consumes what is kept for them, because that is wanted. */
function away(group) {
	return (group.away ?? []).map((one) => ({ level: "note", of: "away", name: `away ${one.instance}`, where: one.instance,
		since: one.since, text: `Restarts: ${plural(one.shards, "shard is", "shards are")} kept for it until `
				+ `${new Date(one.until).toLocaleTimeString("en-GB")}, and then given to others`, acts: [] }));
}

const letterActs = (on, subject) => [on("send-back", "Send back", "Send back the dead letters of", subject, letterFilter()),
	on("drop", "Drop", "Drop the dead letters of", subject, letterFilter())];

const failed = (count) => `${plural(count, "record has", "records have")} failed and ${count === 1 ? "was" : "were"} put aside as `
		+ `dead ${count === 1 ? "letter" : "letters"}`;

function letters(all) {
	return byTopic(all).flatMap(([topic, shards]) => {
		if (shards.length > NAMED) {
			const count = shards.reduce((sum, shard) => sum + shard.deadLetters, 0);
			return [{ level: "warn", of: "letters", name: `letters ${topic}`, where: topic, count,
				text: `${failed(count)} in ${number(shards.length)} shards: ${named(shards)}`, acts: letterActs(onTopic, topic) }];
		}
		return shards.map((shard) => ({ level: "warn", of: "letters", name: `letters ${key(shard)}`, where: key(shard), shard,
			count: shard.deadLetters, text: failed(shard.deadLetters), acts: letterActs(onShard, shard) }));
	});
}

function stopped(model, shards) {
	const paused = (pause) => `Paused${pause.by ? ` by ${pause.by}` : ""}${pause.reason ? `: ${pause.reason}` : ""}. `
			+ "Its records wait until it is resumed";
	const topics = model.group.topics.filter((topic) => topic.paused);
	const whole = new Set(topics.map((topic) => topic.topic));
	return [
		...topics.map((topic) => ({ level: "note", of: "paused", name: `paused ${topic.topic}`, where: topic.topic,
			since: topic.paused.since, text: paused(topic.paused), acts: [onTopic("resume", "Resume", "Resume", topic.topic)] })),
		...shards.filter((shard) => !whole.has(shard.topic)).map((shard) => ({
			level: "note", of: "paused", name: `paused ${key(shard)}`, where: key(shard), shard, since: shard.paused.since,
			text: paused(shard.paused), acts: [onShard("resume", "Resume", "Resume", shard)] })),
		...model.group.members.filter((member) => member.draining).map((member) => ({
			level: "note", of: "drained", name: `drained ${member.instance}`, where: member.instance,
			text: `Drained: it ${member.shards > 0 ? `still has ${plural(member.shards, "shard", "shards")} and gives them up` : "owns no shard"}, `
					+ "and gets none until it is undrained",
			acts: [onInstance("undrain", "Undrain", member.instance)] })),
	];
}

/** Returns everything that a person should know, the worst first. */
export function issues(model) {
	const { group } = model;
	const reported = group.problems.filter((problem) => problem.serious).map((problem) => problem.concerned).join();
	const silentIds = model.silent();
	const kept = new Set((group.away ?? []).map((one) => `${one.instance}~AWAY`));
	const [free, waiting, withLetters, paused] = [[], [], [], []];
	for (const shard of model.shards.values()) {
		if ((shard.state === "FREE" || shard.state === "QUIET") && !kept.has(shard.target) && !reported.includes(key(shard))) {
			free.push(shard);
		}
		if (silentIds.has(shard.owner)) {
			waiting.push(shard);
		}
		if (shard.deadLetters > 0) {
			withLetters.push(shard);
		}
		if (shard.paused) {
			paused.push(shard);
		}
	}
	const pauses = stopped(model, paused);
	const told = new Set(pauses.map((one) => one.of));
	const found = [
		...(group.leader ? [] : [{ level: "bad", of: "group", name: "leader", where: "The whole group", acts: [],
			text: "It has no leader, so nobody takes over the shards of an instance that stops" }]),
		...(group.self && !group.connected ? [{ level: "bad", of: "member", name: "lease", where: brief(group.self), acts: [],
			text: "This instance, which replies, has no lease at the moment and consumes nothing" }] : []),
		...group.members.filter((member) => member.silentSince).map((member) => silent(member, waiting)),
		...group.problems.filter((problem) => !told.has(problem.kind)).map((problem) => ({
			level: problem.serious ? "bad" : "note", of: "group", name: `${problem.kind} ${problem.concerned} ${problem.problem}`,
			where: problem.concerned || "The whole group", text: problem.problem, acts: [] })),
		...unowned(free),
		...[...model.problems.values()].map(ofShard),
		...letters(withLetters),
		...group.broadcast.flatMap(ofBroadcast),
		...gone(model),
		...away(group),
		...pauses,
	];
	const order = { bad: 0, warn: 1, note: 2 };
	return found.sort((one, other) => order[one.level] - order[other.level]);
}

/** Returns the sentence above the list. */
export function verdict(model, found) {
	const count = (of, level) => found.filter((one) => one.of === of && one.level === level).length;
	const withProblem = model.group.topics.reduce((sum, topic) => sum + topic.problems, 0);
	const unattended = model.group.topics.reduce((sum, topic) => sum + (topic.states.FREE ?? 0) + (topic.states.QUIET ?? 0), 0);
	const kept = (model.group.away ?? []).reduce((sum, one) => sum + one.shards, 0);
	const silentMembers = model.group.members.filter((member) => member.silentSince).length;
	const dead = found.filter((one) => one.of === "letters").reduce((sum, one) => sum + one.count, 0);
	const ofGroup = count("group", "bad");
	const parts = [
		silentMembers > 0 ? `${plural(silentMembers, "member is", "members are")} silent` : null,
		withProblem > 0 ? `${plural(withProblem, "shard has", "shards have")} a problem` : null,
		count("broadcast", "bad") > 0 ? `${plural(count("broadcast", "bad"), "broadcast shard has", "broadcast shards have")} a problem` : null,
		unattended > kept ? `${plural(unattended - kept, "shard has", "shards have")} no owner` : null,
		ofGroup > 0 ? plural(ofGroup, "problem of the group", "problems of the group") : null,
		dead > 0 ? plural(dead, "dead letter", "dead letters") : null,
		count("member", "warn") > 0 ? `${plural(count("member", "warn"), "instance is", "instances are")} gone` : null,
		count("away", "note") > 0 ? `${plural(count("away", "note"), "instance restarts", "instances restart")}` : null,
		count("paused", "note") > 0 ? `${number(count("paused", "note"))} paused` : null,
		count("drained", "note") > 0 ? `${number(count("drained", "note"))} drained` : null,
	].filter(Boolean);
	const text = parts.join(", ");
	return text ? `${text[0].toUpperCase()}${text.slice(1)}.` : "None known: every shard has an owner that makes progress.";
}
