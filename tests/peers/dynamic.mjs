// SPDX-License-Identifier: GPL-2.0-or-later
// dynamic.mjs CLEAVE FOLDER: runs the models of ../help/dynamic_models.py, whose shapes depend on data, in Cleave and in ONNX
// Runtime, each on several inputs. Also runs the files that Cleave writes for these models in ONNX Runtime. Compares shapes
// and values. Floats may differ by `tolerance` of the largest value.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cleave, difference, inputsOf, onnxRuntime, readOutputs, session } from './peer.mjs';
import { writeNpy } from './npy.mjs';

const tolerance = 1e-5, inputsEach = 3;
const [command, folder] = process.argv.slice(2);
const ort = onnxRuntime(folder);
const scratch = mkdtempSync(join(tmpdir(), 'cleave-dynamic-'));
let failed = 0, compared = 0;

function fail(what) {
  failed++;
  console.log(`FAILED ${what}`);
}

function judge(what, got, want) {
  for (const [name, tensor] of Object.entries(want)) {
    compared++;
    if (!(name in got)) fail(`${what}: ${name} is missing`);
    else if (`${got[name].dims}` !== `${tensor.dims}`) fail(`${what}: ${name}: ${got[name].dims}, not ${tensor.dims}`);
    else if (!(difference(got[name], tensor) <= tolerance)) fail(`${what}: ${name}: largest difference ${difference(got[name], tensor).toExponential(1)}`);
  }
}

// Returns smooth values around a mean that depends on the seed, so that other elements are above a threshold.
function makeValues(shape, seed) {
  const n = shape.reduce((a, b) => a * b, 1);
  return Float32Array.from({ length: n }, (_, i) => Math.sin(i * (0.7 + seed) + seed) + (seed - 1) * 0.4);
}

// Returns words of which some are keys of the models' maps.
function makeWords(shape, seed) {
  const n = shape.reduce((a, b) => a * b, 1), words = ['a', 'Vögel', 'small fish', 'e', '', 'i'];
  return Array.from({ length: n }, (_, i) => words[(i * 5 + seed) % words.length]);
}

const steps = {
  rewritten: ['opt', '-p', 'clean-up'],
  split: ['split', '--all', '--dims=-1', '--num-chunks=2', '--check', '--keep-going'],
  threads: ['split', '--for-threads=2', '--check'],
  fitted: ['fit', '--check'],
  'fitted-ort': ['fit', '--for=ort', '--check'],
};

const peerOutputs = (results) => Object.fromEntries(Object.entries(results).map(([name, tensor]) => [name, { dims: tensor.dims, data: tensor.data }]));

function write(path, step) {
  const out = path.replace(/\.onnx$/, `-${step}.onnx`), [verb, ...options] = steps[step];
  const run = cleave(command, [verb, path, ...options, '-o', out]);
  if (run.status === 2 || /differs/.test(run.out)) fail(`${step} ${path}: ${run.error} ${run.out}`);
  return run.status === 2 ? null : out;
}

async function check(file) {
  const path = join(scratch, file), peer = await session(ort, path, 1, { logSeverityLevel: 4 });
  const written = [];
  for (const step of Object.keys(steps)) {
    const out = write(path, step);
    if (out) written.push([step, await session(ort, out, 1, { logSeverityLevel: 4 })]);
  }
  for (let seed = 0; seed < inputsEach; seed++) {
    const results = join(scratch, `${file}.${seed}`), feeds = {}, inputs = [];
    for (const { name, type, shape } of inputsOf(peer)) {
      const values = type === 'string' ? makeWords(shape, seed) : makeValues(shape, seed), path = join(scratch, `${name}.npy`);
      feeds[name] = new ort.Tensor(type, values, shape);
      writeNpy(path, type, shape, values);
      inputs.push('--input', `${name}=${path}`);
    }
    const want = await peer.run(feeds);
    mkdirSync(results);
    const run = cleave(command, ['run', path, ...inputs, '--output-dir', results]);
    if (run.status !== 0) fail(`${file}: ${run.error}`);
    else judge(`${file}, input ${seed}`, readOutputs(results, Object.keys(want)), want);
    for (const [step, other] of written) judge(`${file}, ${step}, input ${seed}`, peerOutputs(await other.run(feeds)), want);
  }
}

const made = spawnSync('python3', [join(dirname(fileURLToPath(import.meta.url)), '..', 'help', 'dynamic_models.py'), scratch], { encoding: 'utf8' });
if (made.status !== 0) throw new Error(made.stderr);
for (const file of readdirSync(scratch).filter((name) => name.endsWith('.onnx'))) {
  try {
    await check(file);
  } catch (error) {
    fail(`${file}: ${error.message}`);
  }
}
rmSync(scratch, { recursive: true });
console.log(`${compared} outputs compared, ${failed} failed`);
process.exit(failed === 0 && compared >= 100 ? 0 : 1);
