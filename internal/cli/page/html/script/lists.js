// The lists below the matrix: maintenance, its calendar, findings, machine types; and the notes above.

// What maintenance does to worker pools, in words.
const marks = { stays: ['\u2013', ''], updated: ['\u2191', 'good'], forced: ['!', 'warn'], stuck: ['\u2715', 'bad'], fails: ['\u2715', 'bad'] };
const mostNamed = 20;
function namesOf(e) {
  if (!e.names.length) return `${plural(e.count, 'worker pool')} that the page does not name`;
  const names = e.names.slice(0, mostNamed);
  return names.join('; ') + (e.count > names.length ? `, and ${e.count - names.length} more` : '');
}

// unbroken returns elements for words, in none of which a line ends unless it is longer than the line: names have hyphens.
const unbroken = (words) => words.flatMap((word, i) => [...(i ? [' '] : []), make('span', { className: 'name' }, word)]);

// nameList is namesOf with names that stay in one piece.
function nameList(e) {
  const names = e.names.slice(0, mostNamed);
  if (!names.length) return [namesOf(e)];
  const rest = e.count > names.length ? [`, and ${e.count - names.length} more`] : [];
  return [...unbroken(names.map((name, i) => (i < names.length - 1 ? `${name};` : name))), ...rest];
}

// lacksImage reports whether the profile has no image for worker pools now, and isBad whether it has none or will have none.
const lacksImage = (e) => Boolean(e.asks) && !e.boots;
const isBad = (e) => lacksImage(e) || Boolean(e.breaks) || marks[e.action][1] === 'bad';

// foundOf returns what is left of entries for what somebody looks for: the pools with such a name. All, for nothing.
function foundOf(entries) {
  if (!state.find) return entries;
  return entries.map((e) => ({ ...e, names: e.names.filter((name) => isPartOf(state.find, name)) }))
    .map((e) => ({ ...e, count: e.names.length })).filter((e) => e.count);
}
const countOf = (entries) => entries.reduce((n, e) => n + e.count, 0);
const does = (e) => (e.to === e.from ? e.action : `${e.action} to ${e.to}`);
const because = (e) => [e.reason, e.core ? `Gardener alone would choose ${e.core}` : ''].filter(Boolean).map((why) => `; ${why}`).join('');

// fewOf returns a list to which the first entries are added and, if there are more, what says so and adds the rest: there may
// be thousands.
const few = 100;
function fewOf(list, entries, drawn, noun, most = few) {
  list.append(...entries.slice(0, most).map(drawn));
  if (entries.length <= most) return [list];
  const all = make('button', { type: 'button', className: 'screen' }, `Show all ${entries.length}`);
  const note = make('p', { className: 'more' }, `These are the first ${most} of ${entries.length} ${noun}. `, all);
  all.onclick = () => {
    list.append(...entries.slice(most).map(drawn));
    note.remove();
    Object.assign(list.children[most], { tabIndex: -1 }).focus();
  };
  return [list, note];
}

// folded returns what is folded, with what it says of itself. It is drawn once it is looked at: there may be thousands. isOpen says
// whether that is at once, and isPrinted whether it is on paper.
function folded(summary, draw, isOpen, isPrinted) {
  const details = make('details', {}, summary);
  const fill = () => {
    if (details.children.length === 1) details.append(...draw());
  };
  details.addEventListener('toggle', fill);
  details.printed = () => {
    if (!isPrinted) return;
    fill();
    details.open = true;
  };
  if (isOpen) {
    fill();
    details.open = true;
  }
  return details;
}
window.addEventListener('beforeprint', () => document.querySelectorAll('details').forEach((d) => d.printed && d.printed()));

// table returns a table with a body, whose columns have these headings.
function table(name, headings, body) {
  return make('div', { className: 'wide' }, make('table', { className: 'list', 'aria-label': name },
    make('thead', {}, make('tr', {}, ...headings.map((h) => make('th', { scope: 'col' }, h)))), body));
}

// rowOf returns the row of a table about worker pools to which maintenance does the same, with the reason if the others have others.
function rowOf(e, isAlone) {
  const asks = e.asks && e.asks.length ? make('span', { className: 'asks' }, `, ${asksFor(e.asks)}`) : '';
  const place = make('span', {}, ...unbroken([e.machineType, 'in', e.region]));
  return make('tr', {}, make('td', {}, ...nameList(e)), make('td', {}, cellLink(e, place), asks),
    ...(isAlone ? [make('td', {}, because(e).slice(2))] : []));
}

// changeOf says what happens to which version.
const changeOf = (e) => `${e.image} ${e.to === e.from ? e.from : `${e.from} \u2192 ${e.to}`}`;

