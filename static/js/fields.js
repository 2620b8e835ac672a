// What a person typed into a form, and the way back into it. Passwords are never among it.

const typedIn = (form) =>
  [...form.elements].filter((one) => one.name && one.matches("input, select, textarea") && !one.matches("[type=hidden], [type=password]"));

const isTicked = (one) => one.matches("[type=checkbox], [type=radio]");

export function read(form) {
  return typedIn(form).map((one) => [one.name, isTicked(one) ? one.checked : one.value]);
}

export function fill(form, typed) {
  const known = new Map(typed);
  for (const one of typedIn(form)) {
    if (!known.has(one.name)) continue;
    if (isTicked(one)) one.checked = known.get(one.name);
    else one.value = known.get(one.name);
  }
}
