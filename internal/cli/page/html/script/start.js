// The page as a whole, and its colours.

function drawAll() {
  const p = profile();
  document.title = p ? `${p.name}: machine images` : 'Machine images';
  $('about').textContent = p ? [p.name, plural(p.versions.length, 'image version'),
    plural(p.groups.reduce((n, g) => n + g.types.length, 0), 'machine type'), plural(p.regions.length, 'region')].join(' \u00b7 ') : '';
  draw();
  drawLegend();
  drawWhy();
  drawGroups();
}

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
if (data.profiles.length < 2) $('profile').parentElement.hidden = true;
$('maker').textContent = `Made by capkit report, version ${data.version}. It needs no network.`;
drawNotes();
drawMaintenance();
drawFindings();
follow();
window.addEventListener('hashchange', () => {
  if (isPart()) return;
  follow();
  if (state.open) $('why').querySelector('h3').focus({ preventScroll: true });
});
document.documentElement.dataset.drawn = 'yes';