// headOf returns what stands above worker pools to which the same happens, with the reason if all have the same.
function headOf(e, count, names = [], why = because(e).slice(2)) {
  const [symbol, kind] = isBad(e) ? ['\u2715', 'bad'] : marks[e.action];
  const what = e.action + (lacksImage(e) ? ', no new machines' : e.breaks ? ', boots nothing then' : '');
  const noun = e.image === 'Kubernetes' ? plural(count, 'version') : plural(count, 'worker pool');
  return [make('b', { className: kind }, `${symbol} ${what}`), ' ', make('span', { className: 'name' }, changeOf(e)), `: ${noun}`,
    ...(names.length ? [': ', ...names] : []),
    ...(why ? [make('span', { className: 'reason' }, why)] : [])];
}

// grouped returns entries to which the same happens together, in their order; and of what is equally bad the most frequent first.
function grouped(entries) {
  const groups = new Map();
  for (const e of entries) {
    const key = JSON.stringify([lacksImage(e), e.breaks, e.action, e.image, e.from, e.to]);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(e);
  }
  const order = ['fails', 'stuck', 'forced', 'updated', 'stays'];
  const rank = ([e]) => (lacksImage(e) ? 0 : e.breaks ? 10 : 20) + order.indexOf(e.action);
  return [...groups.values()].sort((a, b) => rank(a) - rank(b) || countOf(b) - countOf(a));
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
  const hash = new URLSearchParams({ ...here, ...(data.profiles.length > 1 ? { profile: p.name } : {}) });
  if (e.view > 0) hash.set('asks', p.requests[e.view].label);
  hash.set('version', `${e.image}@${e.from}`);
  hash.set('on', e.machineType);
  hash.set('in', e.region);
  if (state.find) hash.set('find', state.find);
  return make('a', { href: `#${hash}` }, words);
}

function drawMaintenance() {
  const box = $('pools'), entries = foundOf(data.maintenance);
  box.replaceChildren();
  const changing = allPools.reduce((n, e) => n + (e.action === 'stays' ? 0 : e.count), 0);
  $('count-maintenance').className = allPools.some(isBad) ? 'bad' : '';
  $('count-maintenance').textContent = changing || '';
  $('count-maintenance').title = `${plural(changing, 'worker pool')} not left alone`;
  if (!data.shoots) {
    box.append(make('p', { className: 'empty' }, data.filter ? `No worker pool matches ${data.filter}.` :
      'There are no Shoots among the inputs: give their manifests as well, or read a cluster with -A.'));
    return;
  }
  if (data.unknown) box.append(make('p', {}, `It is not known for ${data.unknown} of ${plural(data.shoots, 'Shoot')}: what lint finds says why.`));
  const groups = grouped(entries), isShort = entries.length <= few;
  const drawn = (group) => {
    const [first] = group, why = because(first), isSame = group.every((e) => because(e) === why);
    const columns = ['worker pool', 'machine type', ...(isSame ? [] : ['why'])];
    const rows = () => {
      const [body, ...rest] = fewOf(make('tbody', {}), group, (e) => rowOf(e, !isSame), 'entries');
      return [table(`${first.action}: ${changeOf(first)}`, columns, body), ...rest];
    };
    const head = headOf(first, countOf(group), [], isSame ? why.slice(2) : '');
    return folded(make('summary', {}, ...head), rows, isShort && (isBad(first) || groups.length <= 10 || Boolean(state.find)),
      isShort || isBad(first));
  };
  box.append(...fewOf(make('div', {}), groups, drawn, 'changes, the worst first'));
  if (state.find && !entries.length) box.append(make('p', {}, 'No worker pool that the page names has that in its name.'));
  const kubernetes = data.kubernetes.filter((line) => !state.find || isPartOf(state.find, line));
  if (kubernetes.length) {
    box.append(make('h3', {}, 'Kubernetes'), make('ul', {}, ...kubernetes.map((line) => make('li', {}, line))));
  }
}

// drawCalendar draws the days on which maintenance does something.
function drawCalendar() {
  const days = data.calendar.map(({ date, events }) => ({ date, events: foundOf(events) })).filter(({ events }) => events.length);
  const total = days.reduce((n, { events }) => n + events.length, 0);
  $('calendar').hidden = !data.shoots;
  $('days').replaceChildren(make('p', { className: 'lead' }, days.length ?
    `Each day up to ${data.until} on which something happens, by the versions that the days before it have left.` :
    `Until ${data.until} nothing happens${state.find ? ' to these' : ''}.`));
  const drawn = ({ date, events }) => {
    const counts = new Map();
    for (const e of events) {
      const what = (e.image === 'Kubernetes' ? 'Kubernetes ' : '') + e.action + (e.breaks ? ' and boots nothing then' : '');
      counts.set(what, (counts.get(what) || 0) + e.count);
    }
    const said = [...counts].map(([what, n]) => `${n} ${what}`).join(', '), worst = events.some(isBad) ? 'bad' : '';
    const list = () => fewOf(make('ul', {}), events, (e) => make('li', {}, ...headOf(e, e.count, nameList(e))), 'entries, the worst first');
    return folded(make('summary', {}, make('b', {}, date), ' ', make('span', { className: worst }, said)), list,
      total <= few && (worst !== '' || days.length <= 3 || Boolean(state.find)), total <= few || worst !== '');
  };
  $('days').append(...fewOf(make('div', {}), days, drawn, 'days'));
}

