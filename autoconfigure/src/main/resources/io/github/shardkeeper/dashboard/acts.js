/** Acts: a form, what a dry run says would happen, and only then the act. */

import { byId, button, element, say } from "./elements.js";
import { Failure, request, settings } from "./model.js";

const CSRF_NAME = "X-Shardkeeper-Csrf-Header";
const CSRF_TOKEN = "X-Shardkeeper-Csrf-Token";

let current = null;

/** The token of Spring Security that the page's response has, in the form in which forms send it. */
async function csrf() {
	const response = await fetch(location.pathname, { cache: "no-store", credentials: "same-origin", redirect: "manual" });
	const name = response.headers.get(CSRF_NAME);
	const token = response.headers.get(CSRF_TOKEN);
	return name && token ? { [name]: token } : {};
}

export async function post(path, body) {
	const send = (token) => request(path, {
		method: "POST", body: JSON.stringify(body),
		headers: { "Content-Type": "application/json", "Accept": "application/json", "X-Shardkeeper-Act": "1", ...token },
	});
	// Where the token is in a cookie, its settings say which of the two forms is accepted: that of scripts comes first.
	const cookie = /(?:^|; )XSRF-TOKEN=([^;]+)/.exec(document.cookie);
	if (cookie) {
		try {
			return await send({ "X-XSRF-TOKEN": decodeURIComponent(cookie[1]) });
		} catch (failure) {
			if (failure.status !== 403 || failure.ofEndpoint) {
				throw failure;
			}
		}
	}
	return send(await csrf());
}

/**
 * A button for an act; nothing where acts are not allowed.
 * @param act the text, title, path, body, and fields that the person fills in
 */
export function actButton(act) {
	if (!settings.acts) {
		return null;
	}
	const created = button(act.text, "act", () => confirm(act));
	created.setAttribute("aria-label", `${act.title} …`);
	return created;
}

function field(definition) {
	const input = element(definition.options ? "select" : "input", "");
	input.name = definition.name;
	if (definition.options) {
		definition.options.forEach(({ value, text }) => {
			const option = element("option", "", text);
			option.value = value;
			input.append(option);
		});
	} else if (definition.check) {
		input.type = "checkbox";
		input.value = "true";
	} else {
		input.type = "text";
		input.maxLength = 200;
		input.value = definition.value ?? "";
		input.placeholder = definition.hint ?? "";
		input.required = definition.required === true;
	}
	if (definition.name !== "reason") {
		input.addEventListener("input", previewSoon);
	}
	return definition.check ? element("label", "check", input, ` ${definition.label}`) : element("label", "", definition.label, input);
}

export function confirm(act) {
	current = { act, returnTo: document.activeElement, run: 0 };
	byId("confirm-title").textContent = act.title;
	byId("confirm-fields").replaceChildren(
			...[...(act.fields ?? []), { name: "reason", label: "Reason, for the log (optional)" }].map(field));
	byId("do").textContent = act.verb ?? "Do it";
	byId("do").hidden = false;
	byId("confirm-close").textContent = "Cancel";
	byId("confirm").showModal();
	byId("confirm-title").focus();
	preview();
}

function body() {
	const values = Object.fromEntries([...new FormData(byId("confirm-form"))].filter(([, value]) => value !== ""));
	return { ...current.act.body, ...values };
}

function show(reply, lead) {
	const effects = reply.effects?.length > 0 ? reply.effects : ["Nothing changes."];
	byId("effects").replaceChildren(element("p", "soft", lead),
			element("ul", "", ...effects.map((effect) => element("li", "", effect))));
	if (reply.refused) {
		byId("effects").append(element("p", "banner bad", `Refused: ${reply.refused}`));
	}
}

function showFailure(failure) {
	const unsure = !(failure instanceof Failure) ? " It is not known whether it was done." : "";
	byId("effects").replaceChildren(element("p", "banner bad", failure.message + unsure));
}

/** What a person has changed is asked about before it can be done. */
function previewSoon() {
	if (current.done) {
		return;
	}
	byId("do").disabled = true;
	current.run++;
	clearTimeout(current.timer);
	current.timer = setTimeout(preview, 300);
}

async function preview() {
	if (!current || current.done) {
		return;
	}
	const mine = ++current.run;
	const of = current;
	byId("do").disabled = true;
	if (!byId("confirm-form").checkValidity()) {
		byId("effects").replaceChildren(element("p", "soft", "Fill in what is needed to see what would happen."));
		return;
	}
	byId("effects").replaceChildren(element("p", "soft", "Asking what would happen …"));
	try {
		const reply = await post(of.act.path, { ...body(), dryRun: true });
		if (of === current && mine === of.run) {
			show(reply, "This would happen:");
			byId("do").disabled = Boolean(reply.refused);
		}
	} catch (failure) {
		if (of === current && mine === of.run) {
			byId("effects").replaceChildren(element("p", "banner bad", failure.message));
		}
	}
}

async function perform(event) {
	event.preventDefault();
	const of = current;
	if (!of || byId("do").disabled) {
		return;
	}
	byId("do").disabled = true;
	of.run++;
	of.done = true;
	try {
		const reply = await post(of.act.path, body());
		if (of !== current) {
			return;
		}
		show(reply, reply.done ? "Done." : "Not done.");
		say(reply.done ? `Done. ${(reply.effects ?? []).join(" ")}` : `Not done. ${reply.refused ?? ""}`);
		leaveOnlyClose();
		document.dispatchEvent(new CustomEvent("acted"));
	} catch (failure) {
		if (of === current) {
			showFailure(failure);
			leaveOnlyClose();
		}
	}
}

/** After an attempt there is nothing to cancel, and nothing to do a second time. */
function leaveOnlyClose() {
	byId("do").hidden = true;
	byId("confirm-close").textContent = "Close";
	byId("confirm-close").focus();
}

export function begin() {
	byId("confirm-form").addEventListener("submit", perform);
	byId("confirm").addEventListener("close", () => {
		const back = current?.returnTo;
		current = null;
		if (back?.isConnected) {
			back.focus();
		}
	});
}
