// Gives scripts that draw the tokens of the style sheet, in the theme that is in force.

export const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// A colour as a canvas takes it: a custom property such as --good-solid, any other colour, or that of the text.
export function colour(name) {
  const probe = document.createElement("i");
  probe.style.color = name?.startsWith("--") ? `var(${name})` : name || "";
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}
