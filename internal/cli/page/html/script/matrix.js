// The matrix: a row for each image version, a column for each group of machine types.

// cells of the drawing, by row and column; each knows what it is about.
let cells = [];
function draw() {
  const p = profile(), grid = $('grid');
  cells = [];
  grid.replaceChildren();
  if (!p) return empty('There is no profile to show.');
  const matching = p.groups.map((g) => g.types.filter(isWanted));
  const groups = p.groups.map((_, i) => i).filter((i) => matching[i].length);
  const ofImage = p.versions.map((_, i) => i).filter((i) => !state.image || p.versions[i].image === state.image);
  const versions = ofImage.filter((i) => !state.gaps || groups.some((g) => ['no', 'part'].includes(shown(g, i)[0])));
  if (state.expiring) sortByExpiry(versions);
  drawRequests(groups, ofImage, matching);
  if (!p.versions.length) return empty('The profile has no image versions.');
  if (!p.groups.length) return empty('The profile has no machine types.');
  if (!p.regions.length) return empty('The profile has no regions.');
  if (!groups.length) return empty(`No machine type has "${state.search}" in its name.`);
  if (!versions.length) return empty(state.gaps ? 'No version has a gap on these machine types.' : 'There is no such version.');
  $('scroll').hidden = $('legend').hidden = $('saving').hidden = false;
  grid.classList.toggle('many', groups.length > 8);
  grid.append(make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, 'image version'), ...groups.map((g) => {
    const types = p.groups[g].types, [match] = matching[g];
    const more = types.length > 1 ? make('small', {}, ` +${types.length - 1}`) : '';
    return make('th', { scope: 'col', title: `${types.join('\n')}\n${p.groups[g].capabilities}` }, make('span', {}, match, more));
  }))));
  let body, image;
  for (const version of versions) {
    const v = p.versions[version];
    if (v.image !== image) {
      image = v.image;
      body = grid.appendChild(make('tbody', {}));
      body.append(make('tr', { className: 'image' }, make('th', { className: 'image', scope: 'rowgroup' }, image),
        make('td', { colSpan: groups.length })));
    }
    const head = make('th', { scope: 'row' }, v.name);
    if (v.state) head.append(make('span', { className: 'state' }, v.state + (v.since ? ` since ${v.since}` : '')));
    if (v.next) head.append(make('span', { className: 'state' }, (v.state ? 'then ' : '') + v.next));
    if (v.expires) {
      const verb = v.state === 'expired' ? 'since' : 'expires', isSoon = verb === 'expires' && v.expires <= data.soon;
      if (!v.since || verb === 'expires') head.append(make('span', { className: `state ${isSoon ? 'warn' : ''}` }, `${verb} ${v.expires}`));
    }
    const row = groups.map((group, column) => {
      const [kind, symbol, words] = shown(group, version), { here, elsewhere } = used(group, version);
      const [mark, use] = here.length ? [' used', ', worker pools use it'] : elsewhere.length ? [' elsewhere', `, ${usedElsewhere}`] : ['', ''];
      const td = make('td', { className: `cell ${kind}${mark}`, role: 'gridcell', tabIndex: -1 }, symbol);
      const [match] = matching[group], others = p.groups[group].types.length - 1;
      const seen = symbol.includes('/') ? `${symbol}, ` : ''; // who says what is seen reaches it
      td.setAttribute('aria-label', `${fullName(v)} on ${match}${others ? ` and ${plural(others, 'other type')}` : ''}: ${seen}${words}${use}`);
      return Object.assign(td, { about: { group, version, kind, row: cells.length, column } });
    });
    cells.push(row);
    body.append(make('tr', {}, head, ...row));
  }
  cells[0][0].tabIndex = 0;
  say(count(matching), false);
  mark();
}
const isWanted = (type) => type.toLowerCase().includes(state.search.toLowerCase());

// sortByExpiry sorts the indices of versions, images by the first of their versions to expire.
function sortByExpiry(versions) {
  const p = profile(), never = '9999', first = new Map();
  const expiry = (i) => (p.versions[i].state === 'expired' ? never : p.versions[i].expires || never);
  for (const i of versions) {
    const { image } = p.versions[i];
    if (!first.has(image) || expiry(i) < first.get(image)[0]) first.set(image, [expiry(i), first.has(image) ? first.get(image)[1] : i]);
  }
  const keys = (i) => [first.get(p.versions[i].image)[0], String(first.get(p.versions[i].image)[1]).padStart(9, '0'), expiry(i)];
  const key = new Map(versions.map((i) => [i, keys(i).join(' ')]));
  versions.sort((a, b) => (key.get(a) < key.get(b) ? -1 : key.get(a) > key.get(b) ? 1 : a - b));
}

const asked = (request) => request.label || 'nothing special';

// drawRequests says of each thing that worker pools may ask for how many combinations boot nothing then.
function drawRequests(groups, versions, matching) {
  profile().requests.forEach((request, i) => {
    const lost = groups.reduce((n, g) => n + matching[g].length * versions.filter((v) => isLost(g, v, i)).length, 0);
    $('request').options[i].textContent = asked(request) + (lost ? `: ${lost} boot${lost === 1 ? 's' : ''} nothing` : '');
  });
}

