// The data of the page.

// unpack returns the data. If that cannot be had the page says why, and has no answers.
async function unpack() {
  try {
    const packed = Uint8Array.from(atob($('data').textContent), (c) => c.charCodeAt(0));
    return await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).json();
  } catch (fault) {
    document.querySelectorAll('main, nav').forEach((e) => { e.hidden = true; });
    $('notes').append(make('p', { className: 'note', role: 'alert' }, 'DecompressionStream' in window ?
      'The file of this page is damaged: get it again, or make it anew.' :
      'This browser is too old for this page. Chrome and Edge can show it from version 80 on, Firefox from 113, Safari from 16.4.'));
    throw fault;
  }
}
const data = await unpack();
