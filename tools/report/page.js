'use strict';
(() => {
const all = JSON.parse(document.getElementById('data').textContent);
const data = { ...all.page, report: all.report, trace: all.trace && (all.trace.traceEvents || all.trace), frontier: all.frontier };
const $ = id => document.getElementById(id);
const KINDS = ['subgraph', 'strip', 'run'];
const HEAD = 16, GAP = 26, SIDE = 14; /* height of the title of an open frame, gap between rows, margin beside boxes */

/* Makes an element of HTML. draw () makes an element of SVG. */
const make = (name, attributes = {}, ...children) => {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  e.append(...children);
  return e;
};
const draw = (name, attributes = {}, ...children) => {
  const e = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  e.append(...children);
  return e;
};
const three = n => Math.abs(n) >= 999.5 ? String(Math.round(n)) : n.toPrecision(3);
const units = (n, base, names) => {
  let i = 0;
  for (; Math.abs(n) >= base && i < names.length - 1; i++) n /= base;
  return (i === 0 ? Math.round(n) : three(n)) + names[i];
};
const bytes = n => units(n, 1024, [' bytes', ' KiB', ' MiB', ' GiB', ' TiB']);
const count = n => units(n, 1000, ['', ' k', ' M', ' G', ' T', ' P']);
const percent = (a, b) => b > 0 ? ` (${a >= b ? '+' : ''}${(100 * (a - b) / b).toFixed(1)} %)` : '';
const hue = text => { let h = 7; for (const c of text) h = (h * 31 + c.codePointAt(0)) % 360; return h; };
const tint = owner => owner ? `fill:hsl(${hue(owner)} 60% var(--lit))` : '';

/* The summary */

const r = data.report;
$('title').textContent = document.title = data.title;
$('command').textContent = data.command;
const card = (what, value, more = '') => $('cards').append(make('div', { class: 'card' }, what, make('b', {}, value), make('span', { class: 'dim' }, more)));
const pair = (what, p, format) => p && card(what, `${format(p.before)} → ${format(p.after)}`, percent(p.after, p.before));
if (r) {
  pair('Peak of activations', r.peak_activation_bytes, bytes);
  pair('Arena', r.arena_bytes, bytes);
  pair('MACs', r.macs, count);
  pair('Nodes', r.nodes, String);
  if (r.latency_ms) pair('Latency, about', r.latency_ms, n => `${three(n)} ms`);
  card('Parallel subgraphs', String(r.parallel_subgraphs));
  card('Nodes split', String(r.split.length), `${r.not_split.length} stayed whole`);
  for (const l of r.limits || []) card(`Limit --${l.limit}`, l.met ? 'met' : 'not met', `${l.reached} of ${l.asked}`);
} else {
  const m = data.memory[0];
  card('Peak of activations', bytes(m.peak));
  card('Arena', bytes(m.arena));
}
if (data.budget) card('Budget', bytes(data.budget));
$('convention').textContent = `How it is counted: ${data.convention}.`;

/* The graph */

const svg = $('graph');
let graph, open, view, found = [], at = -1, where = new Map();

/* Maps a coordinate of the closed layout to the layout with open frames. The function is linear between the anchors, pairs of
 * an old and a new coordinate. Beyond the first and the last anchor, it adds a constant. */
const bend = (anchors, v) => {
  if (!anchors.length) return v;
  if (v <= anchors[0][0]) return v + anchors[0][1] - anchors[0][0];
  for (let i = 1; i < anchors.length; i++) {
    const [a, b] = anchors[i - 1], [c, d] = anchors[i];
    if (v <= c) return c === a ? d : b + (v - a) * (d - b) / (c - a);
  }
  const [a, b] = anchors[anchors.length - 1];
  return v + b - a;
};

/* Arranges the boxes in the rows of Graphviz's layout. Open boxes move the other boxes away. */
const arrange = () => {
  const rows = [];
  const sorted = graph.frames.map((f, i) => i).sort((i, j) => graph.frames[i].y - graph.frames[j].y || graph.frames[i].x - graph.frames[j].x);
  for (const i of sorted) {
    const f = graph.frames[i], row = rows[rows.length - 1];
    if (row && Math.abs(row.y - f.y) < 2) row.list.push(i); else rows.push({ y: f.y, list: [i] });
  }
  const boxes = [];
  let bottom = 0;
  const ys = [];
  for (const row of rows) {
    row.list.sort((i, j) => graph.frames[i].x - graph.frames[j].x);
    const size = i => open.has(i) ? [graph.frames[i].iw + 2 * SIDE, graph.frames[i].ih + HEAD + SIDE] : [graph.frames[i].w, graph.frames[i].h];
    const height = Math.max(...row.list.map(i => size(i)[1])), old = Math.max(...row.list.map(i => graph.frames[i].h));
    const top = Math.max(bottom, ys.length ? bottom : row.y - old / 2);
    const wide = row.list.reduce((sum, i) => sum + size(i)[0] - graph.frames[i].w, 0);
    let left = -Infinity, shift = -wide / 2;
    row.anchors = [];
    for (const i of row.list) {
      const f = graph.frames[i], [w, h] = size(i);
      const x = Math.max(left, f.x - f.w / 2 + shift);
      boxes[i] = { x, y: top + (height - h) / 2, w, h };
      row.anchors.push([f.x - f.w / 2, x], [f.x + f.w / 2, x + w]);
      left = x + w + SIDE;
      shift += w - f.w;
    }
    ys.push([row.y - old / 2, top], [row.y + old / 2, top + height]);
    bottom = top + height + GAP;
  }
  const point = (x, y) => {
    let row = rows[0], least = Infinity;
    for (const candidate of rows) if (Math.abs(candidate.y - y) < least) { least = Math.abs(candidate.y - y); row = candidate; }
    return [bend(row.anchors, x), bend(ys, y)];
  };
  return { boxes, point };
};
const path = ([, , route, straight], point) => {
  const p = [];
  for (let i = 0; i + 1 < route.length; i += 2) p.push(point(route[i], route[i + 1]).map(v => v.toFixed(1)).join(' '));
  return p.length < (straight ? 2 : 4) ? '' : `M${p[0]}${straight ? 'L' : 'C'}${p.slice(1).join(' ')}`;
};
const cut = (text, width, letter = 5.4) => { const n = Math.max(3, Math.floor(width / letter)); return text.length <= n ? text : '…' + text.slice(1 - n); };

/* Makes the arrowhead that all edges share. */
const arrow = () => draw('defs', {}, draw('marker', { id: 'head', viewBox: '0 0 6 6', refX: 6, refY: 3, markerWidth: 6, markerHeight: 6, markerUnits: 'userSpaceOnUse', orient: 'auto' }, draw('polygon', { points: '0 0 6 3 0 6' })));

const node_box = (n, x, y) => {
  const g = draw('g', { class: 'node', transform: `translate(${x} ${y})` },
    draw('title', {}, `${n[0]}\n${n[1]} ${n[2]}\n${n[3] ? count(n[3]) + ' MACs' : ''}${n[5] ? `\npiece of ${n[5]} ${n[6]}` : ''}`),
    draw('rect', { x: -n[9] / 2, y: -n[10] / 2, width: n[9], height: n[10], rx: 3, style: tint(n[5]) }));
  const line = (dy, text, kind) => g.append(draw('text', { x: -n[9] / 2 + 4, y: dy, class: kind }, text));
  if (n[10] < 20) line(3, cut(`${n[1]} ${n[6]}`, n[9]), 'small');
  else {
    line(-n[10] / 2 + 12, n[1] + (n[6] ? ` ${n[6]}` : ''), 'op');
    line(-n[10] / 2 + 23, cut(n[0], n[9]));
    line(-n[10] / 2 + 33, n[2], 'small');
  }
  return g;
};

const frame_box = (f, i, box) => {
  const is_open = open.has(i);
  const g = draw('g', { class: `frame ${KINDS[f.kind]}${is_open ? ' open' : ''}`, tabindex: 0, role: 'button', 'aria-expanded': is_open, 'data-frame': i,
    'aria-label': `${f.title}, ${f.nodes.length} nodes, ${count(f.macs)} MACs`, transform: `translate(${box.x.toFixed(1)} ${box.y.toFixed(1)})` },
    draw('title', {}, f.title), draw('rect', { width: box.w, height: box.h, rx: 5, style: is_open ? '' : tint(f.owner) }));
  if (!is_open) {
    g.append(draw('text', { x: 6, y: 14, class: 'op' }, cut(f.title, f.w, f.kind < 2 ? 5.4 : 6.2)),
      draw('text', { x: 6, y: 26, class: 'small' }, `${f.nodes.length} node${f.nodes.length === 1 ? '' : 's'}, ${count(f.macs)} MACs`),
      draw('text', { x: 6, y: 36, class: 'small' }, `${bytes(f.bytes)} out${f.rows ? `, ${f.rows}` : ''}`));
    return g;
  }
  g.append(draw('text', { x: 6, y: 12, class: 'small' }, cut(f.title, box.w)));
  const inside = (x, y) => [x + SIDE, y + HEAD];
  for (const e of f.edges) g.append(draw('path', { d: path(e, inside) }));
  f.nodes.forEach((n, j) => {
    const element = node_box(n, n[7] + SIDE, n[8] + HEAD);
    where.set(`${i} ${j}`, { element, x: box.x + n[7] + SIDE, y: box.y + n[8] + HEAD, h: n[10] });
    g.append(element);
  });
  return g;
};

const show = () => {
  const { boxes, point } = arrange();
  where = new Map();
  const frames = graph.frames.map((f, i) => frame_box(f, i, boxes[i]));
  const lines = draw('g', { 'aria-hidden': 'true' });
  for (const e of graph.edges) lines.append(draw('path', { d: path(e, point) }));
  for (const [a, i, b, j] of graph.cross) {
    const from = where.get(`${a} ${i}`), to = where.get(`${b} ${j}`);
    if (!from && !to) continue;
    const e = graph.edges[graph.edge.get(`${a} ${b}`)];
    if (!e) continue;
    const [x, y] = point(e[2][0], e[2][1]), [u, v] = point(e[2][e[2].length - 2], e[2][e[2].length - 1]);
    if (from) lines.append(draw('path', { class: 'thin tail', d: `M${from.x} ${from.y + from.h / 2}L${x} ${y}` }));
    if (to) lines.append(draw('path', { class: 'thin', d: `M${u} ${v}L${to.x} ${to.y - to.h / 2}` }));
  }
  svg.replaceChildren(arrow(), lines, ...frames);
  graph.boxes = boxes;
  graph.area = boxes.reduce((m, b) => [Math.min(m[0], b.x), Math.min(m[1], b.y), Math.max(m[2], b.x + b.w), Math.max(m[3], b.y + b.h)], [Infinity, Infinity, -Infinity, -Infinity]);
  mark();
};
const set_view = v => { view = v; svg.setAttribute('viewBox', v.map(n => n.toFixed(2)).join(' ')); };
/* Returns the box that is in view first: the leftmost of the topmost boxes. */
const first = () => graph.boxes.reduce((m, b) => b.y < m.y - 1 || (b.y < m.y + 1 && b.x < m.x) ? b : m);
const fit = all => {
  const [a, b, c, d] = graph.area;
  if (!isFinite(a)) return set_view([0, 0, 100, 100]);
  const wide = svg.clientWidth || 1000, shape = (svg.clientHeight || 600) / wide, w = Math.max(c - a + 40, .7 * wide), h = d - b + 40;
  /* The view of a long or wide graph begins at its first box, in letters of their normal size. With `all`, the view has the whole
   * graph. */
  const seen = wide, box = first();
  if (all || (w <= seen && h <= 2.2 * w * shape)) return set_view([a - 20, b - 20, c - a + 40, h]);
  const width = Math.min(w, seen);
  set_view([w <= seen ? (a + c) / 2 - width / 2 : Math.min(Math.max(box.x + box.w / 2 - width / 2, a - 20), c + 20 - width), b - 20, width, width * shape]);
};
const zoom = (factor, x = .5, y = .5) => set_view([view[0] + view[2] * x * (1 - factor), view[1] + view[3] * y * (1 - factor), view[2] * factor, view[3] * factor]);
const pan = (x, y) => set_view([view[0] + view[2] * x, view[1] + view[3] * y, view[2], view[3]]);
const toggle = i => {
  if (open.has(i)) open.delete(i); else open.add(i);
  const before = view;
  show();
  set_view(before);
  svg.querySelector(`[data-frame="${i}"]`)?.focus({ preventScroll: true });
};
const choose = i => {
  graph = data.graphs[i];
  if (!graph.edge) graph.edge = new Map(graph.edges.map((e, k) => [`${e[0]} ${e[1]}`, k]));
  open = graph.open ||= new Set();
  [...$('which').children].forEach((b, k) => b.setAttribute('aria-pressed', k === i));
  show();
  fit();
  search(false);
};

data.graphs.forEach((g, i) => {
  const b = make('button', { type: 'button', 'aria-pressed': false }, g.name);
  b.onclick = () => choose(i);
  $('which').append(b, ' ');
});
let drag = null, moved = false;
svg.onpointerdown = e => { drag = [e.clientX, e.clientY]; moved = false; };
svg.onpointermove = e => {
  if (!drag) return;
  const x = e.clientX - drag[0], y = e.clientY - drag[1];
  if (!moved && Math.hypot(x, y) < 4) return;
  if (!moved) svg.setPointerCapture(e.pointerId);
  moved = true;
  const scale = Math.max(view[2] / svg.clientWidth, view[3] / svg.clientHeight);
  set_view([view[0] - x * scale, view[1] - y * scale, view[2], view[3]]);
  drag = [e.clientX, e.clientY];
};
svg.onpointerup = svg.onpointercancel = () => { drag = null; };
svg.onclick = e => {
  const frame = e.target.closest('.frame');
  if (frame && !moved) toggle(+frame.dataset.frame);
};
svg.addEventListener('wheel', e => {
  e.preventDefault();
  const area = svg.getBoundingClientRect();
  zoom(Math.exp(Math.sign(e.deltaY) * .15), (e.clientX - area.x) / area.width, (e.clientY - area.y) / area.height);
}, { passive: false });
const moves = { ArrowLeft: [-.1, 0], ArrowRight: [.1, 0], ArrowUp: [0, -.1], ArrowDown: [0, .1] };
svg.onkeydown = e => {
  const frame = e.target.closest('.frame');
  if (moves[e.key]) pan(...moves[e.key]);
  else if (e.key === '+' || e.key === '=') zoom(.8);
  else if (e.key === '-') zoom(1.25);
  else if (e.key === '0') fit(true);
  else if (frame && (e.key === 'Enter' || e.key === ' ')) toggle(+frame.dataset.frame);
  else return;
  e.preventDefault();
};
$('in').onclick = () => zoom(.8);
$('out').onclick = () => zoom(1.25);
$('fit').onclick = () => fit(true);
$('open').onclick = () => { graph.frames.forEach((f, i) => open.add(i)); show(); fit(); };
$('close').onclick = () => { open.clear(); show(); fit(); };

/* The search for nodes */

function mark() {
  for (const k of found) where.get(k)?.element.classList.add('found');
}
const go = step => {
  if (!found.length) return;
  at = (at + step + found.length) % found.length;
  const [i] = found[at].split(' ').map(Number);
  if (!open.has(i)) { open.add(i); show(); }
  const { x, y } = where.get(found[at]), w = Math.min(view[2], 700), h = w * (svg.clientHeight || 6) / (svg.clientWidth || 10);
  set_view([x - w / 2, y - h / 2, w, h]);
  $('hits').textContent = `${at + 1} of ${found.length}`;
};
function search(jump) {
  const text = $('find').value.trim().toLowerCase();
  svg.querySelectorAll('.found').forEach(e => e.classList.remove('found'));
  found = [];
  at = -1;
  $('hits').textContent = '';
  if (!text) return;
  graph.frames.forEach((f, i) => f.nodes.forEach((n, j) => {
    if (n[0].toLowerCase().includes(text) || n[1].toLowerCase() === text) found.push(`${i} ${j}`);
  }));
  mark();
  $('hits').textContent = found.length ? `${found.length} found` : 'nothing found';
  if (jump) go(1);
}
$('find').oninput = () => search(false);
$('find').onkeydown = e => { if (e.key === 'Enter') { if (found.length) go(e.shiftKey ? -1 : 1); else search(true); } };
$('next').onclick = () => go(1);

/* The charts of memory and time */

const WIDE = 1000, HIGH = 260, LEFT = 70;
const axes = (chart, most, format, label) => {
  for (let i = 0; i <= 4; i++) {
    const y = HIGH - 24 - (HIGH - 44) * i / 4;
    chart.append(draw('line', { class: 'axis', x1: LEFT, x2: WIDE, y1: y, y2: y }), draw('text', { x: 2, y: y + 4 }, format(most * i / 4)));
  }
  chart.append(draw('text', { x: WIDE - 8, y: HIGH - 4, 'text-anchor': 'end' }, label));
};
const key = (...entries) => make('p', { class: 'dim key' }, ...entries.flatMap(([kind, text]) => {
  const i = make('i');
  i.style.borderColor = `var(--${kind})`;
  return [i, text];
}));
const section = (id, show) => { if (show) show($(id).querySelector('div')); else $(id).remove(); };

section('memory', div => {
  const most = Math.max(data.budget || 0, ...data.memory.map(m => m.peak)) || 1;
  const chart = draw('svg', { class: 'chart', viewBox: `0 0 ${WIDE} ${HIGH}`, role: 'img', 'aria-label': data.memory.map(m => `${m.name}: peak ${bytes(m.peak)} at ${m.at}`).join('; ') });
  axes(chart, most, bytes, 'steps of a run, first to last');
  const y = v => HIGH - 24 - (HIGH - 44) * v / most;
  for (const m of data.memory) {
    const n = m.live.length;
    let d = '';
    m.live.forEach((v, i) => { d += `${i ? 'L' : 'M'}${(LEFT + (WIDE - LEFT) * i / n).toFixed(1)} ${y(v).toFixed(1)}H${(LEFT + (WIDE - LEFT) * (i + 1) / n).toFixed(1)}`; });
    chart.append(draw('path', { class: m.name, d }));
  }
  if (data.budget) chart.append(draw('line', { class: 'budget', x1: LEFT, x2: WIDE, y1: y(data.budget), y2: y(data.budget) }));
  div.append(make('div', { class: 'wide' }, chart), key(...data.memory.map(m => [m.name, `${m.name}: peak ${bytes(m.peak)} at ${m.at}`]), ...(data.budget ? [['budget', `budget ${bytes(data.budget)}`]] : [])));
});

section('frontier', data.frontier && (div => {
  const f = data.frontier, most = Math.max(...f.map(p => p.arena_bytes)), added = Math.max(1, ...f.map(p => p.added_macs_per_cent));
  const chart = draw('svg', { class: 'chart', viewBox: `0 0 ${WIDE} ${HIGH}`, role: 'img', 'aria-label': `${f.length} plans; the table has their figures` });
  axes(chart, most, bytes, `MACs added, 0 to ${added.toFixed(1)} %`);
  for (const p of f) {
    const x = LEFT + 8 + (WIDE - LEFT - 16) * Math.max(0, p.added_macs_per_cent) / added, y = HIGH - 24 - (HIGH - 44) * p.arena_bytes / most;
    chart.append(draw('circle', { cx: x, cy: y, r: 4, fill: 'var(--after)' }, draw('title', {}, `${bytes(p.arena_bytes)}, +${p.added_macs_per_cent.toFixed(2)} % MACs, about ${three(p.latency_ms)} ms`)));
  }
  div.append(make('div', { class: 'wide' }, chart), table('frontier', [['Arena', 1, bytes], ['Added MACs, %', 1, n => n.toFixed(2)], ['Latency, about ms', 1, three], ['Segments', 1], ['Nodes', 1]],
    f.map(p => [p.arena_bytes, p.added_macs_per_cent, p.latency_ms, p.segments, p.nodes])));
}));

section('threads', data.trace && data.trace.length && (div => {
  const end = Math.max(...data.trace.map(e => e.ts + e.dur)) || 1, n = Math.max(...data.trace.map(e => e.tid)) + 1;
  const chart = draw('svg', { class: 'chart', viewBox: `0 0 ${WIDE} ${n * 26 + 24}`, role: 'img', 'aria-label': `One run on ${n} threads, ${three(end / 1000)} ms` });
  const times = new Map();
  for (const e of data.trace) times.set(e.cat, (times.get(e.cat) || 0) + e.dur);
  const ops = [...times.keys()].sort((a, b) => times.get(b) - times.get(a)), all = [...times.values()].reduce((a, b) => a + b, 0) || 1;
  /* The hues of consecutive ops differ by the golden angle, so that the ops with the most time have very different hues. */
  const shades = new Map(ops.map((op, i) => [op, `hsl(${(210 + 137.5 * i) % 360} 55% 55%)`]));
  for (const e of data.trace)
    chart.append(draw('rect', { x: (LEFT + (WIDE - LEFT) * e.ts / end).toFixed(2), y: e.tid * 26 + 2, width: Math.max(.2, (WIDE - LEFT) * e.dur / end).toFixed(2), height: 20, fill: shades.get(e.cat) },
      draw('title', {}, `${e.name}\n${e.cat}, ${e.dur.toFixed(1)} µs`)));
  for (let i = 0; i < n; i++) chart.append(draw('text', { x: 2, y: i * 26 + 16 }, `thread ${i}`));
  chart.append(draw('text', { x: WIDE - 8, y: n * 26 + 16, 'text-anchor': 'end' }, `${three(end / 1000)} ms`));
  const legend = make('p', { class: 'dim key' });
  for (const op of ops.slice(0, 8)) legend.append(make('i', { style: `border-top-color:${shades.get(op)}` }), `${op} ${(100 * times.get(op) / all).toFixed(1)} %`);
  div.append(make('div', { class: 'wide' }, chart), legend, make('p', { class: 'dim' }, 'One run on this machine; a color is an op, with its part of the time, and a gap is waiting.'));
}));

/* Makes a table. A column has a title, whether its values are numbers, and a function that formats a value. */
function table(name, columns, rows) {
  const body = make('tbody'), head = make('tr'), MOST = 400;
  let by = -1, down = true, all = rows.length <= MOST;
  const fill = () => {
    body.replaceChildren(...(all ? rows : rows.slice(0, MOST)).map(row => make('tr', {}, ...columns.map(([, number, format], i) =>
      make('td', number ? { class: 'n' } : {}, row[i] === null || row[i] === undefined ? '' : format ? format(row[i]) : String(row[i]))))));
    if (!all) {
      const more = make('button', { type: 'button' }, `Show all ${rows.length}`);
      more.onclick = () => { all = true; fill(); };
      body.append(make('tr', {}, make('td', { colspan: columns.length }, more)));
    }
  };
  columns.forEach(([title, number], i) => {
    const b = make('button', { type: 'button' }, title), th = make('th', number ? { class: 'n', scope: 'col' } : { scope: 'col' }, b);
    b.onclick = () => {
      down = by === i ? !down : !!number;
      by = i;
      const way = down ? -1 : 1;
      rows.sort((a, c) => way * (number ? (a[i] ?? -1) - (c[i] ?? -1) : String(a[i]).localeCompare(String(c[i]))));
      [...head.children].forEach((t, k) => k === i ? t.setAttribute('aria-sort', down ? 'descending' : 'ascending') : t.removeAttribute('aria-sort'));
      fill();
    };
    head.append(th);
  });
  fill();
  return make('div', { class: 'tall', tabindex: 0, role: 'region', 'aria-label': name }, make('table', {}, make('thead', {}, head), body));
}

const columns = [['Node', 0], ['Op', 0], ['Shape', 0], ['MACs', 1, count], ['Bytes out', 1, bytes], ['Piece of', 0], ['Part', 0], ['µs', 1, n => n.toFixed(1)], ['GFLOP/s', 1, n => n.toFixed(1)]];
for (const g of data.graphs) {
  const rows = g.frames.flatMap(f => f.nodes).sort((a, b) => a[11] - b[11]).map(n => { const us = g.times?.[n[0]]; return [...n.slice(0, 7), us, us > 0 && n[3] > 0 ? 2e-3 * n[3] / us : null]; });
  const details = make('details', g === data.graphs[data.graphs.length - 1] ? { open: '' } : {}, make('summary', {}, `${g.name}: ${rows.length} nodes`));
  details.append(table(`Nodes ${g.name}`, columns, rows));
  $('nodes').querySelector('div').append(details);
}
section('split', r && (div => {
  div.append(table('Split', [['Node', 0], ['Op', 0], ['Pieces', 1], ['First', 0], ['Last', 0]], r.split.map(s => {
    const range = p => p ? p.range.map(d => d.join(':')).join(', ') : '';
    return [s.node, s.op, s.pieces.length, range(s.pieces[0]), range(s.pieces[s.pieces.length - 1])];
  })));
  div.append(make('h3', {}, 'Nodes that stayed whole'), r.not_split.length ? table('Not split', [['Node', 0], ['Op', 0], ['Reason', 0], ['Explanation', 0]], r.not_split.map(s => [s.node, s.op, s.reason, s.message])) : make('p', {}, 'None.'));
}));
for (const s of document.querySelectorAll('main > section')) document.querySelector('nav').append(make('a', { href: `#${s.id}` }, s.querySelector('h2').textContent));
choose(data.graphs.length - 1);
})();
