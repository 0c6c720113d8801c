// What is shown of the data, and the answers: what boots, and the text of the command explain.

// State: what is shown. Everything else follows from it, and the address has it.
const state = { profile: 0, image: '', region: '', request: 0, search: '', gaps: false, expiring: false, find: '', open: null };
const profile = () => data.profiles[state.profile];
const answers = (group, request = state.request) => profile().requests[request].answers[group];
const fullName = (v) => `${v.image}@${v.name}`;

// chosen returns the index of the flavor that is booted, or -1.
const chosen = (group, version, region, request) => answers(group, request).cells[version][region].flavor;

// explain returns what the command explain says.
function explain(group, type, version, region) {
  const p = profile(), a = answers(group), v = p.versions[version], name = fullName(v);
  const kind = a.kinds[v.kind], cell = a.cells[version][region], whole = a.whole[version];
  const { rolling } = p.requests[state.request];
  const head = `${name} on ${p.groups[group].types[type]} in ${p.regions[region]}${a.settings}`;
  let out = `${head}\n${kind.support[type]}`, rejected = whole ? `  ${whole}\n` : '', compared = '', best = -1, ambiguous = false;
  const flavors = whole ? [] : v.flavors;
  if (flavors.length) out += `\nFlavors of ${name}:\n`;
  flavors.forEach((f, i) => {
    const { lines, clause } = kind.outcomes[f.declared], missing = f.missing[region];
    out += `  ${letter(i)} ${f.supports}\n`;
    if (clause || missing) {
      out += clause ? lines : `      ${kind.sides ? 'excluded by the region' : 'out'}: it ${missing}\n`;
      rejected += `  ${f.declared} ${clause || missing}\n`;
      return;
    }
    out += lines;
    if (best < 0) {
      best = i;
      return;
    }
    const { message, sign } = kind.comparisons[flavors[best].declared + f.declared], wins = sign > 0 ? i : best;
    compared += `  ${letter(best)} against ${letter(i)}: ${message.replaceAll('{winner}', letter(wins))} -> ${letter(wins)}\n`;
    ambiguous = sign === 0 || (ambiguous && sign < 0);
    best = wins;
  });
  if (flavors.length) out += v.undeclared || '';
  if (compared) out += `\nComparisons, in the order ${p.order}:\n${compared}`;
  const lacking = lackingIn(p, region, p.groups[group].types[type]);
  const refused = lacking ? `  machine type ${p.groups[group].types[type]} is unavailable in ${lacking}: Gardener refuses a new worker pool there\n` : '';
  if (cell.flavor < 0) return `${out}\n${head}: no image\n${rejected}${cell.advice}${refused}${rolling}`;
  out += `\n${head} boots ${v.flavors[cell.flavor].references[region]}\n`;
  if (ambiguous) out += '  ambiguous: another flavor supports exactly the same; the first one written was taken\n';
  out += refused;
  if (cell.other !== cell.flavor) out += `With --order=${p.otherOrder} it would be flavor ${letter(cell.other)}.\n`;
  return out + rolling;
}

// lackingIn returns the zones of a region that do not have a machine type, in words; undefined if all have it.
const lackingIn = (p, region, type) => (p.unavailable[p.regions[region]] || {})[type];

// fits reports whether a flavor of an image version fits machine types, wherever it has an image. If none does there is no gap in the
// regions: the hardware is another one, or nobody made what is asked for. A version without any flavor is a gap everywhere.
function fits(p, group, version, request) {
  const a = p.requests[request].answers[group], v = p.versions[version];
  if (!v.flavors.length) return true;
  return !a.whole[version] && v.flavors.some((f) => !a.kinds[v.kind].outcomes[f.declared].clause);
}

// gapsOf returns the indices of the regions in which an image version lacks an image that would fit machine types.
function gapsOf(p, group, version, request) {
  if (!fits(p, group, version, request)) return [];
  const cells = p.requests[request].answers[group].cells[version];
  return p.regions.map((_, i) => i).filter((i) => cells[i].flavor < 0);
}

