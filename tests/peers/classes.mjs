// SPDX-License-Identifier: GPL-2.0-or-later
// classes.mjs CLEAVE FOLDER [SET [NAME,...]]: makes a network of each class with classes/make.py. Without SET, the
// networks are small. Runs each network in Cleave and in ONNX Runtime, whole and split for two threads, and compares
// the outputs.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cleave, difference, feedsOf, inputsOf, makeFeeds, onnxRuntime, readOutputs, session } from './peer.mjs';
import { classFiles } from './measure.mjs';

// Tolerances, relative to the largest value of an output. ONNX Runtime's optimizer is disabled for quantized networks,
// since the optimizer changes the rounding of these networks. A sum that is close to the middle between two integers
// may be rounded up or down. The results then differ by one quantization step, which is at most 1/14 of the largest
// value.
const tolerance = 1e-4;
const roundedTolerance = { 'qdq-efficientnet': 0.08, 'qlinear-residual': 0.03, 'qlinear-inverted': 0.03 };
const quantized = /^(qdq|qlinear)/;
const [command, folder, set = 'small', names = ''] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), 'cleave-classes-'));
let passed = 0, failed = 0;

function tell(good, what, detail) {
  good ? passed++ : failed++;
  console.log(`${good ? 'ok    ' : 'FAILED'} ${what}${detail ? `: ${detail}` : ''}`);
}

function compare(model, what, got, want) {
  const worst = Math.max(...Object.keys(want).map((name) => difference(got[name], want[name])));
  tell(worst <= (roundedTolerance[model.name] ?? tolerance), `${model.name}: ${what}`, `largest difference ${worst.toExponential(1)}`);
}

const open = (ort, model, path) => session(ort, path, 1, quantized.test(model.name) ? { graphOptimizationLevel: 'disabled' } : {});

async function peerRun(ort, model, path, feeds) {
  const peer = await open(ort, model, path);
  const results = await peer.run(feedsOf(peer, feeds));
  await peer.release?.();
  return results;
}

async function check(ort, model) {
  const peer = await open(ort, model, model.file);
  const { feeds, args } = makeFeeds(ort, { inputs: inputsOf(peer) }, peer.inputNames, join(scratch, model.name));
  const want = await peer.run(feeds), out = join(scratch, model.name, 'out'), split = join(scratch, `${model.name}-split.onnx`);
  await peer.release?.();
  for (const threads of ['1', '2']) {
    const run = cleave(command, ['run', model.file, ...args, '--output-dir', out, '--threads', threads]);
    if (run.status === 0) compare(model, `as ONNX Runtime, threads ${threads}`, readOutputs(out, Object.keys(want)), want);
    else tell(false, `${model.name}: runs`, run.error);
  }
  const run = cleave(command, ['split', model.file, '--for-threads', '2', '--check', '-o', split]);
  tell(run.status === 0, `${model.name}: split for 2 threads: bit-identical`, run.error);
  if (run.status === 0) compare(model, 'split for 2 threads: the same in ONNX Runtime', await peerRun(ort, model, split, feeds), want);
}

const made = spawnSync('python3', [fileURLToPath(new URL('classes/make.py', import.meta.url)), scratch, ...(names ? [names] : []), '--set', set],
  { encoding: 'utf8' });
if (made.status !== 0) {
  console.log(made.stdout, made.stderr);
  process.exit(made.status ?? 1);
}
const ort = onnxRuntime(folder);
for (const model of classFiles(scratch, set)) {
  try {
    await check(ort, model);
  } catch (error) {
    tell(false, model.name, error.message);
  }
}
rmSync(scratch, { recursive: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);
