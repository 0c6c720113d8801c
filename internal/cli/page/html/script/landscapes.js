// Several landscapes: what is the same in them and what is not, and the way to the page of each.

const isNamed = (name) => landscapes.some((l) => l.name === name);

// leave shows another landscape, or all side by side, if the address names it: the page is drawn anew. It returns whether it does.
function leave() {
  const name = landscapeOf();
  if (!landscapes.length || (isNamed(name) ? name : '') === (landscape ? landscape.name : '')) return false;
  scrollTo(0, 0);
  location.reload();
  return true;
}

const hashOf = (words) => `#${new URLSearchParams(words)}`;

// drawLandscapes draws the links to all landscapes, if there are several.
function drawLandscapes() {
  if (!landscapes.length) return;
  const link = (words, hash, isHere) => make('a', { href: hash, ...(isHere ? { 'aria-current': 'page' } : {}) }, words);
  document.querySelector('.top').after(make('nav', { className: 'landscapes', 'aria-label': 'Landscapes' },
    link('Side by side', '#landscapes', !landscape), ...landscapes.map((l) => link(l.name, hashOf({ landscape: l.name }), landscape === l))));
}

// figures are the rows of the overview: what they say, of which part of the page of a landscape, and whether that is bad.
const figures = [
  ['Worker pools without an image in their profile now', 'maintenance', (o) => (o.pools ? o.withoutMachines : null), 'bad'],
  ['Worker pools stuck at the next maintenance', 'maintenance', (o) => (o.pools ? o.stuck : null), 'bad'],
  ['Worker pools whose next maintenance fails', 'maintenance', (o) => (o.pools ? o.fails : null), 'bad'],
  ['Worker pools moved to what boots nothing', 'maintenance', (o) => (o.pools ? o.bootNothing : null), 'bad'],
  ['Worker pools forced to another version', 'maintenance', (o) => (o.pools ? o.forced : null), 'warn'],
  ['Worker pools updated', 'maintenance', (o) => (o.pools ? o.updated : null), ''],
  ['Image versions that expire within 30 days', 'matrix', (o) => o.expiring, 'warn'],
  ['Worker pools that use one of these', 'matrix', (o) => (o.pools ? o.expiringPools : null), 'warn'],
  ['Gaps in regions', 'matrix', (o) => o.gaps, 'warn'],
  ['Errors that lint finds', 'findings', (o) => o.errors, 'bad'],
  ['Warnings that lint finds', 'findings', (o) => o.warnings, 'warn'],
  ['Shoots of which the maintenance is not known', 'findings', (o) => o.unknownShoots, 'warn'],
  ['Worker pools', 'maintenance', (o) => o.pools, ''],
  ['Shoots', 'maintenance', (o) => o.shoots, ''],
  ['Profiles', 'matrix', (o) => o.profiles, ''],
];

// sideTable returns a table with a column for each of some landscapes, whose headings lead to their pages.
function sideTable(name, first, names, body) {
  const headings = [first, ...names.map((n) => make('a', { href: hashOf({ landscape: n }) }, n))];
  return make('div', { className: 'wide' }, make('table', { className: 'list side', 'aria-label': name },
    make('thead', {}, make('tr', {}, ...headings.map((h) => make('th', { scope: 'col' }, h)))), body));
}

// entryOf returns what something is in a landscape, as a cell of a table.
function entryOf(row, p, name) {
  const e = row.in[name];
  if (!e) return make('td', { 'data-in': name, className: 'absent' }, '\u2013 not there');
  const version = row.kind === 'image-version' ? row.name.slice(0, row.name.lastIndexOf('@')) : '';
  const words = { landscape: name, profile: p.profile, ...(version ? { image: version } : {}), part: 'matrix' };
  const says = e.classification || (row.kind === 'machine-type' || row.kind === 'capability' ? e.detail : '\u2713 there');
  const more = (kind, text) => make('span', { className: kind ? `also ${kind}` : 'also' }, text);
  const cell = make('td', { 'data-in': name }, version ? make('a', {
    href: hashOf(words), 'aria-label': `${says} in ${name}: ${row.name}`,
  }, says) : says);
  const isSoon = e.expires && e.classification !== 'expired' && e.expires <= data.soon;
  if (e.expires) cell.append(more(isSoon ? 'warn' : '', `${e.classification === 'expired' ? 'since' : 'expires'} ${e.expires}`));
  if (e.unusable) cell.append(more('', 'not usable for new worker pools'));
  if (e.gaps) cell.append(more('warn', `gap in ${e.gaps.join(', ')}`));
  if (e.pools) cell.append(more('', plural(e.pools, 'worker pool')));
  return cell;
}

const kindsOfRows = [['image-version', 'image version', 'Image versions'], ['kubernetes', 'Kubernetes version', 'Kubernetes versions'],
  ['machine-type', 'machine type', 'Machine types'], ['region', 'region', 'Regions'], ['capability', 'capability', 'Capabilities']];

// side is what is shown of the comparison.
const side = { same: false, find: '' };

