// SPDX-License-Identifier: GPL-2.0-or-later
// fit.mjs CLEAVE FOLDER [CLASSES [NAME,...]]: measures `cleave fit` on each model, on one thread. The fitted model has
// at most 10 % more MACs and an estimated latency at most 25 % longer. The budget is a quarter of the unsplit arena, or
// the minimum that `cleave fit` finds. FOLDER has the downloads of fetch.sh, CLASSES the output of classes/make.py.
// Prints three tables: memory and latency in Cleave; growth of ONNX Runtime's process in its first run, with and
// without ONNX Runtime's arena; and this growth for models that need more than 20 MB and are fitted with `cleave fit
// --for ort`. Their budget is half of the unsplit arena, or the minimum. In the last table, malloc returns freed memory
// at once.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { call, classFiles, here, ms } from './measure.mjs';
import { models } from './peer.mjs';

const rounds = 3, part = 0.25, macs = 10, slower = 25, large = 20e6;
const [command, folder, classes, names] = process.argv.slice(2);
const made = mkdtempSync(join(tmpdir(), 'cleave-fit-'));
const latency = join(dirname(fileURLToPath(import.meta.url)), 'latency.mjs');
const mb = (bytes) => (bytes / 1e6).toFixed(2);

function list() {
  const zoo = models(['first', 'test', 'bench']).filter((model) => model.inputs.length === 1)
    .map((model) => ({ ...model, file: resolve(folder, `${model.name}.onnx`) }));
  const all = [...zoo, ...(classes ? classFiles(classes, 'used') : [])];
  return names ? all.filter((model) => names.split(',').includes(model.name)) : all;
}

const shapeOf = (model) => (model.shape ? ['--shape', model.shape.join(',')] : []);

// Returns the bytes of the inputs and outputs of a model, which no split reduces.
function borders(model) {
  const info = JSON.parse(call(command, 'info', model.file, ...shapeOf(model), '--json'));
  const size = { float64: 8, int64: 8, uint64: 8, float32: 4, int32: 4, uint32: 4, float16: 2, bfloat16: 2, int16: 2, uint16: 2 };
  return [...info.inputs, ...info.outputs].reduce((sum, one) => sum + one.shape.reduce((a, b) => a * b, 1) * (size[one.type] ?? 1), 0);
}

function fit(model, out, ...limits) {
  const run = spawnSync(command, ['fit', model.file, ...shapeOf(model), '--max-added-macs', macs, '--max-added-latency', slower, ...limits, '-o', out, '--json'],
    { encoding: 'utf8', maxBuffer: 1 << 28 });
  return run.status === 0 ? JSON.parse(run.stdout) : null;
}

function fitOne(model) {
  const out = join(made, `${model.name}.onnx`);
  const arena = JSON.parse(call(command, 'memory', model.file, ...shapeOf(model), '--json')).models[0].arena_bytes;
  const report = fit(model, out, '--max-memory', Math.floor(part * arena)) ?? fit(model, out);
  return { model, report, borders: borders(model), fitted: { name: model.name, file: out } };
}

// Measures the whole and the fitted model in alternating rounds, and takes the least latency of each.
function measure(result) {
  const before = [], after = [];
  const repeat = Math.max(3, Math.min(50, Math.ceil(150 / here(command, result.model, 1, 2, ['--as-is']).min)));
  for (let round = 0; round < rounds; round++) {
    before.push(here(command, result.model, 1, repeat, ['--as-is']).min);
    after.push(here(command, result.fitted, 1, repeat, ['--as-is']).min);
  }
  return [Math.min(...before), Math.min(...after)];
}

function table(results) {
  console.log('| model | arena, MB | fitted | part | added MACs | nodes | latency, ms | fitted | times | |');
  console.log('|---|---|---|---|---|---|---|---|---|---|');
  for (const one of results) {
    const { arena_bytes: arena, macs: work, nodes, peak } = one.report;
    const [before, after] = measure(one);
    const note = arena.after <= part * arena.before ? '' : one.borders > part * arena.before ? `in and out are ${mb(one.borders)}` : `limited by ${peak}`;
    console.log(`| ${one.model.name} | ${mb(arena.before)} | ${mb(arena.after)} | ${(arena.after / arena.before).toFixed(2)} | ${work.before ? ((100 * (work.after - work.before)) / work.before).toFixed(1) : '0.0'} % | ${nodes.after} | ${ms(before)} | ${ms(after)} | ${(after / before).toFixed(2)} | ${note} |`);
  }
}

process.env.MALLOC_MMAP_THRESHOLD_ = '65536'; // bytes: larger blocks are mapped

// Returns the least growth of process memory and the least latency. Each round is a process of its own.
function grow(model, arena) {
  const all = Array.from({ length: rounds }, () => JSON.parse(call(process.execPath, latency, folder, model.file, model.shape?.join(',') ?? '-', '1', '5', arena)));
  return { growth: Math.min(...all.map((one) => one.growth)), min: Math.min(...all.map((one) => one.min)) };
}

function peerTable(results) {
  console.log('\n| model | grown, arena | fitted | grown, no arena | fitted | latency, ms | fitted |\n|---|---|---|---|---|---|---|');
  for (const one of results) {
    const cells = ['arena', 'no-arena'].map((arena) => [grow(one.model, arena), grow(one.fitted, arena)]);
    console.log(`| ${one.model.name} | ${cells.map(([a, b]) => `${mb(a.growth)} | ${mb(b.growth)}`).join(' | ')} | ${ms(cells[0][0].min)} | ${ms(cells[0][1].min)} |`);
  }
}

function fitForPeer({ model, report }) {
  const file = join(made, `${model.name}.ort.onnx`);
  const half = ['--for', 'ort', '--max-memory', Math.floor(report.arena_bytes.before / 2)];
  const loops = fit(model, file, ...half) ?? fit(model, file, '--for', 'ort');
  return { model, report: loops, fitted: { name: model.name, file } };
}

function loopTable(results) {
  console.log('\n| model | loops | pieces | stay whole | grown, arena | fitted | grown, no arena | fitted | latency, ms | fitted | times |');
  console.log('|---|---|---|---|---|---|---|---|---|---|---|');
  for (const one of results) {
    const cells = ['arena', 'no-arena'].map((arena) => [grow(one.model, arena), grow(one.fitted, arena)]);
    const [before, after] = cells[0].map((cell) => cell.min);
    console.log(`| ${one.model.name} | ${one.report.loops} | ${one.report.segments_without_loop} | ${one.report.segments_whole} | ${cells.map(([a, b]) => `${mb(a.growth)} | ${mb(b.growth)}`).join(' | ')} | ${ms(before)} | ${ms(after)} | ${(after / before).toFixed(2)} |`);
  }
}

try {
  const results = list().map(fitOne);
  table(results);
  peerTable(results);
  loopTable(results.filter(({ report }) => report.arena_bytes.before > large).map(fitForPeer));
} finally {
  rmSync(made, { recursive: true });
}
