// Adds to each time that is typed in UTC what it is in the reader's own zone, in which pages show times.

const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

function told(input) {
  const at = Date.parse(`${input.value}Z`);
  return Number.isNaN(at) || ZONE === "UTC" ? "" : `= ${LOCAL.format(at)} in ${ZONE}`;
}

for (const input of document.querySelectorAll("input[data-utc]")) {
  const here = document.createElement("output");
  here.className = "here";
  input.parentElement.after(here);
  const tell = () => { here.textContent = told(input); };
  input.addEventListener("input", tell);
  tell();
}
