// The address and the filters, which both say what is shown.

// The address, behind the #, says what is shown: whoever gets it sees the same.
function address(push) {
  const p = profile(), words = new URLSearchParams(here);
  if (!p) return;
  if (data.profiles.length > 1) words.set('profile', p.name);
  if (state.image) words.set('image', state.image);
  if (state.region) words.set('region', state.region);
  if (state.request) words.set('asks', p.requests[state.request].label);
  if (state.search) words.set('types', state.search);
  if (state.gaps) words.set('gaps', '1');
  if (state.expiring) words.set('expiring', '1');
  if (state.find) words.set('find', state.find);
  if (state.open) {
    words.set('version', fullName(p.versions[state.open.version]));
    words.set('on', p.groups[state.open.group].types[state.open.type]);
    words.set('in', p.regions[state.open.region]);
  }
  const hash = `#${words}`;
  if (hash === location.hash || (hash === '#' && !location.hash)) return;
  history[push ? 'pushState' : 'replaceState'](null, '', hash);
}

// isPart reports whether the address only names a part of the page.
const isPart = () => ['#overview', '#matrix', '#maintenance', '#calendar', '#findings', '#types'].includes(location.hash);

function follow() {
  const words = new URLSearchParams(isPart() ? '' : location.hash.slice(1)), missing = new Map();
  // find returns the index of what the link names in a list; fallback if it names nothing, or what is not there.
  const find = (word, list, fallback) => {
    if (!words.has(word)) return fallback;
    const i = list.indexOf(words.get(word));
    if (i < 0) missing.set(word, words.get(word));
    return i < 0 ? fallback : i;
  };
  state.profile = find('profile', data.profiles.map((p) => p.name), 0);
  const p = profile();
  if (!p) return drawAll();
  const images = [...new Set(p.versions.map((v) => v.image))];
  state.image = images[find('image', images, -1)] || '';
  state.region = p.regions[find('region', p.regions, -1)] || '';
  state.request = find('asks', p.requests.map((r) => r.label), 0);
  state.search = words.get('types') || '';
  state.gaps = words.get('gaps') === '1';
  state.expiring = words.get('expiring') === '1';
  const looked = state.find;
  state.find = words.get('find') || '';
  state.open = null;
  const version = find('version', p.versions.map(fullName), -1), region = find('in', p.regions, 0);
  const types = p.groups.flatMap((g, group) => g.types.map((name, type) => ({ name, group, type })));
  const on = find('on', types.map((t) => t.name), -1);
  // Another cell than the one that was meant would be a wrong answer.
  const isThere = !['profile', 'asks', 'version', 'on', 'in'].some((word) => missing.has(word));
  if (version >= 0 && on >= 0 && isThere) state.open = { group: types[on].group, type: types[on].type, version, region };
  fillFilters();
  drawAll();
  if (state.find !== looked) drawLists();
  const td = mark();
  if (td) uncover(td);
  if (state.open) reveal();
  $('lost').textContent = missing.size ? `The link names what this report does not have: ${[...missing.values()].join(', ')}.` : '';
}

function options(select, entries, value) {
  select.replaceChildren(...entries.map(([key, words]) => make('option', { value: key }, words)));
  select.value = value;
}

function fillFilters() {
  const p = profile();
  options($('profile'), data.profiles.map((x, i) => [i, x.name]), state.profile);
  if (!p) return;
  options($('image'), [['', 'all images'], ...[...new Set(p.versions.map((v) => v.image))].map((x) => [x, x])], state.image);
  options($('region'), [['', p.regions.length > 1 ? `all ${p.regions.length} regions` : 'all regions'], ...p.regions.map((x) => [x, x])], state.region);
  $('request').parentElement.hidden = p.requests.length < 2;
  options($('request'), p.requests.map((r, i) => [i, asked(r)]), state.request);
  $('search').value = state.search;
  $('gaps').checked = state.gaps;
  $('expiring').checked = state.expiring;
  $('expiring').parentElement.hidden = !p.versions.some((v) => v.expires);
  $('find').value = state.find;
}

function filter(event) {
  const profileChanged = event && event.target === $('profile');
  const open = state.open, before = profile();
  Object.assign(state, {
    profile: Number($('profile').value), image: $('image').value, region: $('region').value,
    request: Number($('request').value), search: $('search').value, gaps: $('gaps').checked,
    expiring: $('expiring').checked,
  });
  if (profileChanged) Object.assign(state, { image: '', region: '', request: 0, open: null });
  if (open && !profileChanged && state.region) state.open = { ...open, region: before.regions.indexOf(state.region) };
  if (profileChanged) fillFilters();
  $('lost').textContent = '';
  drawAll();
  address(false);
}
$('filters').addEventListener('input', filter);
$('find').addEventListener('input', () => {
  state.find = $('find').value.trim();
  drawLists();
  address(false);
});
for (const form of ['filters', 'finding']) $(form).addEventListener('submit', (event) => event.preventDefault());
