// SPDX-License-Identifier: GPL-2.0-or-later
// real-models.mjs CLEAVE FOLDER [ZOO,...]: runs every model in Cleave and in ONNX Runtime, whole and split, and
// compares the outputs. The tolerance is 1e-4 of an output's largest value, since the two systems add in different
// orders. `cleave split --check` compares the split and the whole model bit for bit.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleave, difference, feedsOf, inputArgs, makeFeeds, models, onnxRuntime, readOutputs, session } from './peer.mjs';

const tolerance = 1e-4;
// The tolerance for large models. One of them computes in float16, and one rounds to bytes between all convolutions, so
// a difference of one step grows from layer to layer. Another optimization level changes ONNX Runtime's results of the
// float16 model by 1e-3. A change of the last bit of the input changes the results of the other model by 0.26.
const largeTolerance = 0.1, largeTimeout = 2 * 3600 * 1000;
const [command, folder, zoos = 'first,test,bench,refuse'] = process.argv.slice(2);
const ort = onnxRuntime(folder);
const scratch = mkdtempSync(join(tmpdir(), 'cleave-peers-'));
let passed = 0, failed = 0;

function tell(good, what, detail) {
  good ? passed++ : failed++;
  console.log(`${good ? 'ok    ' : 'FAILED'} ${what}${detail ? `: ${detail}` : ''}`);
}

function compare(what, got, want, limit = tolerance) {
  const worst = Math.max(...Object.keys(want).map((name) => difference(got[name], want[name])));
  tell(worst <= limit, what, `largest difference ${worst.toExponential(1)}`);
}

async function peerRun(path, feeds) {
  const peer = await session(ort, path);
  const results = await peer.run(feedsOf(peer, feeds));
  await peer.release?.();
  return results;
}

// Splits, checks bit for bit in Cleave, and runs the written model in ONNX Runtime.
async function checkSplit(model, what, args, feeds, want) {
  const out = join(scratch, `${model.name}-split.onnx`);
  const run = cleave(command, ['split', model.path, ...model.args, ...args, '--check', '--json', '-o', out]);
  if (/no node can take the option/.test(run.error)) return null; // a network without rows
  tell(run.status === 0, `${model.name}: ${what}: bit-identical`, run.error);
  if (run.status !== 0) return null;
  const report = JSON.parse(run.out);
  try {
    compare(`${model.name}: ${what}: the same in ONNX Runtime (${report.split.length} nodes split)`, await peerRun(out, feeds), want);
  } catch (error) {
    tell(false, `${model.name}: ${what}: the split model runs in ONNX Runtime`, error.message);
  }
  return report;
}

async function checkModel(model) {
  const peer = await session(ort, model.path);
  const { feeds, args } = makeFeeds(ort, model, peer.inputNames, join(scratch, model.name));
  const want = await peer.run(feeds);
  const folderOut = join(scratch, model.name, 'out'), isLarge = model.zoo === 'large';
  const run = cleave(command, ['run', model.path, ...model.args, ...args, '--output-dir', folderOut, '--threads', '1'],
    isLarge ? largeTimeout : undefined);
  tell(run.status === 0, `${model.name}: runs`, run.error);
  if (run.status === 0) compare(`${model.name}: as ONNX Runtime`, readOutputs(folderOut, Object.keys(want)), want, isLarge ? largeTolerance : tolerance);
  if (isLarge) return;

  await checkSplit(model, 'for 2 threads', ['--for-threads', '2'], feeds, want);
  const report = await checkSplit(model, 'every node in 2 along H', ['--all', '--dims', 'H', '--num-chunks', '2'], feeds, want);
  const ends = (report?.split ?? []).filter((node) => /^(Conv|MaxPool|AveragePool)$/.test(node.op));
  if (ends.length === 0) return;
  const { node: middle, pieces } = ends[Math.floor(ends.length / 2)];
  const rows = Math.max(...pieces.map((piece) => piece.range[piece.range.length === 4 ? 2 : 1][1]));
  for (const chunks of [2, Math.min(4, rows)])
    for (const halo of ['recompute', 'carry'])
      await checkSplit(model, `6 deep from ${middle} in ${chunks}, ${halo}`,
        ['--node', middle, '--dims', 'H', '--num-chunks', `${chunks}`, '--depth', '6', '--halo', halo], feeds, want);
}

for (const model of models(zoos.split(','))) {
  model.path = join(folder, `${model.name}.onnx`);
  model.args = inputArgs(model, join(scratch, model.name));
  if (model.zoo === 'refuse') {
    const run = cleave(command, ['info', model.path]);
    tell(run.status === 2 && /^cleave: .*(If|LSTM|Loop|Scan) '.*': opset [0-9]+/.test(run.error), `${model.name}: refused by name`, run.error);
    continue;
  }
  try {
    await checkModel(model);
  } catch (error) {
    tell(false, model.name, error.stack);
  }
}
rmSync(scratch, { recursive: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
