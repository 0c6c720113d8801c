// The lists below the matrix: maintenance, findings, machine types; and the notes above.

// What maintenance does to worker pools, in words.
const marks = { stays: ['\u2013', ''], updated: ['\u2191', 'good'], forced: ['!', 'warn'], stuck: ['\u2715', 'bad'], fails: ['\u2715', 'bad'] };
function namesOf(e) {
  if (!e.names.length) return `${plural(e.count, 'worker pool')} that the page does not name`;
  return e.names.join('; ') + (e.count > e.names.length ? `, and ${e.count - e.names.length} more` : '');
}
const does = (e) => (e.to === e.from ? e.action : `${e.action} to ${e.to}`);
const because = (e) => [e.reason, e.core ? `Gardener alone would choose ${e.core}` : ''].filter(Boolean).map((why) => `; ${why}`).join('');

// fewOf returns a list to which the first entries are added and, if there are more, what says so and adds the rest: there may
// be thousands.
const few = 100;
function fewOf(list, entries, drawn, noun) {
  list.append(...entries.slice(0, few).map(drawn));
  if (entries.length <= few) return [list];
  const all = make('button', { type: 'button', className: 'screen' }, `Show all ${entries.length}`);
  const note = make('p', { className: 'more' }, `These are the first ${few} of ${entries.length} ${noun}. `, all);
  all.onclick = () => {
    list.append(...entries.slice(few).map(drawn));
    note.remove();
    Object.assign(list.children[few], { tabIndex: -1 }).focus();
  };
  return [list, note];
}

// table returns a table with a body, whose columns have these headings.
function table(name, headings, body) {
  return make('div', { className: 'wide' }, make('table', { className: 'list', 'aria-label': name },
    make('thead', {}, make('tr', {}, ...headings.map((h) => make('th', { scope: 'col' }, h)))), body));
}

// rowOf returns the row of a table about what maintenance does to worker pools.
function rowOf(e) {
  const [symbol, kind] = marks[e.action], version = e.to === e.from ? e.from : `${e.from} \u2192 ${e.to}`;
  const asks = e.asks && e.asks.length ? make('span', { className: 'asks' }, `, ${asksFor(e.asks)}`) : '';
  return make('tr', {}, make('td', { className: `mark ${kind}` }, `${symbol} ${e.action}`), make('td', {}, namesOf(e)),
    make('td', {}, cellLink(e, `${e.image}@${version}`)), make('td', {}, `${e.machineType} in ${e.region}`, asks),
    make('td', {}, because(e).slice(2)));
}

// asksFor says what worker pools ask for, and answerTo what they boot then.
const asksFor = (asks) => `asks for ${asks.join(', ') || 'nothing special'}`;
const answerTo = (e) => (e.asks ? `${asksFor(e.asks)}, boots ${e.boots || 'nothing'}` :
  'it is not known what it asks for, since its providerConfig cannot be read');

// cellLink returns a link to the cell of worker pools, if the report has it, with what they ask for.
function cellLink(e, words) {
  const p = profileOf.get(e.profile);
  const there = p && p.regions.includes(e.region) && p.groups.some((g) => g.types.includes(e.machineType)) &&
    p.versions.some((v) => v.image === e.image && v.name === e.from);
  if (!there) return words;
  const hash = new URLSearchParams(data.profiles.length > 1 ? { profile: p.name } : {});
  if (e.view > 0) hash.set('asks', p.requests[e.view].label);
  hash.set('version', `${e.image}@${e.from}`);
  hash.set('on', e.machineType);
  hash.set('in', e.region);
  return make('a', { href: `#${hash}` }, words);
}

function drawMaintenance() {
  const box = $('pools'), entries = data.maintenance; // the worst come first
  const changing = allPools.reduce((n, e) => n + (e.action === 'stays' ? 0 : e.count), 0);
  $('count-maintenance').className = allPools.some((e) => marks[e.action][1] === 'bad') ? 'bad' : '';
  $('count-maintenance').textContent = changing || '';
  $('count-maintenance').title = `${plural(changing, 'worker pool')} not left alone`;
  if (!data.shoots) {
    box.append(make('p', { className: 'empty' }, 'There are no Shoots among the inputs: give their manifests as well, or read a cluster with -A.'));
    return;
  }
  if (data.unknown) box.append(make('p', {}, `It is not known for ${data.unknown} of ${plural(data.shoots, 'Shoot')}: what lint finds says why.`));
  if (entries.length) {
    const [body, ...rest] = fewOf(make('tbody', {}), entries, rowOf, 'entries, the worst first');
    box.append(table('What the next maintenance does', ['action', 'worker pool', 'version', 'machine type', 'why'], body), ...rest);
  }
  if (data.kubernetes.length) {
    box.append(make('h3', {}, 'Kubernetes'), make('ul', {}, ...data.kubernetes.map((line) => make('li', {}, line))));
  }
}

