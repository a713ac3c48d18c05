// SPDX-License-Identifier: GPL-2.0-or-later
// bench-classes.mjs BUILD FOLDER DIR [--set used|held] [--rounds N] [--steps] [--json FILE] [NAME,...]: prints a table
// of the latency of a network of each class, in Cleave and in ONNX Runtime. DIR has the output of classes/make.py.
// Without --set, measures both sets. --steps: for a machine with other load: combines the least time of each step in
// Cleave, and of each node in ONNX Runtime, over many runs. This does not show how two threads of Cleave affect each
// other, and two threads of ONNX Runtime need two idle processors.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { classFiles, geometricMean, here, measure, ms } from './measure.mjs';
import { leastOfNodes, leastOfSteps } from './steps.mjs';

const { values: options, positionals: [build, folder, dir, names] } = parseArgs({ allowPositionals: true, options: {
  set: { type: 'string' }, rounds: { type: 'string', default: '5' }, steps: { type: 'boolean' }, json: { type: 'string' } } });
const command = join(build, 'tools/cleave');
const list = (options.set ? [options.set] : ['used', 'held']).flatMap((set) => classFiles(dir, set))
  .filter((model) => !names || names.split(',').includes(model.name));
if (list.length === 0) throw new Error(`no network in ${dir}: make them with classes/make.py`);

const mean = (rows, of) => `**${geometricMean(rows.map(of)).toFixed(2)}**`;
// Returns the share of the total time that steps on reference kernels took.
function referenceShare(command, model) {
  const { steps } = here(command, model, 1, 5, ['--profile']).run;
  const time = (some) => some.reduce((sum, step) => sum + step.nanoseconds, 0);
  return time(steps.filter((step) => step.reference)) / time(steps);
}

// Returns the result of measure(), with times that are combined from the least times of steps and nodes.
async function measureSteps(model, threads) {
  const ours = [], theirs = [], repeat = 30;
  for (let round = 0; round < rounds; round++) {
    ours.push(leastOfSteps(command, model, threads, 1, repeat, true).latency);
    theirs.push((await leastOfNodes(folder, model, threads, repeat)).latency);
  }
  const least = [ours, theirs].map((list) => Math.min(...list));
  const spread = Math.max(...ours.map((x) => x / least[0]), ...theirs.map((x) => x / least[1])) - 1;
  return { ours: least[0], theirs: least[1], ratio: least[0] / least[1], spread, run: here(command, model, threads, 1).run };
}

const rows = [], rounds = Number(options.rounds);
console.log(`Least of ${rounds} rounds, ms${options.steps ? ', of each step' : ''}.  Reference: share of the time of one thread in reference kernels.\n`);
console.log('| set | class | Cleave 1 | ONNX Runtime 1 | ratio 1 | Cleave 2 | ONNX Runtime 2 | ratio 2 | two threads against one | reference |\n|---|---|---|---|---|---|---|---|---|---|');
for (const model of list) {
  const measured = (threads) => options.steps ? measureSteps(model, threads) : measure(command, folder, model, threads, rounds);
  const one = await measured(1), two = await measured(2);
  const row = { set: model.set, name: model.name, ours: [one.ours, two.ours], theirs: [one.theirs, two.theirs], ratio: [one.ratio, two.ratio],
    speedup: one.ours / two.ours, reference: referenceShare(command, model), spread: [one.spread, two.spread],
    weight_bytes: one.run.weight_bytes, arena_bytes: [one.run.arena_bytes, two.run.arena_bytes] };
  rows.push(row);
  console.log(`| ${row.set} | ${row.name} | ${ms(one.ours)} | ${ms(one.theirs)} | ${one.ratio.toFixed(2)} | ${ms(two.ours)} | ${ms(two.theirs)} | ${two.ratio.toFixed(2)} | ${row.speedup.toFixed(2)} | ${(100 * row.reference).toFixed(0)} % |`);
}
for (const set of new Set(rows.map((row) => row.set))) {
  const some = rows.filter((row) => row.set === set);
  console.log(`| ${set} | geometric mean | | | ${mean(some, (row) => row.ratio[0])} | | | ${mean(some, (row) => row.ratio[1])} | ${mean(some, (row) => row.speedup)} | |`);
}
if (options.json) writeFileSync(options.json, `${JSON.stringify(rows, null, 2)}\n`);
