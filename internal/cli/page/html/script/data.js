// The data of the page.

// unpack returns the data of an element. If that cannot be had the page says why, and has no answers.
async function unpack(id) {
  try {
    const packed = Uint8Array.from(atob($(id).textContent), (c) => c.charCodeAt(0));
    return await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).json();
  } catch (fault) {
    document.querySelectorAll('main, nav').forEach((e) => { e.hidden = true; });
    $('notes').append(make('p', { className: 'note', role: 'alert' }, 'DecompressionStream' in window ?
      'The file of this page is damaged: get it again, or make it anew.' :
      'This browser is too old for this page. Chrome and Edge can show it from version 80 on, Firefox from 113, Safari from 16.4.'));
    throw fault;
  }
}

// A page about several landscapes opens with all side by side. The address names the one that is shown, whose data are those of a page of
// its own; null for none.
const landscapeOf = () => new URLSearchParams(location.hash.slice(1)).get('landscape');
const first = await unpack('data'), landscapes = first.landscapes || [];
const landscape = landscapes.find((l) => l.name === landscapeOf()) || null;
const nothing = { profiles: [], findings: [], totals: {}, maintenance: [], more: [], kubernetes: [], calendar: [], notes: [] };
const data = landscape ? await unpack(`data-${landscapes.indexOf(landscape)}`) : { ...nothing, ...first };
const here = landscape ? { landscape: landscape.name } : {};
const onlyFor = (filter) => (filter ? `Worker pools are those that match ${filter}. What lint finds is about all.` : '');
