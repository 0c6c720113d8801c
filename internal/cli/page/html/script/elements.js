// How elements and words are made.

const $ = (id) => document.getElementById(id);

// make returns an element with properties and children. Text is only ever set as text.
function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}
const plural = (n, noun) => `${n} ${noun}${n === 1 ? '' : 's'}`;
const some = (n, all, noun) => (n === all ? `${all > 1 ? 'all ' : ''}${plural(all, noun)}` : `${n} of ${plural(all, noun)}`);
// isPartOf returns whether a text has all words of what somebody looks for.
const isPartOf = (words, text) => words.toLowerCase().split(/\s+/).every((word) => text.toLowerCase().includes(word));
const letter = (i) => (i < 26 ? String.fromCharCode(65 + i) : String(i + 1));
