// The overview: what an operator asks first, and what somebody looks for.

// fact returns a line of the overview. kind is bad, warn or good.
const fact = (kind, ...children) => make('li', { className: kind }, make('b', { 'aria-hidden': 'true' },
  { bad: '\u2715', warn: '!', good: '\u2713' }[kind]), ' ', make('div', {}, ...children));
const to = (hash, words) => make('a', { href: hash }, words);

// placeOf says where worker pools are, with a link to the cell.
const placeOf = (e) => make('li', {}, ...nameList(e), ': ', cellLink(e, `${e.image}@${e.from} on ${e.machineType} in ${e.region}`),
  ...(e.asks && e.asks.length ? [`, ${asksFor(e.asks)}`] : []));

// mostListed is how many entries a list of the overview has at first.
const mostListed = 10;

function withoutMachines() {
  const entries = foundOf(data.maintenance).filter(lacksImage), all = countOf(allPools.filter(lacksImage));
  if (!all) return fact('good', 'No worker pool is without an image in its profile now.');
  const head = [to('#maintenance', `${plural(all, 'worker pool')} ${all === 1 ? 'has no image in its' : 'have no image in their'} profile now`),
    ': pools that run go on with theirs, and new ones are refused.'];
  return fact('bad', ...head, ...fewOf(make('ul', {}), entries, placeOf, 'entries', mostListed));
}

function nextMaintenance() {
  const count = (action) => countOf(allPools.filter((e) => e.action === action));
  const breaking = countOf(allPools.filter((e) => e.breaks)), fails = count('fails'), stuck = count('stuck'), forced = count('forced');
  const said = [...(fails ? [`${fails} in Shoots whose maintenance fails`] : []), `${stuck} stuck`, `${forced} forced`, `${count('updated')} updated`];
  return fact(fails + stuck + breaking ? 'bad' : forced ? 'warn' : 'good', to('#maintenance', `Worker pools at the next maintenance: ${said.join(', ')}`),
    breaking ? `; ${breaking} moved to what boots nothing.` : '.');
}

// expiring returns the image versions that expire soon, each once, with how many worker pools use them: those that are used come first.
function expiring() {
  const found = new Map(), used = new Map();
  for (const e of allPools) used.set(`${e.profile}\n${e.image}@${e.from}`, (used.get(`${e.profile}\n${e.image}@${e.from}`) || 0) + e.count);
  for (const p of data.profiles) {
    for (const v of p.versions) {
      if (!v.expires || v.state === 'expired' || v.expires > data.soon) continue;
      const key = `${fullName(v)}\n${v.expires}`;
      const one = found.get(key) || { name: fullName(v), expires: v.expires, profile: p.name, count: 0 };
      one.count += used.get(`${p.name}\n${fullName(v)}`) || 0;
      found.set(key, one);
    }
  }
  return [...found.values()].sort((a, b) => Number(b.count > 0) - Number(a.count > 0) || (a.expires < b.expires ? -1 : a.expires > b.expires ? 1 : 0));
}

function soonExpired() {
  const versions = expiring(), count = countOf(versions);
  if (!versions.length) return fact('good', 'No image version expires within 30 days.');
  const drawn = (v) => make('li', {}, `${v.name} on ${v.expires}: ${v.count ? plural(v.count, 'worker pool') : 'not used'}`);
  return fact(count ? 'warn' : 'good', toMatrix({ expiring: '1' }, versions[0].profile,
    `${plural(versions.length, 'image version')} expire${versions.length === 1 ? 's' : ''} within 30 days`),
  data.shoots ? `, used by ${plural(count, 'worker pool')}.` : '.', ...fewOf(make('ul', {}), versions, drawn, 'versions', mostListed / 2));
}

// gaps returns the image versions and regions without an image that would fit, each once; and the first profile with one.
function gaps() {
  const found = new Set();
  let first = '';
  for (const p of data.profiles) {
    p.versions.forEach((v, version) => p.groups.forEach((_, group) => gapsOf(p, group, version, 0).forEach((region) => {
      first = first || p.name;
      found.add(`${fullName(v)} in ${p.regions[region]}`);
    })));
  }
  return { count: found.size, first };
}
const known = gaps();

function regionGaps() {
  if (!known.count) return fact('good', 'No gap: each image version has an image in each region.');
  return fact('warn', toMatrix({ gaps: '1' }, known.first, `${plural(known.count, 'gap')} in regions`),
    ', where an image version has no image.');
}

// toMatrix returns a link that filters the matrix of a profile.
function toMatrix(words, name, text) {
  const link = to(`#${new URLSearchParams({ ...here, ...(data.profiles.length > 1 ? { profile: name } : {}), ...words })}`, text);
  link.onclick = () => setTimeout(() => $('matrix').scrollIntoView());
  return link;
}

function drawOverview() {
  const pools = data.shoots ? [withoutMachines(), nextMaintenance()] : [];
  const unknown = data.unknown ? [fact('warn', to('#findings', `It is not known for ${data.unknown} of ${plural(data.shoots, 'Shoot')} what maintenance does`), '.')] : [];
  const isWrong = $('count-findings').className === 'bad', isFine = !$('count-findings').textContent;
  const profiles = data.profiles.length ? [soonExpired(), regionGaps()] : [];
  $('facts').replaceChildren(...pools, ...unknown, ...profiles,
    fact(isWrong ? 'bad' : isFine ? 'good' : 'warn', to('#findings', 'What lint finds'), `: ${data.summary}.`));
  drawHits();
}

// drawHits says how much is left of the lists for what somebody looks for.
function drawHits() {
  if (!state.find) return $('hits').replaceChildren();
  const pools = countOf(foundOf(data.maintenance)), findings = data.findings.filter(isFound).length;
  const unnamed = countOf(allPools) - data.maintenance.reduce((n, e) => n + e.names.length, 0);
  $('hits').replaceChildren(`"${state.find}": `, to('#maintenance', plural(pools, 'worker pool')), ', ', to('#findings', plural(findings, 'finding')),
    unnamed ? `. The page does not name ${plural(unnamed, 'other worker pool')}: capkit maintenance does.` : '.');
}