// count returns what is shown, for whom, how many worker pools there boot nothing, and what combinations do not boot, in words.
function count(matching) {
  const p = profile(), total = (list) => list.reduce((n, types) => n + types.length, 0), regions = regionsShown();
  let lost = 0, part = 0, other = 0;
  for (const { group, version } of cells.flat().map((td) => td.about)) {
    const failing = regions.filter((i) => chosen(group, version, i) < 0);
    if (!failing.length) continue;
    const isGap = fits(p, group, version, state.request), pools = used(group, version).here;
    part += isGap ? matching[group].length : 0;
    other += isGap ? 0 : matching[group].length;
    lost += countOf(pools.filter((e) => failing.some((i) => p.regions[i] === e.region)));
  }
  const many = (n, one, more) => `${plural(n, 'combination')} ${n === 1 ? one : more}`;
  const where = state.region ? ` in ${state.region}` : '';
  const lacking = [lost ? `${plural(lost, 'worker pool')} boot${lost === 1 ? 's' : ''} nothing` : '',
    part ? many(part, 'has a gap', 'have gaps') + where : ''].filter(Boolean).join(', ') || `no gap${where}`;
  const unfit = other ? `; ${many(other, 'fits', 'fit')} no flavor` : '';
  const whose = p.requests.length > 1 ? `, for worker pools that ask for ${asked(p.requests[state.request])}` : '';
  const types = some(total(matching), total(p.groups.map((g) => g.types)), 'machine type');
  return `${some(cells.length, p.versions.length, 'image version')} on ${types}${whose}: ` +
    `${part + other ? lacking + unfit : `each combination boots${where || ' in all regions'}`}.`;
}

// say says what is shown, to those who do not see it as well.
function say(words, isEmpty) {
  $('status').textContent = words.charAt(0).toUpperCase() + words.slice(1);
  $('status').classList.toggle('empty', isEmpty);
}

function empty(message) {
  say(message, true);
  $('scroll').hidden = $('legend').hidden = $('saving').hidden = true;
}

function drawLegend() {
  const entry = (kind, symbol, words) => make('span', {}, make('b', { className: kind }, symbol), words);
  const p = profile(), regions = p ? p.regions.length : 0, all = !state.region && regions > 1;
  $('legend').replaceChildren(
    ...(all ? [entry('yes', '\u2713', 'boots in all regions'),
      entry('part', `${regions - 1}/${regions}`, `boots in ${regions - 1} of ${regions} regions`)] :
      [entry('yes', '\u2713', 'boots'), entry('part', '\u2715', 'no image in the region'),
        ...(p && p.versions.some((v) => v.flavors.length > 1) ? [entry('yes', '\u2713\u2009A', 'boots flavor A of the version')] : [])]),
    entry('no', '\u2715', 'worker pools use it, and boot nothing'), entry('other', '\u2013', 'no flavor fits'),
    ...(data.maintenance.length ? [make('span', {}, make('b', {}, '\u2022'), 'worker pools use it')] : []),
    ...(cells.flat().some((td) => td.classList.contains('elsewhere')) ? [make('span', {}, make('b', {}, '\u25e6'), usedElsewhere)] : []),
    ...(p && p.groups.some((g) => g.types.length > 1) ? [make('span', {}, make('b', {}, '+1'), 'and one more machine type')] : []),
    make('span', { className: 'screen keys' }, make('kbd', {}, 'arrows'), ' move, ', make('kbd', {}, 'Enter'), ' shows why, ',
      make('kbd', {}, 'Esc'), ' closes'));
}

// mark shows which cell is open.
function mark() {
  let found = null;
  for (const row of cells) {
    for (const td of row) {
      const open = state.open && td.about.group === state.open.group && td.about.version === state.open.version;
      td.setAttribute('aria-selected', String(Boolean(open)));
      if (open) found = td;
    }
  }
  if (found) reach(found);
  return found;
}

// reach makes a cell the one that the tab key comes to.
function reach(td) {
  for (const row of cells) for (const other of row) if (other.tabIndex === 0) other.tabIndex = -1;
  td.tabIndex = 0;
}

$('grid').addEventListener('click', (event) => {
  const td = event.target.closest('td.cell');
  if (td) openCell(td);
});
$('grid').addEventListener('keydown', (event) => {
  const td = event.target.closest('td.cell');
  if (!td || event.altKey || event.metaKey) return;
  const { row, column } = td.about, last = cells.length - 1, end = cells[0].length - 1;
  const moves = {
    ArrowUp: [row - 1, column], ArrowDown: [row + 1, column], ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
    Home: [event.ctrlKey ? 0 : row, 0], End: [event.ctrlKey ? last : row, end],
    PageUp: [row - 10, column], PageDown: [row + 10, column],
  };
  if (event.key === 'Enter' || event.key === ' ') openCell(td);
  else if (moves[event.key]) {
    const [r, c] = moves[event.key];
    const next = cells[Math.min(Math.max(r, 0), last)][Math.min(Math.max(c, 0), end)];
    reach(next);
    next.focus({ preventScroll: true });
    uncover(next);
  } else return;
  event.preventDefault();
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && state.open && !$('filters').contains(event.target)) show(null); // there it empties a field
});

// uncover scrolls a cell out from under the headings, which stay where they are.
function uncover(td) {
  const box = $('scroll'), grid = $('grid');
  const head = grid.tHead.rows[0].cells[0], top = head.offsetHeight, left = head.offsetWidth;
  if (td.offsetTop < box.scrollTop + top) box.scrollTop = td.offsetTop - top;
  if (td.offsetLeft < box.scrollLeft + left) box.scrollLeft = td.offsetLeft - left;
  box.scrollTop = Math.max(box.scrollTop, td.offsetTop + td.offsetHeight - box.clientHeight);
  box.scrollLeft = Math.max(box.scrollLeft, td.offsetLeft + td.offsetWidth - box.clientWidth);
}
