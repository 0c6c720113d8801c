// What is said of the cell that is open.

function drawWhy() {
  const why = $('why'), p = profile(), open = state.open;
  why.hidden = !open;
  why.replaceChildren();
  if (!open) return;
  const v = p.versions[open.version], types = p.groups[open.group].types, request = p.requests[state.request];
  const flavor = chosen(open.group, open.version, open.region), fit = fits(p, open.group, open.version, state.request);
  const boots = flavor < 0 ? '' : v.flavors[flavor].references[open.region];
  const kind = boots ? 'yes' : failing(open.group, open.version).includes(open.region) ? 'no' : fit ? 'part' : 'other';
  const close = make('button', { type: 'button', id: 'close', title: 'Close (Esc)', 'aria-label': 'Close' }, '\u2715');
  close.onclick = () => show(null);
  const type = make('select', { id: 'type', 'aria-label': 'Machine type' }, ...types.map((t, i) => make('option', { value: i }, t)));
  type.value = open.type;
  type.onchange = () => show({ ...open, type: Number(type.value) }, 'type');
  const regions = p.regions.map((region, i) => {
    const isBooting = chosen(open.group, open.version, i) >= 0;
    const button = make('button', { type: 'button', 'aria-pressed': String(i === open.region), 'data-region': region },
      `${isBooting ? '\u2713' : fit ? '\u2715' : '\u2013'} ${region}`);
    button.onclick = () => show({ ...open, region: i }, `[data-region="${CSS.escape(region)}"]`);
    return button;
  });
  why.append(
    make('h3', { tabIndex: -1, 'aria-describedby': 'answer' }, make('span', {}, fullName(v)), close),
    make('p', { className: 'where' }, 'on ', types.length > 1 ? type : make('b', {}, types[0]), ' in ', ...regions),
    make('div', { className: 'answering' }, make('p', { id: 'answer', className: `answer ${kind}` }, boots ? `\u2713 boots ${boots}` :
      fit ? '\u2715 no image' : '\u2013 no image: no flavor fits'), ...(boots ? [copying(boots)] : [])));
  if (p.groups[open.group].unusable.includes(types[open.type])) {
    why.append(make('p', { className: 'note' }, 'New worker pools cannot have this machine type: it is not usable.'));
  }
  const lacking = lackingIn(p, open.region, types[open.type]);
  if (lacking) why.append(make('p', { className: 'note' }, `New worker pools cannot have this machine type in ${lacking} of ${p.regions[open.region]}.`));
  const { here, elsewhere } = used(open.group, open.version);
  const listPools = (title, pools, drawn) => {
    const those = pools.filter((x) => x.region === p.regions[open.region] && x.machineType === types[open.type]);
    if (those.length) why.append(make('h4', {}, title), ...fewOf(make('ul', {}), those, drawn, 'entries'));
  };
  listPools('Worker pools here, and what their next maintenance does', here,
    (e) => make('li', {}, `${namesOf(e)}: `, make('b', { className: marks[e.action][1] }, does(e)), because(e)));
  listPools('Worker pools here that ask for something else', elsewhere,
    (e) => make('li', {}, `${namesOf(e)}: `, e.view < 0 ? answerTo(e) : cellLink(e, answerTo(e))));
  const flags = [`--image ${quoted(v.image)}`, `--version ${quoted(v.name)}`, `--machine-type ${quoted(types[open.type])}`,
    `--region ${quoted(p.regions[open.region])}`, request.flag, p.byFlag ? `--order ${p.order}` : '',
    ...p.inputs.map(quoted)].filter(Boolean);
  why.append(make('pre', { id: 'text', tabIndex: 0 }, ...linesOf(explain(open.group, open.type, open.version, open.region))),
    make('h4', {}, 'The same on the command line'), make('code', { id: 'command' }, `capkit explain ${flags.join(' ')}`));
  if (request.config) why.append(make('h4', {}, 'with this in workerconfig.yaml'), make('pre', { id: 'config', tabIndex: 0 }, request.config));
}

// copying returns a button that copies what a reference has behind its kind.
function copying(reference) {
  const [, id] = reference.match(/^\S+ (\S+)$/) || [], name = id ? 'Copy ID' : 'Copy what boots';
  const button = make('button', { type: 'button', id: 'copy', className: 'screen' }, name);
  button.onclick = async () => {
    button.textContent = await copy(id || reference) ? 'Copied' : 'The browser does not let the page copy';
    setTimeout(() => { button.textContent = name; }, 2000);
  };
  return button;
}

// copy copies a text, and returns whether that was possible.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { // an older browser, or one that does not trust files
    const field = document.body.appendChild(make('textarea', { value: text, 'aria-label': 'Text to copy' })), back = document.activeElement;
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    back.focus({ preventScroll: true });
    return done;
  }
}

// cellsOf returns the cells of a line of a table, with the spaces behind them.
const cellsOf = (line) => line.match(/\s*\S+(?: \S+)*\s*/g).map((text) => make('span', {}, text));

// linesOf returns the lines of a text, of which what is wrapped is indented further than its beginning.
function linesOf(explanation) {
  let table = false;
  return explanation.trimEnd().split('\n').map((words) => {
    const line = make('span', {}, `${words}\n`), indent = words.length - words.trimStart().length + 4;
    table = words === 'Most important capability and best value first:' || (table && words !== '');
    const columns = table ? cellsOf(`${words}\n`) : [];
    if (columns.length > 1) {
      line.className = 'table';
      line.replaceChildren(...columns);
    } else if (words) Object.assign(line.style, { paddingLeft: `${indent}ch`, textIndent: `-${indent}ch` });
    return line;
  });
}
const quoted = (word) => (/^[\w@%+=:,.\/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

// show opens a cell, or closes the one that is open. focus says what has the focus then.
function show(open, focus) {
  const before = state.open;
  state.open = open;
  drawWhy();
  const td = mark();
  address(true);
  if (!open && before) {
    const back = cells.flat().find((c) => c.about.group === before.group && c.about.version === before.version);
    if (back) {
      reach(back);
      back.focus();
    }
  } else if (open) {
    if (td) td.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    if (!focus) reveal();
    const target = focus && (focus.startsWith('[') ? $('why').querySelector(focus) : $(focus));
    (target || $('why').querySelector('h3')).focus({ preventScroll: !focus });
  }
}

// reveal brings what is said of a cell into view: it is below the matrix on a narrow screen, and above the lists that link to it.
function reveal() {
  const { top } = $('why').getBoundingClientRect();
  if (top < 0 || top > innerHeight * 0.7) $('why').scrollIntoView();
}

// regionToOpen returns the index of the region of a cell to show first: one that fails, if there is any; of these, and of all, the one
// that is open.
function regionToOpen(group, version) {
  const lost = failing(group, version), gaps = lost.length ? lost : gapsOf(profile(), group, version, state.request);
  const last = state.open ? state.open.region : 0;
  return !gaps.length || gaps.includes(last) ? last : gaps[0];
}

function openCell(td) {
  const { group, version } = td.about, p = profile();
  const types = p.groups[group].types;
  let region = p.regions.indexOf(state.region);
  if (region < 0) region = regionToOpen(group, version);
  show({ group, version, region, type: Math.max(0, types.findIndex(isWanted)) });
}