// regionsShown are the indices of all regions, or of the chosen one.
const regionsShown = () => profile().regions.map((_, i) => i).filter((i) => !state.region || profile().regions[i] === state.region);

// isLost reports whether a cell boots nothing for worker pools with a request that boots for those that ask for nothing special.
function isLost(group, version, request) {
  const boots = (asked) => regionsShown().some((i) => chosen(group, version, i, asked) >= 0);
  return boots(0) && !boots(request);
}

// failing returns the indices of the regions in which worker pools use a cell, ask for what is shown, and boot nothing.
function failing(group, version) {
  const { here } = used(group, version), { regions } = profile();
  return regionsShown().filter((i) => chosen(group, version, i) < 0 && here.some((e) => e.region === regions[i]));
}

// shown returns what a cell shows: its class, its symbol, and that in words.
function shown(group, version) {
  const p = profile(), one = p.regions.indexOf(state.region), regions = regionsShown();
  const booting = regions.filter((r) => chosen(group, version, r) >= 0), lost = failing(group, version);
  const count = `${booting.length}/${regions.length}`;
  if (lost.length) {
    return ['no', booting.length ? `\u2715 ${count}` : '\u2715', `boots nothing for worker pools in ${lost.map((i) => p.regions[i]).join(', ')}`];
  }
  if (!fits(p, group, version, state.request)) return ['other', '\u2013', 'no flavor fits'];
  if (regions.length === 1 && !booting.length) return ['part', '\u2715', 'no image in the region'];
  if (booting.length < regions.length) return ['part', count, `boots in ${booting.length} of ${plural(regions.length, 'region')}`];
  if (one < 0 && regions.length > 1) return ['yes', '\u2713', `boots in all ${regions.length} regions`];
  const flavor = letter(chosen(group, version, regions[0]));
  const several = p.versions[version].flavors.length > 1;
  return ['yes', several ? `\u2713\u2009${flavor}` : '\u2713', several ? `boots flavor ${flavor}` : 'boots'];
}

// viewOf returns the index of the request that asks for what worker pools ask for: -1 if there is none, since that is more than
// one thing, or not known. There may be tens of thousands of pools: groups has the index of the group of each machine type.
function viewOf(p, groups, { machineType, asks }) {
  const group = groups.get(machineType);
  if (!asks || group === undefined) return -1;
  return p.requests.findIndex(({ answers }) => answers[group].asks.length === asks.length &&
    answers[group].asks.every((x) => asks.includes(x)));
}

// poolsByCell are the worker pools of each profile, image version and machine type, each with its view.
const poolsByCell = new Map();
const allPools = [...data.maintenance, ...data.more];
const groupsOf = new Map(data.profiles.map((p) => [p.name, new Map(p.groups.flatMap((g, i) => g.types.map((t) => [t, i])))]));
const profileOf = new Map(data.profiles.map((p) => [p.name, p]));
for (const pools of allPools) {
  pools.view = profileOf.has(pools.profile) ? viewOf(profileOf.get(pools.profile), groupsOf.get(pools.profile), pools) : -1;
  const key = [pools.profile, pools.image, pools.from, pools.machineType].join('\n');
  if (!poolsByCell.has(key)) poolsByCell.set(key, []);
  poolsByCell.get(key).push(pools);
}

// used returns what maintenance says of the worker pools in a cell: here of those that ask for what is shown, and elsewhere of
// the others.
function used(group, version) {
  const p = profile(), v = p.versions[version];
  const all = p.groups[group].types.flatMap((type) => poolsByCell.get([p.name, v.image, v.name, type].join('\n')) || [])
    .filter((pools) => !state.region || pools.region === state.region);
  const isHere = (pools) => pools.view === state.request;
  return { here: all.filter(isHere), elsewhere: all.filter((pools) => !isHere(pools)) };
}
const usedElsewhere = 'worker pools that ask for something else use it';
