// What is shown of the data, and the answers: what boots, and the text of the command explain.

// State: what is shown. Everything else follows from it, and the address has it.
const state = { profile: 0, image: '', region: '', request: 0, search: '', gaps: false, open: null };
const profile = () => data.profiles[state.profile];
const answers = (group, request = state.request) => profile().requests[request].answers[group];
const fullName = (v) => `${v.image}@${v.name}`;

// chosen returns the index of the flavor that is booted, or -1.
const chosen = (group, version, region, request) => answers(group, request).cells[version][region].flavor;

// explain returns what the command explain says.
function explain(group, type, version, region) {
  const p = profile(), a = answers(group), v = p.versions[version], name = fullName(v);
  const kind = a.kinds[v.kind], cell = a.cells[version][region], whole = a.whole[version];
  const head = `${name} on ${p.groups[group].types[type]} in ${p.regions[region]}${a.settings}`;
  let out = `${head}\n${kind.support[type]}`, rejected = whole ? `  ${whole}\n` : '', compared = '', best = -1, ambiguous = false;
  const flavors = whole ? [] : v.flavors;
  if (flavors.length) out += `\nFlavors of ${name}:\n`;
  flavors.forEach((f, i) => {
    const { lines, clause } = kind.outcomes[f.declared], missing = f.missing[region];
    out += `  ${letter(i)} ${f.supports}\n`;
    if (clause || missing) {
      out += clause ? lines : `      out${kind.sides ? ' by the region' : ''}: it ${missing}\n`;
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
  if (compared) out += `\nComparisons, in the order ${p.order}:\n${compared}`;
  if (cell.flavor < 0) return `${out}\n${head}: no image\n${rejected}${cell.advice}`;
  out += `\n${head} boots ${v.flavors[cell.flavor].references[region]}\n`;
  if (ambiguous) out += '  ambiguous: another flavor supports exactly the same; the first one written was taken\n';
  if (cell.other !== cell.flavor) out += `With --order=${p.otherOrder} it would be flavor ${letter(cell.other)}.\n`;
  return out;
}

// isLost reports whether a cell boots nothing, in any region or in the chosen one, for worker pools with a request.
function isLost(group, version, request) {
  const { regions } = profile();
  return regions.every((region, i) => (state.region && state.region !== region) || chosen(group, version, i, request) < 0);
}

// shown returns what a cell shows: its class, its symbol, and that in words.
function shown(group, version) {
  const p = profile(), one = p.regions.indexOf(state.region);
  const regions = one < 0 ? p.regions.map((_, i) => i) : [one];
  const booting = regions.filter((r) => chosen(group, version, r) >= 0);
  if (!booting.length) return ['no', '\u2715', one < 0 ? 'no image in any region' : 'no image'];
  if (booting.length < regions.length) {
    const count = `${booting.length}/${regions.length}`;
    return ['part', count, `boots in ${booting.length} of ${regions.length} regions`];
  }
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
