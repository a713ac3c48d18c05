// SPDX-License-Identifier: GPL-2.0-or-later
// optimise.mjs CLEAVE FOLDER [PASSES [ROUNDS]]: every model of the zoo as it came and after a pipeline, both run by ONNX Runtime
// with one thread: the results must be the same up to rounding; latencies are the least of alternating rounds.  Then, for each
// pass without options, what it changes by itself in them and in the small network of each class: the tables of
// docs/pipelines.md.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { classFiles } from './measure.mjs';
import { cleave, difference, feedsOf, inputArgs, makeFeeds, models, onnxRuntime, session } from './peer.mjs';

const tolerance = 1e-4;
const [command, folder, passes = 'simplify', rounds = '12'] = process.argv.slice(2);
const ort = onnxRuntime(folder);
const scratch = mkdtempSync(join(tmpdir(), 'cleave-opt-'));
const out = join(scratch, 'out.onnx');
let failed = 0;

function must(args) {
  const run = cleave(command, args);
  if (run.status !== 0) throw new Error(run.error);
  return run;
}

// Those that stand for a pipeline have a line with it, and those with options have a line for each.
const single = must(['opt', '--list-passes']).out.split(/\n(?=\S)/).filter((text) => text.trim().split('\n').length === 2)
  .map((text) => text.split('\n')[0]);
const fired = Object.fromEntries(single.map((name) => [name, { models: [], lines: 0 }]));

const nodes = (file, more) => JSON.parse(must(['info', file, ...more, '--json']).out).nodes;

const time = async (peer, feeds) => {
  const start = process.hrtime.bigint();
  await peer.run(feedsOf(peer, feeds));
  return Number(process.hrtime.bigint() - start) / 1e6;
};

// Of each pass by itself, the nodes that came or, where none did, that went.
function tryPasses(name, path, args) {
  for (const pass of single) {
    const lines = must(['opt', path, ...args, '-p', pass, '--print-changed', '-o', out, '--force']).error.split('\n');
    const came = lines.filter((line) => line.startsWith('+')).length, went = lines.filter((line) => line.startsWith('-')).length;
    if (came + went === 0) continue;
    fired[pass].models.push(name);
    fired[pass].lines += came || went;
  }
}

// The least time of each of two models.  Whichever a process loads first has the better memory, up to half as fast again, so each
// is first once.
async function race(paths, feeds) {
  const least = [Infinity, Infinity];
  for (const order of [[0, 1], [1, 0]]) {
    const peers = [];
    for (const which of order) peers.push(await session(ort, paths[which]));
    for (let i = 0; i < Number(rounds); i++)
      for (const k of [0, 1])
        least[order[k]] = Math.min(least[order[k]], await time(peers[k], feeds), await time(peers[k], feeds));
    for (const peer of peers) await peer.release?.();
  }
  return least;
}

async function compare(model) {
  const path = join(folder, `${model.name}.onnx`), args = inputArgs(model, scratch);
  const before = await session(ort, path);
  const { feeds } = makeFeeds(ort, model, before.inputNames, scratch);
  tryPasses(model.name, path, args);
  must(['opt', path, ...args, '-p', passes, '-o', out, '--force']);
  const after = await session(ort, out);
  const want = await before.run(feeds), got = await after.run(feedsOf(after, feeds));
  const worst = Math.max(...Object.keys(want).map((name) => difference(got[name], want[name])));
  await before.release?.();
  await after.release?.();
  const least = await race([path, out], feeds);
  if (!(worst <= tolerance)) failed++;
  console.log(`| ${model.name} | ${nodes(path, args)} | ${nodes(out, [])} | ${worst.toExponential(1)} | ${least[0].toFixed(2)} | ${least[1].toFixed(2)} | ${(least[1] / least[0]).toFixed(2)} |`);
}

console.log('| model | nodes | after | largest difference | ms | after | ratio |\n|---|---|---|---|---|---|---|');
for (const model of models(['first', 'test', 'bench'])) await compare(model);

const made = spawnSync('python3', [fileURLToPath(new URL('classes/make.py', import.meta.url)), scratch, '--set', 'small'], { encoding: 'utf8' });
if (made.status === 0) for (const model of classFiles(scratch, 'small')) tryPasses(model.name, model.file, []);
else console.log(`\nwithout the classes: ${made.stderr.trim().split('\n').at(-1)}`);
console.log('\n| pass | models | nodes | which |\n|---|---|---|---|');
for (const name of single) console.log(`| \`${name}\` | ${fired[name].models.length} | ${fired[name].lines} | ${fired[name].models.join(', ')} |`);
rmSync(scratch, { recursive: true });
process.exit(failed === 0 ? 0 : 1);
