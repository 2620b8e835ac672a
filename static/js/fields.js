// What a person changed in a form, and the way back into it. What is a password, shown or not, is never among it.

const SECRET = "[type=hidden], [type=password], [autocomplete$=password]";

const typedIn = (form) =>
  [...form.elements].filter((one) => one.name && one.matches("input, select, textarea") && !one.matches(SECRET));

const isTicked = (one) => one.matches("[type=checkbox], [type=radio]");

// Those of one name are told apart by what they stand for.
const keyOf = (one) => (isTicked(one) ? `${one.name}=${one.value}` : one.name);

function nowOf(one) {
  if (isTicked(one)) return String(one.checked);
  return one.matches("select") ? JSON.stringify([...one.selectedOptions].map((option) => option.value)) : one.value;
}

// As the page came.
function shownIn(one) {
  if (isTicked(one)) return String(one.defaultChecked);
  if (!one.matches("select")) return one.defaultValue;
  const chosen = [...one.options].filter((option) => option.defaultSelected);
  const first = one.multiple ? [] : [...one.options].slice(0, 1);
  return JSON.stringify((chosen.length ? chosen : first).map((option) => option.value));
}

function put(one, value) {
  if (isTicked(one)) one.checked = value === "true";
  else if (!one.matches("select")) one.value = value;
  else for (const option of one.options) option.selected = JSON.parse(value).includes(option.value);
}

export function read(form) {
  return typedIn(form)
    .map((one) => ({ key: keyOf(one), shown: shownIn(one), now: nowOf(one) }))
    .filter(({ shown, now }) => shown !== now);
}

// Puts it back where the form still shows what it showed then; returns whether all of it could be put back.
export function fill(form, changes) {
  const known = new Map(changes.map((change) => [change.key, change]));
  let whole = true;
  for (const one of typedIn(form)) {
    const change = known.get(keyOf(one));
    if (!change) continue;
    if (change.shown === shownIn(one)) put(one, change.now);
    else whole = false;
  }
  return whole;
}
