/** The grid of shards, a cell for each, page by page. */

import { brief, briefly, button, byId, element, hue, number, setText, showName, sync } from "./elements.js";
import { key } from "./model.js";

const CELLS_PER_PAGE = 200;

let page = 0;

const filter = () => ({
	text: byId("search").value, topic: byId("topic").value, member: byId("member").value, state: byId("state").value,
	problems: byId("only-problems").checked,
});

/** Shows the shards that match the filters. */
export function show(model, open) {
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

/**
 * Listens to filters, pages and arrow keys.
 * @param again shows the cells again
 */
export function begin(again) {
	const narrowed = () => {
		page = 0;
		again();
	};
	const turn = (by) => {
		page += by;
		again();
		byId("shards-title").focus();
	};
	let typing = null;
	byId("search").addEventListener("input", () => {
		clearTimeout(typing);
		typing = setTimeout(narrowed, 120);
	});
	["topic", "member", "state", "only-problems"].forEach((id) => byId(id).addEventListener("change", narrowed));
	byId("filters").addEventListener("submit", (event) => event.preventDefault());
	byId("previous").addEventListener("click", () => turn(-1));
	byId("next").addEventListener("click", () => turn(1));
	byId("cells").addEventListener("keydown", walk);
	["focusin", "mouseover"].forEach((type) => byId("cells").addEventListener(type, (event) => showWhole(event.target.closest(".cell"))));
	["focusout", "mouseleave"].forEach((type) => byId("cells").addEventListener(type, () => showWhole(null)));
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
