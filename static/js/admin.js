// Adds to the admin: a button that copies a text, and one that shows what is typed into a password.

const SAID_MS = 4000;

async function copied(target) {
  try {
    await navigator.clipboard.writeText(target.textContent);
    return true;
  } catch {
    // Not a secure address, or refused: the older way copies what is selected.
    getSelection()?.selectAllChildren(target);
    return document.execCommand("copy");
  }
}

for (const button of document.querySelectorAll("[data-copies]")) {
  const target = document.getElementById(button.dataset.copies);
  const said = document.getElementById(button.dataset.said);
  if (!target || !said) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    said.textContent = (await copied(target)) ? "Copied." : "It is selected: copy it by Ctrl-C.";
    setTimeout(() => said.replaceChildren(), SAID_MS);
  });
}

for (const first of document.querySelectorAll("input[data-shows]")) {
  const fields = [first, document.getElementById(first.dataset.shows)].filter(Boolean);
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "shows", textContent: "Show" });
  button.setAttribute("aria-pressed", "false");
  button.setAttribute("aria-controls", fields.map((field) => field.id).join(" "));
  button.addEventListener("click", () => {
    const shows = first.type === "password";
    for (const field of fields) field.type = shows ? "text" : "password";
    button.setAttribute("aria-pressed", String(shows));
    button.textContent = shows ? "Hide" : "Show";
  });
  first.after(button);
  // What is shown is not kept by the browser as an ordinary text.
  first.form?.addEventListener("submit", () => {
    for (const field of fields) field.type = "password";
  });
}
