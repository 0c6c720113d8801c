// The matrix as a file for a spreadsheet.

// field returns a field of CSV. What a spreadsheet would take for a formula is made a text.
const field = (text) => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;

// csv returns what the matrix shows, with a column for each machine type.
function csv() {
  const p = profile(), columns = p.groups.flatMap((g, group) => g.types.filter(isWanted).map((type) => ({ group, type })));
  const versions = [...new Set(cells.map(([td]) => td.about.version))];
  const says = { other: 'no flavor fits' }, regions = regionsShown();
  const rows = versions.map((version) => {
    const v = p.versions[version];
    const answers = p.groups.map((_, group) => {
      const [kind] = shown(group, version);
      return says[kind] || `${regions.filter((i) => chosen(group, version, i) >= 0).length} of ${regions.length}`;
    });
    return [v.image, v.name, v.state, v.expires, ...columns.map(({ group }) => answers[group])];
  });
  return [['image', 'version', 'state', 'expires', ...columns.map(({ type }) => type)], ...rows].map((row) => `${row.map(field).join(',')}\r\n`).join('');
}
$('csv').onclick = () => {
  const address = URL.createObjectURL(new Blob(['\ufeff', csv()], { type: 'text/csv' }));
  make('a', { href: address, download: `${profile().name.replaceAll('/', '-')}-${data.date.slice(0, 10)}.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
};
