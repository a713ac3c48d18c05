// SPDX-License-Identifier: GPL-2.0-or-later
// optimise.mjs CLEAVE FOLDER [PASSES [ROUNDS]]: every model as it came and after a pipeline, both run by ONNX Runtime with one
// thread: the results must be the same up to rounding; latencies are the least of alternating rounds.  Then, for each pass of
// `simplify`, of how many models it changes something by itself.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleave, difference, feedsOf, inputArgs, makeFeeds, models, onnxRuntime, session } from './peer.mjs';

const tolerance = 1e-4;
const [command, folder, passes = 'simplify', rounds = '6'] = process.argv.slice(2);
const ort = onnxRuntime(folder);
const scratch = mkdtempSync(join(tmpdir(), 'cleave-opt-'));
const single = ['gather-to-slice', 'drop-results', 'drop-expands', 'merge-clips', 'sink-transposes', 'fold-constants',
  'forward-slices', 'fold-views', 'merge-equal', 'join-elementwise', 'remove-dead', 'fold-batch-norms'];
const fired = Object.fromEntries(single.map((name) => [name, []]));
let failed = 0;

function must(args) {
  const run = cleave(command, args);
  if (run.status !== 0) throw new Error(run.error);
  return run;
}

const time = async (peer, feeds) => {
  const start = process.hrtime.bigint();
  await peer.run(feedsOf(peer, feeds));
  return Number(process.hrtime.bigint() - start) / 1e6;
};

console.log('| model | nodes | after | largest difference | ms | after | ratio |\n|---|---|---|---|---|---|---|');
for (const model of models(['first', 'test', 'bench'])) {
  const path = join(folder, `${model.name}.onnx`), out = join(scratch, 'out.onnx'), args = inputArgs(model, scratch);
  const before = await session(ort, path);
  const { feeds } = makeFeeds(ort, model, before.inputNames, scratch);
  const nodes = (file, more) => JSON.parse(must(['info', file, ...more, '--json']).out).nodes;
  for (const name of single)
    if (/^[-+]/m.test(must(['opt', path, ...args, '-p', name, '--print-changed', '-o', out, '--force']).error)) fired[name].push(model.name);
  must(['opt', path, ...args, '-p', passes, '-o', out, '--force']);
  const after = await session(ort, out);
  const want = await before.run(feeds), got = await after.run(feedsOf(after, feeds));
  const worst = Math.max(...Object.keys(want).map((name) => difference(got[name], want[name])));
  let least = [Infinity, Infinity];
  for (let i = 0; i < Number(rounds); i++) {
    least[0] = Math.min(least[0], await time(before, feeds), await time(before, feeds));
    least[1] = Math.min(least[1], await time(after, feeds), await time(after, feeds));
  }
  if (!(worst <= tolerance)) failed++;
  console.log(`| ${model.name} | ${nodes(path, args)} | ${nodes(out, [])} | ${worst.toExponential(1)} | ${least[0].toFixed(2)} | ${least[1].toFixed(2)} | ${(least[1] / least[0]).toFixed(2)} |`);
}
console.log('\n| pass | models | which |\n|---|---|---|');
for (const name of single) console.log(`| \`${name}\` | ${fired[name].length} | ${fired[name].join(', ')} |`);
rmSync(scratch, { recursive: true });
process.exit(failed === 0 ? 0 : 1);
