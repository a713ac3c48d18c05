// SPDX-License-Identifier: GPL-2.0-or-later
// optimized.mjs CLEAVE FOLDER: ONNX Runtime saves the networks of classes/make.py after all its optimizations, which
// put the channels of convolutions in blocks (com.microsoft.nchwc). The script runs these files in Cleave, and the
// files that Cleave writes for them in ONNX Runtime. The script compares the results with the results of the original
// network in ONNX Runtime.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { classFiles } from './measure.mjs';
import { cleave, difference, feedsOf, inputsOf, makeFeeds, onnxRuntime, readOutputs, session } from './peer.mjs';

// ONNX Runtime rounds the steps of a quantized network differently at each level of optimization: see classes.mjs.
const tolerance = 1e-4, quantized = /^(qdq|qlinear)/;
const [command, folder] = process.argv.slice(2);
const ort = onnxRuntime(folder);
const scratch = mkdtempSync(join(tmpdir(), 'cleave-optimized-'));
let compared = 0, failed = 0, blocked = 0;

function judge(what, got, want) {
  for (const name of Object.keys(want)) {
    const worst = name in got ? difference(got[name], want[name]) : Infinity;
    compared++;
    if (worst <= tolerance) continue;
    failed++;
    console.log(`FAILED ${what}: ${name}: largest difference ${worst.toExponential(1)}`);
  }
}

function must(what, args) {
  const run = cleave(command, args);
  if (run.status !== 0) throw new Error(`${what}: ${run.error}`);
}

async function check(model) {
  const optimized = join(scratch, `${model.name}-optimized.onnx`), written = join(scratch, `${model.name}-written.onnx`);
  const peer = await session(ort, model.file, 1, { optimizedModelFilePath: optimized, logSeverityLevel: 4 });
  if (!readFileSync(optimized).includes('_nchwc')) return;
  blocked++;
  const out = join(scratch, `${model.name}.results`);
  const { feeds, args } = makeFeeds(ort, { inputs: inputsOf(peer) }, peer.inputNames, join(scratch, model.name));
  const want = await peer.run(feeds);
  mkdirSync(out);
  must('run', ['run', optimized, ...args, '--output-dir', out]);
  judge(model.name, readOutputs(out, Object.keys(want)), want);
  must('split', ['split', optimized, '--for-threads=2', '--check', '-o', written]);
  const other = await session(ort, written);
  judge(`${model.name}, written`, await other.run(feedsOf(other, feeds)), want);
}

const make = fileURLToPath(new URL('classes/make.py', import.meta.url));
const made = spawnSync('python3', [make, scratch, '--set', 'small'], { encoding: 'utf8' });
if (made.status !== 0) throw new Error(made.stderr);
for (const model of classFiles(scratch, 'small').filter(({ name }) => !quantized.test(name))) {
  try {
    await check(model);
  } catch (error) {
    failed++;
    console.log(`FAILED ${model.name}: ${error.message}`);
  }
}
rmSync(scratch, { recursive: true });
console.log(`${blocked} models with channels in blocks, ${compared} outputs compared, ${failed} failed`);
process.exit(failed === 0 && blocked >= 12 ? 0 : 1);