// drawCompared draws what a profile has in several landscapes.
function drawCompared(p, box) {
  box.replaceChildren();
  if (p.landscapes.length < 2) {
    const [name] = p.landscapes;
    box.append(make('p', {}, 'Only ', make('a', { href: hashOf({ landscape: name, profile: p.profile, part: 'matrix' }) }, name), ' has a profile of this name.'));
    return;
  }
  const lacking = landscapes.filter((l) => !p.landscapes.includes(l.name)).map((l) => l.name);
  if (lacking.length) box.append(make('p', {}, `There is no profile of this name in ${lacking.join(', ')}.`));
  const equal = [];
  for (const [kind, noun, title] of kindsOfRows) {
    const all = p.rows.filter((row) => row.kind === kind), found = all.filter((row) => isPartOf(side.find, row.name));
    const rows = found.filter((row) => side.same || row.differs), same = all.filter((row) => !row.differs).length;
    if (!all.length) continue;
    if (!side.same && same === all.length) {
      equal.push(`${title} (${same})`);
      continue;
    }
    const differing = all.length - same;
    box.append(make('h4', {}, `${title}: ${differing} of ${all.length} ${differing === 1 ? 'differs' : 'differ'}`));
    if (!rows.length) continue;
    const drawn = (row) => make('tr', {}, make('th', { scope: 'row' }, row.name), ...p.landscapes.map((name) => entryOf(row, p, name)));
    const [body, ...rest] = fewOf(make('tbody', {}), rows, drawn, 'rows');
    box.append(sideTable(`${title} of ${p.profile}`, noun, p.landscapes, body), ...rest);
  }
  if (equal.length) box.append(make('p', { className: 'more' }, `The same in all: ${equal.join(', ')}.`));
}

// followSide takes over what the address says, and addressSide says it there.
function followSide() {
  const words = new URLSearchParams(location.hash.slice(1)), name = landscapeOf();
  side.same = words.get('same') === '1';
  side.find = words.get('find') || '';
  $('lost').textContent = name && !isNamed(name) ? `The link names a landscape that this report does not have: ${name}.` : '';
}
function addressSide() {
  const words = { ...(side.same ? { same: '1' } : {}), ...(side.find ? { find: side.find } : {}) };
  history.replaceState(null, '', Object.keys(words).length ? hashOf(words) : '#landscapes');
}

// drawSideBySide draws the page that has all landscapes, in the place of what is about one.
function drawSideBySide() {
  const names = landscapes.map((l) => l.name), figure = ([what, part, count, kind]) => make('tr', {}, make('th', { scope: 'row' }, what),
    ...landscapes.map((l) => {
      const n = count(l.overview);
      if (n === null) return make('td', { 'data-in': l.name, className: 'absent' }, '\u2013');
      const says = `${{ bad: '\u2715 ', warn: '! ' }[kind] || ''}${n}`;
      return make('td', { 'data-in': l.name }, n ? make('a', {
        className: kind, href: hashOf({ landscape: l.name, part }), 'aria-label': `${says} in ${l.name}: ${what}`,
      }, says) : '0');
    }));
  const find = make('input', { id: 'find', type: 'search', placeholder: 'part of a name', spellcheck: false });
  const same = make('input', { id: 'same', type: 'checkbox' });
  const boxes = data.compared.map((p, i) => [p, make('div', {}), `profile-${i}`]);
  document.title = 'Machine images of several landscapes';
  $('about').textContent = names.join(' \u00b7 ');
  document.querySelector('.top nav').replaceChildren(make('a', { href: '#overview' }, 'Overview'), ' ', make('a', { href: '#comparison' }, 'Comparison'));
  document.querySelector('main').replaceChildren(
    make('section', { id: 'overview', 'aria-labelledby': 'overview-title' },
      make('p', { id: 'maker' }, `Made by capkit report, version ${data.version}, on ${data.date}, of `,
        landscapes.map((l) => `${l.name} (${l.source})`).join(', '), '.'),
      make('p', { id: 'only' }, onlyFor(data.filter)), make('p', { id: 'lost', className: 'bad', role: 'alert' }),
      make('h2', { id: 'overview-title' }, 'Overview'),
      sideTable('Overview of all landscapes', 'how many', names, make('tbody', {}, ...figures.map(figure)))),
    make('section', { id: 'comparison', 'aria-labelledby': 'comparison-title' },
      make('h2', { id: 'comparison-title' }, 'Comparison'),
      make('form', { id: 'filters', role: 'search' }, make('label', {}, 'Find by name', find),
        make('label', { className: 'check' }, same, ' also what is the same in all')),
      ...boxes.map(([p, box, id]) => make('section', { id, 'aria-labelledby': `${id}-title` },
        make('h3', { id: `${id}-title` }, `Profile ${p.profile}`), box))));
  const draw = () => boxes.forEach(([p, box]) => drawCompared(p, box));
  const show = () => {
    followSide();
    find.value = side.find;
    same.checked = side.same;
    draw();
  };
  show();
  $('filters').addEventListener('submit', (event) => event.preventDefault());
  $('filters').addEventListener('input', () => {
    Object.assign(side, { same: same.checked, find: find.value.trim() });
    draw();
    addressSide();
  });
  window.addEventListener('hashchange', () => {
    if (!leave() && !document.getElementById(location.hash.slice(1))) show();
  });
}
