// The page as a whole.

function drawAll() {
  const p = profile();
  document.title = `${landscape ? `${landscape.name}, ` : ''}${p ? `${p.name}: machine images` : 'Machine images'}`;
  $('about').textContent = p ? [p.name, plural(p.versions.length, 'image version'),
    plural(p.groups.reduce((n, g) => n + g.types.length, 0), 'machine type'), plural(p.regions.length, 'region')].join(' \u00b7 ') : '';
  draw();
  drawLegend();
  drawWhy();
  drawGroups();
}

function drawOne() {
  if (data.profiles.length < 2) $('profile').parentElement.hidden = true;
  $('maker').textContent = `Made by capkit report, version ${data.version}, on ${data.date}${data.source ? `, of ${data.source}` : ''}.`;
  $('only').textContent = onlyFor(data.filter);
  drawNotes();
  drawLists();
  follow();
  window.addEventListener('hashchange', () => {
    if (isPart()) return landscape && address(false); // the part is in view, and the address has to name the landscape
    if (leave()) return;
    follow();
    if (state.open) $('why').querySelector('h3').focus({ preventScroll: true });
  });
}

drawLandscapes();
if (landscapes.length && !landscape) drawSideBySide();
else drawOne();
document.documentElement.dataset.drawn = 'yes';
const part = isPart() ? location.hash.slice(1) : new URLSearchParams(location.hash.slice(1)).get('part');
if (part && $(part)) $(part).scrollIntoView(); // it was empty when the browser looked for it
