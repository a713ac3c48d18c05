// SPDX-License-Identifier: GPL-2.0-or-later
// views.mjs BENCH FOLDER: measures splits and joins of 1x256x128x128 float32 in ONNX Runtime and in Cleave, with each
// part an output or input of the graph. BENCH is tests/bench/bench-views, which writes the models and measures Cleave.
// Each figure is the best of several rounds on one thread. ONNX Runtime and Cleave alternate in each round.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { onnxRuntime } from './peer.mjs';

const rounds = 4, repeat = 15;
const [bench, folder] = process.argv.slice(2);
const ort = onnxRuntime(folder);
const shape = [1, 256, 128, 128];
const models = join(folder, 'views');

mkdirSync(models, { recursive: true });
spawnSync(bench, [models]);

const tensor = (dims) => new ort.Tensor('float32', new Float32Array(dims.reduce((a, b) => a * b, 1)).fill(1), dims);

// Returns the milliseconds of the fastest run of the node, from ONNX Runtime's profile, without the overhead of a call from
// JavaScript.
async function there(what, axis, parts) {
  const path = join(models, `${what}-${axis}-${parts}.onnx`);
  const peer = await ort.InferenceSession.create(path, { executionProviders: ['cpu'], intraOpNumThreads: 1,
    interOpNumThreads: 1, executionMode: 'sequential', graphOptimizationLevel: 'disabled', logSeverityLevel: 3,
    enableProfiling: true, profileFilePrefix: join(models, 'profile') });
  const part = what === 'split' ? shape : shape.map((n, d) => (d === axis ? n / parts : n));
  const feeds = Object.fromEntries(peer.inputNames.map((name) => [name, tensor(part)]));
  for (let i = 0; i < repeat; i++) await peer.run(feeds);
  peer.endProfiling();
  await peer.release();
  const file = readdirSync(models).find((name) => name.startsWith('profile'));
  const events = JSON.parse(readFileSync(join(models, file), 'utf8'));
  rmSync(join(models, file));
  return Math.min(...events.filter((e) => e.cat === 'Node' && e.name.endsWith('kernel_time')).map((e) => e.dur)) / 1e3;
}

function here() {
  const rows = spawnSync(bench, { encoding: 'utf8' }).stdout.split('\n').map((line) => line.split('|').map(Number));
  return rows.filter((row) => row.length > 8 && row[2] > 0).map(([, axis, parts, run, copy, split, , joined]) => ({ axis, parts, run, copy, split, join: joined }));
}

const best = [];
for (let round = 0; round < rounds; round++)
  for (const [i, row] of here().entries()) {
    best[i] ??= { ...row, split: Infinity, join: Infinity, copy: Infinity, theirSplit: Infinity, theirJoin: Infinity };
    for (const key of ['split', 'join', 'copy']) best[i][key] = Math.min(best[i][key], row[key]);
    best[i].theirSplit = Math.min(best[i].theirSplit, await there('split', row.axis, row.parts));
    best[i].theirJoin = Math.min(best[i].theirJoin, await there('join', row.axis, row.parts));
  }

console.log('| axis | parts | run bytes | memcpy ms | split ms | ONNX Runtime ms | ratio | join ms | ONNX Runtime ms | ratio |\n|---|---|---|---|---|---|---|---|---|---|');
for (const row of best)
  console.log(`| ${row.axis} | ${row.parts} | ${row.run} | ${row.copy.toFixed(2)} | ${row.split.toFixed(2)} | ${row.theirSplit.toFixed(2)} | ${(row.split / row.theirSplit).toFixed(2)} | ${row.join.toFixed(2)} | ${row.theirJoin.toFixed(2)} | ${(row.join / row.theirJoin).toFixed(2)} |`);
