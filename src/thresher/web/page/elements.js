// Find and make elements. Text is only inserted as text nodes, so HTML in it has no effect.

/** Return the element of the page with this id. */
export const byId = (id) => document.getElementById(id);

/** Return a new element with attributes and content. */
export function element(name, attributes = {}, ...content) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...content);
  return node;
}

/** Return a new button that calls a function when it is pressed. */
export function button(label, attributes, onClick) {
  const node = element("button", { type: "button", ...attributes }, label);
  node.addEventListener("click", onClick);
  return node;
}
