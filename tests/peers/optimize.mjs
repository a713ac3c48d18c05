// SPDX-License-Identifier: GPL-2.0-or-later
// optimize.mjs CLEAVE FOLDER [PASSES [ROUNDS]]: runs every model of the zoo unchanged and after a pipeline, both in ONNX
// Runtime with one thread. The results must be equal up to rounding. Prints the number of nodes after ONNX Runtime's
// optimizer and the latency: the median of alternating rounds, each in a process of its own, and the range of the middle
// half of the ratios. Then, for each pass without options, prints its changes in these models and in the small network
// of each class: the tables of bench/results/passes.md.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { call, classFiles, latency, median, ms } from './measure.mjs';
import { cleave, difference, feedsOf, inputArgs, makeFeeds, models, onnxRuntime, session } from './peer.mjs';

const tolerance = 1e-4;
const [command, folder, passes = 'simplify', rounds = '9'] = process.argv.slice(2);
const ort = onnxRuntime(folder);
const scratch = mkdtempSync(join(tmpdir(), 'cleave-opt-'));
const out = join(scratch, 'out.onnx');
let failed = 0;

function must(args) {
  const run = cleave(command, args);
  if (run.status !== 0) throw new Error(run.error);
  return run;
}

// The passes without options. In the list of passes, a name that stands for a pipeline is followed by a line with the pipeline,
// and a pass with options by a line for each option.
const single = must(['opt', '--list-passes']).out.split(/\n(?=\S)/).filter((text) => text.trim().split('\n').length === 2)
  .map((text) => text.split('\n')[0]);
const fired = Object.fromEntries(single.map((name) => [name, { models: [], lines: 0 }]));

const nodes = (file, more) => JSON.parse(must(['info', file, ...more, '--json']).out).nodes;

// Tries each pass alone on a model, and counts in `fired` the nodes that the pass adds. If a pass adds no nodes, counts
// the nodes that it removes.
function tryPasses(model, path, args) {
  for (const pass of single) {
    const printed = must(['opt', path, ...args, '-p', pass, '--print-changed', '-o', out, '--force']).error.split('\n');
    const came = printed.filter((line) => line.startsWith('+')).length, went = printed.filter((line) => line.startsWith('-')).length;
    if (came + went === 0) continue;
    const { models: among, most } = fired[pass], lines = came || went;
    among.push(model.name);
    fired[pass].lines += lines;
    if (!(lines <= most?.lines)) fired[pass].most = { lines, model, path, args };
  }
}

// Returns cells of the table: the median latencies of two models in alternating rounds, and the median and middle half
// of their ratios. Each round runs a model for about a third of a second.
function race(model, paths) {
  const time = (path, repeat) => JSON.parse(call(process.execPath, latency, folder, path, model.text ?? '-', 1, repeat)).min;
  const repeat = Math.max(5, Math.min(1000, Math.ceil(330 / time(paths[0], 5)))), times = [[], []];
  for (let i = 0; i < Number(rounds); i++)
    for (const k of i % 2 ? [1, 0] : [0, 1]) times[k].push(time(paths[k], repeat));
  const ratios = times[1].map((one, i) => one / times[0][i]).sort((a, b) => a - b);
  const at = (part) => ratios[Math.round(part * (ratios.length - 1))].toFixed(2);
  return `${ms(median(times[0]))} | ${ms(median(times[1]))} | ${at(1 / 2)} | ${at(1 / 4)} to ${at(3 / 4)}`;
}

// Returns the nodes of a model: field 1 of its field 7, the graph.
function countNodes(bytes) {
  const number = (at) => {
    let value = 0, shift = 1, byte;
    do { byte = bytes[at++]; value += (byte & 127) * shift; shift *= 128; } while (byte & 128);
    return [value, at];
  };
  const fields = (at, end, visit) => {
    while (at < end) {
      let [key, next] = number(at), size = [0, 8, 0, 0, 0, 4][key & 7];
      if ((key & 7) === 0) [, next] = number(next);
      if ((key & 7) === 2) [size, next] = number(next);
      visit(key >> 3, next, next + size);
      at = next + size;
    }
  };
  let n = 0;
  fields(0, bytes.length, (field, begin, end) => field === 7 && fields(begin, end, (inner) => { n += inner === 1; }));
  return n;
}

// Returns the number of nodes of a model after ONNX Runtime's optimizer.
async function countRun(path) {
  const optimized = join(scratch, 'optimized.onnx');
  await (await session(ort, path, 1, { optimizedModelFilePath: optimized })).release?.();
  return countNodes(readFileSync(optimized));
}

async function compare(model) {
  const path = join(folder, `${model.name}.onnx`), args = inputArgs(model, scratch);
  const before = await session(ort, path);
  const { feeds } = makeFeeds(ort, model, before.inputNames, scratch);
  tryPasses(model, path, args);
  must(['opt', path, ...args, '-p', passes, '-o', out, '--force']);
  const after = await session(ort, out);
  const want = await before.run(feeds), got = await after.run(feedsOf(after, feeds));
  const worst = Math.max(...Object.keys(want).map((name) => difference(got[name], want[name])));
  await before.release?.();
  await after.release?.();
  if (!(worst <= tolerance)) failed++;
  console.log(`| ${model.name} | ${nodes(path, args)} | ${nodes(out, [])} | ${await countRun(path)} | ${await countRun(out)} | ` +
    `${worst.toExponential(1)} | ${race(model, [path, out])} |`);
}

console.log('| model | nodes | after | as run | after | largest difference | ms | after | ratio | half of them |\n|---|---|---|---|---|---|---|---|---|---|');
for (const model of models(['first', 'test', 'bench'])) await compare(model);

const made = spawnSync('python3', [fileURLToPath(new URL('classes/make.py', import.meta.url)), scratch, '--set', 'small'], { encoding: 'utf8' });
if (made.status === 0) for (const model of classFiles(scratch, 'small')) tryPasses(model, model.file, []);
else console.log(`\nwithout the classes: ${made.stderr.trim().split('\n').at(-1)}`);
// Prints for each pass the number of models that the pass changes. For the model with most changes, also prints the
// effect in ONNX Runtime.
console.log('\n| pass | models | nodes | most in | nodes | after | ms | after | ratio | half of them | which |\n|---|---|---|---|---|---|---|---|---|---|---|');
for (const name of single) {
  const { models: among, lines, most } = fired[name];
  if (most !== undefined) must(['opt', most.path, ...most.args, '-p', name, '-o', out, '--force']);
  const what = most === undefined ? ' | | | | | | '
    : `${most.model.name} | ${nodes(most.path, most.args)} | ${nodes(out, [])} | ${race(most.model, [most.path, out])}`;
  console.log(`| \`${name}\` | ${among.length} | ${lines} | ${what} | ${among.join(', ')} |`);
}
rmSync(scratch, { recursive: true });
process.exit(failed === 0 ? 0 : 1);
