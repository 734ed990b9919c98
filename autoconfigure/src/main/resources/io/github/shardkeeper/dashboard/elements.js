/** Elements of the page. Text is only ever text: nothing here creates an element from a string of markup. */

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

export const number = (value) => value.toLocaleString("en");

/** Creates an element. Names and texts of others go into text nodes. */
export function element(tag, className, ...children) {
	const created = document.createElement(tag);
	if (className) {
		created.className = className;
	}
	created.append(...children.filter((child) => child !== null && child !== undefined));
	return created;
}

export function button(text, className, onClick) {
	const created = element("button", className, text);
	created.type = "button";
	created.addEventListener("click", onClick);
	return created;
}

function shape(tag, attributes) {
	const created = document.createElementNS(SVG, tag);
	Object.entries(attributes).forEach(([name, value]) => created.setAttribute(name, String(value)));
	return created;
}

function drawing(width, height, label) {
	const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": label });
	return svg;
}

/** A bar that is filled to a part. */
export function meter(part, label) {
	const svg = drawing(100, 4, label);
	svg.append(shape("rect", { class: "track", width: 100, height: 4, rx: 1 }),
			shape("rect", { class: "fill", width: Math.round(100 * Math.min(1, Math.max(0, part))), height: 4, rx: 1 }));
	return svg;
}

/** A line over the last points. */
export function line(values, label) {
	const svg = drawing(100, 30, label);
	if (values.length > 1) {
		const most = Math.max(1, ...values);
		const step = 100 / (values.length - 1);
		const points = values.map((value, index) => `${(index * step).toFixed(2)},${(28 - 26 * value / most).toFixed(2)}`);
		svg.append(shape("polygon", { class: "area", points: `0,30 ${points.join(" ")} 100,30` }),
				shape("polyline", { class: "line", points: points.join(" ") }));
	}
	return svg;
}

export function bars(values, label) {
	const svg = drawing(values.length * 4, 30, label);
	const most = Math.max(1, ...values);
	values.forEach((value, index) => {
		const height = value > 0 ? Math.max(2, 29 * value / most) : 0.5;
		svg.append(shape("rect", { x: index * 4, y: 30 - height, width: 3, height }));
	});
	return svg;
}

export function figure(caption, drawn) {
	return element("figure", "", drawn, element("figcaption", "", caption));
}

/** Members keep their colour and number, in the order in which they were first seen. */
const marks = new Map();

export function mark(member) {
	if (!marks.has(member)) {
		marks.set(member, marks.size);
	}
	return marks.get(member);
}

export const hue = (member) => `h${mark(member) % 16}`;

export function dot(member) {
	const created = element("span", `dot ${hue(member)}`, String(mark(member) + 1));
	created.setAttribute("aria-hidden", "true");
	return created;
}

/** The instance says enough; the whole id is in the shard's panel. */
export const brief = (member) => member ? member.replace(/~[^~]*$/, "") : "nobody";

/** The same for two members, unless they are two sessions of one instance. */
export const briefly = (member, other) =>
	member && other && member !== other && brief(member) === brief(other) ? member : brief(member);

/** Characters at the end of a name that are never left out; with a topic, the shard's id at least. */
const TAIL = 8;

/** Shows a name whose middle is left out where it is too long: many differ at their ends only. */
export function showName(place, name) {
	const at = Math.max(name.lastIndexOf("/"), name.length - Math.min(TAIL, name.length >> 1));
	place.classList.add("cut");
	place.replaceChildren(element("bdi", "head", name.slice(0, at)), element("bdi", "tail", name.slice(at)));
}

export function duration(iso) {
	const match = /^PT(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?$/.exec(iso ?? "");
	const seconds = match ? Number(match[1] ?? 0) * 3600 + Number(match[2] ?? 0) * 60 + Number(match[3] ?? 0) : Number(iso);
	return Number.isFinite(seconds) ? span(seconds * 1000) : String(iso);
}

export function span(millis) {
	if (millis < 1000) {
		return `${Math.round(millis)} ms`;
	}
	const seconds = millis / 1000;
	if (seconds < 60) {
		return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
	}
	const minutes = Math.floor(seconds / 60);
	return minutes < 60 ? `${minutes} min` : minutes < 2880 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min`
			: `${Math.floor(minutes / 1440)} days`;
}

export function time(text) {
	const at = new Date(text);
	const today = at.toDateString() === new Date().toDateString();
	const created = element("time", "", today ? at.toLocaleTimeString("en-GB") : at.toLocaleString("en-GB"));
	created.dateTime = text;
	created.title = text;
	return created;
}

const CAUSES = {
	FIRST_OWNER: "first owner", JOIN: "member joined", LEAVE: "member left", RESTART: "restart in place", CRASH: "member crashed", DEPLOY: "deployment",
	REBALANCE: "rebalance", COMPLETED: "read to its end", UNKNOWN: "owner lost", MANUAL: "by hand", FORCE: "forced",
};

export const cause = (name) => CAUSES[name] ?? name.toLowerCase().replaceAll("_", " ");

export function say(text) {
	byId("announce").textContent = text;
}

/** Changes a text only if it differs, so that screen readers do not repeat it. */
export function setText(id, text) {
	if (byId(id).textContent !== text) {
		byId(id).textContent = text;
	}
}

/** Replaces the items of a list, but keeps the elements of those that stay, with focus. */
export function sync(list, items, nameOf, create, update) {
	const focused = list.contains(document.activeElement) ? document.activeElement : null;
	const wanted = new Set(items.map(nameOf));
	[...list.children].filter((child) => !wanted.has(child.dataset.name)).forEach((child) => child.remove());
	const existing = new Map([...list.children].map((child) => [child.dataset.name, child]));
	let position = list.firstElementChild;
	const used = new Set();
	for (const item of items) {
		const name = nameOf(item);
		let child = existing.get(name);
		if (!child) {
			child = create(item);
			child.dataset.name = name;
		}
		existing.delete(name);
		used.add(child);
		update(child, item);
		if (child === position) {
			position = position.nextElementSibling;
		} else {
			list.insertBefore(child, position);
		}
	}
	[...list.children].filter((child) => !used.has(child)).forEach((child) => child.remove());
	if (focused?.isConnected && focused !== document.activeElement) {
		focused.focus();
	}
}

/** Puts the focus back on the button of the same text, after its list was made again. */
export function keepingFocus(place, change) {
	const focused = place.contains(document.activeElement) ? document.activeElement.textContent : null;
	change();
	if (focused) {
		[...place.querySelectorAll("button")].find((one) => one.textContent === focused)?.focus();
	}
}

/** Adds a name and a value to a list, if there is a value. */
export function fact(list, name, value) {
	if (value !== null && value !== undefined && value !== "") {
		list.append(element("dt", "", name), element("dd", "", value));
	}
}

export function pausedBanner(pause) {
	return element("p", "banner", `Ⅱ Paused${pause.by ? ` by ${pause.by}` : ""}${pause.reason ? `: ${pause.reason}` : ""}, since `,
			time(pause.since));
}
