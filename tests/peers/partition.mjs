// SPDX-License-Identifier: GPL-2.0-or-later
// partition.mjs CLEAVE FOLDER DIFFERENTIAL [N [FIRST]]: cuts real models and N random models into parts with `cleave
// partition`. Runs each part in ONNX Runtime, in the order of the schedule, and compares the outputs with the outputs
// of the whole model in ONNX Runtime.
//
// Floats may differ by `tolerance` of the largest value, since ONNX Runtime chooses kernels by the neighbors of a node.
// For a random model, the outputs may agree with the outputs of Cleave instead. Some kernels of ONNX Runtime are wrong.
// In the whole model, ONNX Runtime may fold the nodes of these kernels, so that only the parts have the wrong results.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleave, difference, feedsOf, inputArgs, makeFeeds, models, onnxRuntime, session } from './peer.mjs';

const tolerance = 1e-4;
const [command, folder, differential, n = '60', first = '1'] = process.argv.slice(2);
const names = ['blazeface-front', 'fr_eye', 'fr_age', 'cls', 'alexa'];
const ort = onnxRuntime(folder);
const scratch = mkdtempSync(join(tmpdir(), 'cleave-parts-'));
const quiet = { logSeverityLevel: 4 };
let failed = 0;
const counts = { compared: 0, parts: 0 };

async function runParts(parts, schedule, feeds) {
  const values = { ...feeds };
  for (const part of schedule.parts) {
    const peer = await session(ort, join(parts, part.file), 1, quiet);
    const results = await peer.run(Object.fromEntries(part.reads.map(({ name }) => [name, values[name]])));
    for (const { name } of part.writes) values[name] = results[name];
    for (const name of part.frees) delete values[name];
    await peer.release?.();
  }
  return Object.fromEntries(schedule.outputs.map(({ name, value }) => [name, values[value]]));
}

// Returns the bytes of the whole model as a single part.
function wholeBytes(path, args) {
  const run = cleave(command, ['partition', path, ...args, '--parts', '1', '-d', join(scratch, 'one')]);
  if (run.status !== 0) throw new Error(run.error);
  const [part] = JSON.parse(readFileSync(join(scratch, 'one', 'schedule.json'), 'utf8')).parts;
  return part.weight_bytes + part.arena_bytes;
}

// Returns whether a model runs in ONNX Runtime if no node is folded: some ops and attributes have no kernel there.
async function runsAsWritten(path) {
  try {
    await session(ort, path, 1, { ...quiet, graphOptimizationLevel: 'disabled' });
    return true;
  } catch {
    return false;
  }
}

// Cuts a model into parts and runs them. If an output agrees with no output in `wants` within the tolerance, prints a
// message and counts a failure.
async function check(what, path, args, cut, feeds, ...wants) {
  const parts = join(scratch, 'parts');
  rmSync(parts, { recursive: true, force: true });
  const run = cleave(command, ['partition', path, ...args, ...cut, '-d', parts]);
  if (/limit not met|cannot be cut into/.test(run.error)) return;
  if (run.status !== 0) throw new Error(`${what}: ${run.error}`);
  const schedule = JSON.parse(readFileSync(join(parts, 'schedule.json'), 'utf8'));
  const got = await runParts(parts, schedule, feeds);
  counts.compared++;
  counts.parts += schedule.parts.length;
  const worst = Math.max(0, ...Object.keys(wants[0]).map((name) => Math.min(...wants.map((want) => difference(got[name], want[name])))));
  if (worst <= tolerance) return;
  failed++;
  console.log(`FAILED ${what}: ${cut.join(' ')}: ${schedule.parts.length} parts: largest difference ${worst.toExponential(1)}`);
}

async function checkModel(model) {
  const path = join(folder, `${model.name}.onnx`), split = join(scratch, `${model.name}.onnx`);
  const args = inputArgs(model, scratch), peer = await session(ort, path);
  const { feeds } = makeFeeds(ort, model, peer.inputNames, scratch);
  const want = await peer.run(feedsOf(peer, feeds));
  const run = cleave(command, ['split', path, ...args, '--for-threads', '2', '-o', split, '--force']);
  if (run.status !== 0) throw new Error(run.error);
  await check(model.name, split, [], [], feeds, want);
  for (const cut of [['--parts', '2'], ['--parts', '5'], ['--max-bytes', `${Math.ceil(0.7 * wholeBytes(path, args))}`]])
    await check(model.name, path, args, cut, feeds, want);
}

const arrays = { float32: Float32Array, float64: Float64Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array,
  int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array, bool: Uint8Array };

// Checks a random model. Skips it if ONNX Runtime cannot run the file that Cleave writes for it, or if a value is special,
// since ONNX Runtime's kernels multiply special values by padding.
async function checkRandom(made, seed) {
  const { text, inputs, outputs } = JSON.parse(readFileSync(join(made, `${seed}.json`)));
  const bytes = readFileSync(join(made, `${seed}.bin`)), path = join(made, `${seed}.onnx`);
  if (/float16/.test(text) || text.startsWith('special values')) return;
  const read = (values) => Object.fromEntries(values.map(({ name, type, dims, at, size }) => [name,
    new ort.Tensor(type, new arrays[type](bytes.buffer.slice(bytes.byteOffset + at, bytes.byteOffset + at + size)), dims)]));
  const feeds = read(inputs), own = read(outputs);
  let want;
  try {
    want = await (await session(ort, path, 1, quiet)).run(feeds);
  } catch {
    return; // ONNX Runtime has no kernel for a node
  }
  if ([...Object.values(want), ...Object.values(own)].some(({ data }) => data.some((v) => !Number.isFinite(Number(v))))) return;
  const nBytes = wholeBytes(path, []);
  if (!await runsAsWritten(join(scratch, 'one', 'part-000.onnx'))) return;
  for (const cut of [['--parts', `${2 + seed % 4}`], ['--max-bytes', `${Math.ceil(0.6 * nBytes) || 1}`]])
    await check(`random model ${seed}`, path, [], cut, feeds, want, own);
}

for (const model of models(['first', 'test']).filter(({ name }) => names.includes(name))) await checkModel(model);
const run = spawnSync(differential, ['--write', scratch, '--nodes', '12', '--first', first, '-n', n], { encoding: 'utf8' });
if (run.status !== 0) console.log(run.stdout, run.stderr);
for (const file of readdirSync(scratch).filter((name) => /^[0-9]+\.json$/.test(name))) await checkRandom(scratch, Number(file.slice(0, -5)));
rmSync(scratch, { recursive: true });
console.log(`${counts.compared} partitions of ${counts.parts} parts compared, ${failed} failed`);
process.exit(failed === 0 && counts.compared >= 4 * names.length && counts.parts > 2 * counts.compared ? 0 : 1);
