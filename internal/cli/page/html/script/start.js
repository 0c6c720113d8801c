// The page as a whole.

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

if (data.profiles.length < 2) $('profile').parentElement.hidden = true;
$('maker').textContent = `Made by capkit report, version ${data.version}, on ${data.date}${data.source ? `, of ${data.source}` : ''}.`;
$('only').textContent = data.filter ? `Worker pools are those that match ${data.filter}. What lint finds is about all.` : '';
drawNotes();
drawLists();
follow();
window.addEventListener('hashchange', () => {
  if (isPart()) return;
  follow();
  if (state.open) $('why').querySelector('h3').focus({ preventScroll: true });
});
document.documentElement.dataset.drawn = 'yes';
if (isPart()) document.querySelector(location.hash).scrollIntoView(); // it was empty when the browser looked for it
