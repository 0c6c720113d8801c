// The colours are those of the system until somebody chooses.
const themes = ['auto', 'light', 'dark'];
function theme(name) {
  document.documentElement.dataset.theme = name;
  $('theme').setAttribute('aria-label', `Colours: ${name}`);
  $('theme').textContent = { auto: '\u25d0 auto', light: '\u25cb light', dark: '\u25cf dark' }[name];
  try {
    localStorage.setItem('capkit-theme', name);
  } catch { /* a page may be kept from remembering */ }
}
let remembered = null;
try {
  remembered = localStorage.getItem('capkit-theme');
} catch { /* likewise */ }
theme(themes.includes(remembered) ? remembered : 'auto');
$('theme').onclick = () => theme(themes[(themes.indexOf(document.documentElement.dataset.theme) + 1) % themes.length]);

// Who points with a mouse or a finger needs no frame around what is shown then.
for (const type of ['pointerdown', 'keydown']) {
  document.addEventListener(type, () => { document.documentElement.dataset.by = type === 'keydown' ? 'keys' : 'pointer'; }, true);
}