// findingOf returns a finding as an entry of a list.
function findingOf(f) {
  const name = [f.object.kind, [f.object.namespace, f.object.name].filter(Boolean).join('/')].filter(Boolean).join(' ');
  const place = f.line ? `${f.file}:${f.line}:${f.column}` : f.file;
  const reasons = (f.suppressions || []).map((x) => x.justification || 'by a flag');
  return make('li', {}, f.message, make('span', {}, [place, name, f.field, ...reasons].filter(Boolean).join(' \u00b7 ')));
}

function drawFindings() {
  // The kinds of findings, the worst first: a class, a symbol and a word.
  const kinds = [['bad', '\u2715', 'error'], ['warn', '\u26a0', 'warning'], ['', '\u25e6', 'silenced']];
  const kindOf = (f) => (f.suppressions ? 2 : f.severity === 'error' ? 0 : 1);
  const wordOf = (f) => kinds[kindOf(f)][2], rules = new Map();
  for (const f of data.findings) {
    const key = `${wordOf(f)} ${f.rule}`;
    if (!rules.has(key)) rules.set(key, []);
    rules.get(key).push(f);
  }
  // Of very many findings the page has some of each rule, and how many there are.
  const total = ([key, list]) => data.totals[key] || list.length;
  const counting = [...rules].filter(([, list]) => kindOf(list[0]) < 2);
  $('count-findings').className = counting.some(([, list]) => kindOf(list[0]) === 0) ? 'bad' : '';
  $('count-findings').textContent = counting.reduce((n, entry) => n + total(entry), 0) || '';
  const explained = 'capkit explain-rule RULE says what a rule demands, and how to repair what breaks it.';
  $('found').append(make('p', {}, `${data.summary}.${data.findings.length ? ` ${explained}` : ''}`));
  for (const [key, list] of [...rules].sort(([, a], [, b]) => kindOf(a[0]) - kindOf(b[0]))) {
    const [kind, symbol, word] = kinds[kindOf(list[0])], all = total([key, list]);
    const details = make('details', {}, make('summary', {}, make('b', { className: kind }, `${symbol} ${word}`),
      make('code', {}, list[0].rule), plural(all, 'finding') + (all > list.length ? `, of which ${list.length} are here` : '')));
    // What is folded is drawn once it is looked at: there may be thousands.
    const fill = () => {
      if (details.children.length === 1) details.append(...fewOf(make('ul', {}), list, findingOf, 'findings'));
    };
    details.addEventListener('toggle', fill);
    const isShort = data.findings.length <= few;
    if (isShort || kind === 'bad') window.addEventListener('beforeprint', () => { fill(); details.open = true; });
    if (isShort) {
      fill();
      details.open = kind === 'bad' || data.findings.length <= 10;
    }
    $('found').append(details);
  }
}

function drawGroups() {
  const p = profile();
  if (!p || !p.groups.length) {
    $('groups').replaceChildren(make('p', { className: 'empty' }, 'There are no machine types.'));
    return;
  }
  const rows = p.groups.map((g) => make('tr', {}, make('td', {}, make('code', {}, g.types.map(
    (t) => (g.unusable.includes(t) ? `${t} (not usable)` : t)).join(', '))), make('td', {}, make('code', {}, g.capabilities))));
  $('groups').replaceChildren(table('Machine types', ['machine types', 'support'], make('tbody', {}, ...rows)));
}

// drawNotes folds the notes if they would fill the screen.
function drawNotes() {
  const list = make('ul', {}, ...data.notes.map((note) => make('li', {}, note)));
  if (data.notes.length <= 3) return $('notes').append(list);
  const details = $('notes').appendChild(make('details', {}, make('summary', {}, plural(data.notes.length, 'note')), list));
  window.addEventListener('beforeprint', () => { details.open = true; });
}