// findingOf returns a finding as an entry of a list.
function findingOf(f) {
  const name = [f.object.kind, [f.object.namespace, f.object.name].filter(Boolean).join('/')].filter(Boolean).join(' ');
  const place = f.line ? `${f.file}:${f.line}:${f.column}` : f.file;
  const reasons = (f.suppressions || []).map((x) => x.justification || 'by a flag');
  return make('li', {}, f.message, make('span', {}, [place, name, f.field, ...reasons].filter(Boolean).join(' \u00b7 ')));
}

// isFound reports whether a finding is about what somebody looks for.
const isFound = (f) => !state.find || isPartOf(state.find, [f.object.namespace, f.object.name].filter(Boolean).join('/') + ` ${f.message} ${f.field} ${f.file}`);

function drawFindings() {
  // The kinds of findings, the worst first: a class, a symbol and a word.
  const kinds = [['bad', '\u2715', 'error'], ['warn', '\u26a0', 'warning'], ['', '\u25e6', 'silenced']];
  const kindOf = (f) => (f.suppressions ? 2 : f.severity === 'error' ? 0 : 1);
  const wordOf = (f) => kinds[kindOf(f)][2], all = data.findings.filter(isFound);
  const byRule = (findings) => {
    const rules = new Map();
    for (const f of findings) {
      const key = `${wordOf(f)} ${f.rule}`;
      if (!rules.has(key)) rules.set(key, []);
      rules.get(key).push(f);
    }
    return [...rules];
  };
  // Of very many findings the page has some of each rule, and how many there are.
  const total = ([key, list]) => data.totals[key] || list.length;
  const counting = byRule(data.findings).filter(([, list]) => kindOf(list[0]) < 2);
  $('count-findings').className = counting.some(([, list]) => kindOf(list[0]) === 0) ? 'bad' : '';
  $('count-findings').textContent = counting.reduce((n, entry) => n + total(entry), 0) || '';
  const explained = 'capkit explain-rule RULE says what a rule demands, and how to repair what breaks it.';
  $('found').replaceChildren(make('p', {}, `${data.summary}.${data.findings.length ? ` ${explained}` : ''}`));
  for (const [key, list] of byRule(all).sort(([, a], [, b]) => kindOf(a[0]) - kindOf(b[0]))) {
    const [kind, symbol, word] = kinds[kindOf(list[0])], count = state.find ? list.length : total([key, list]), isShort = all.length <= few;
    const summary = make('summary', {}, make('b', { className: kind }, `${symbol} ${word}`), make('code', {}, list[0].rule),
      plural(count, 'finding') + (count > list.length ? `, of which ${list.length} are here` : ''));
    $('found').append(folded(summary, () => fewOf(make('ul', {}), list, findingOf, 'findings'),
      isShort && (kind === 'bad' || all.length <= 10), isShort || kind === 'bad'));
  }
}

// remarks says where new worker pools cannot have a machine type.
function remarks(p, g, type) {
  const all = g.unusable.includes(type) ? ['not usable'] : [];
  p.regions.forEach((region, i) => {
    const lacking = lackingIn(p, i, type);
    if (lacking) all.push(`not in ${lacking} of ${region}`);
  });
  return all.length ? ` (${all.join('; ')})` : '';
}

function drawGroups() {
  const p = profile();
  if (!p || !p.groups.length) {
    $('groups').replaceChildren(make('p', { className: 'empty' }, 'There are no machine types.'));
    return;
  }
  const rows = p.groups.map((g) => make('tr', {}, make('td', {}, make('code', {}, g.types.map(
    (t) => t + remarks(p, g, t)).join(', '))), make('td', {}, make('code', {}, g.capabilities))));
  $('groups').replaceChildren(table('Machine types', ['machine types', 'support'], make('tbody', {}, ...rows)));
}

// drawNotes folds the notes if they would fill the screen.
function drawNotes() {
  const list = make('ul', {}, ...data.notes.map((note) => make('li', {}, note)));
  if (data.notes.length <= 3) return $('notes').append(list);
  const details = $('notes').appendChild(make('details', {}, make('summary', {}, plural(data.notes.length, 'note')), list));
  details.printed = () => { details.open = true; };
}

// drawLists draws what follows from what somebody looks for.
function drawLists() {
  drawMaintenance();
  drawCalendar();
  drawFindings();
  drawOverview();
}
