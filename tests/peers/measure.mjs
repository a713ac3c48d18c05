// SPDX-License-Identifier: GPL-2.0-or-later
// Shared by the benchmarks: measures the latency of a model in Cleave and in ONNX Runtime, in alternating rounds.

import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const latency = join(dirname(fileURLToPath(import.meta.url)), 'latency.mjs');

export const call = (program, ...args) => execFileSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 26, stdio: ['ignore', 'pipe', 'inherit'] });
export const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
export const geometricMean = (list) => Math.exp(list.reduce((sum, x) => sum + Math.log(x), 0) / list.length);
export const ms = (x) => x.toFixed(x < 10 ? 3 : 1);

// The networks that classes/make.py wrote.
export function classFiles(folder, set) {
  return readdirSync(join(folder, set)).filter((name) => name.endsWith('.onnx')).sort()
    .map((name) => ({ name: basename(name, '.onnx'), set, file: resolve(folder, set, name) }));
}

// Runs a model in Cleave. Returns its latencies, and the report as `run`. A model without `shape` has no free dimension.
export function here(command, model, threads, repeat, more = []) {
  const shape = model.shape ? ['--shape', model.shape.join(',')] : [];
  const run = JSON.parse(call(command, 'run', model.file, ...shape, '--threads', threads, '--repeat', repeat, '--json', ...more));
  return { ...run.latency_ms, run };
}

const there = (folder, model, threads, repeat) => JSON.parse(call(process.execPath, latency, folder, model.file, model.shape?.join(',') ?? '-', threads, repeat));

// Returns the number of runs that take a third of a second, at least 5.
export function measure(command, folder, model, threads, rounds) {
  const repeat = Math.max(5, Math.min(200, Math.ceil(330 / here(command, model, threads, 3).min)));
  const ours = [], theirs = [];
  for (let round = 0; round < rounds; round++) {
    ours.push(here(command, model, threads, repeat));
    theirs.push(there(folder, model, threads, repeat));
  }
  const least = (list) => Math.min(...list.map((one) => one.min));
  const spread = (list) => Math.max(...list.map((one) => one.min)) / least(list) - 1;
  return { model, threads, ours: least(ours), theirs: least(theirs), ratio: least(ours) / least(theirs),
    medians: [median(ours.map((one) => one.median)), median(theirs.map((one) => one.median))],
    medianRatio: median(ours.map((one, i) => one.median / theirs[i].median)),
    spread: Math.max(spread(ours), spread(theirs)), run: ours[0].run, growth: median(theirs.map((one) => one.growth)) };
}
