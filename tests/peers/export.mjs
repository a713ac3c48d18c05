// SPDX-License-Identifier: GPL-2.0-or-later
// export.mjs CLEAVE FOLDER DIFFERENTIAL [N [PARTS [FIRST [ONLY]]]]: checks that files exported by Cleave are valid in
// ONNX Runtime. Reads every operator test of ONNX (libonnx-testdata) and N random models of each size. Exports them
// unchanged, simplified, split in several ways and fitted, and runs the files in ONNX Runtime. If PARTS is 1, each
// model is exported in all forms. Otherwise, the forms are divided into PARTS parts: a model is exported in the forms
// of one part, and the next model in the forms of the next part. ONLY: only models whose name contains this.
//
// Each result must agree with ONNX Runtime's result for the original model, or with Cleave's result. Integers must be
// equal. Floats may differ by `tolerances` of the largest value. Quotients that are rounded to bytes may differ by one
// step. Results of models with special values are not compared, since ONNX Runtime's kernels multiply special values by
// padding. If the original does not run in ONNX Runtime, NaNs are not compared. Results of long models are not compared
// either, since a last bit may decide an index. A file may fail only if the original fails, too: because a kernel is
// missing, or with the same message.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onnxRuntime, session } from './peer.mjs';
import { readBorder, readTensor } from './onnx-tensor.mjs';

const data = '/usr/share/libonnx-testdata/data';
const groups = ['node', 'simple', 'pytorch-operator', 'pytorch-converted'];
const sizes = [2, 12];
const tolerances = { float32: 1e-4, float64: 1e-8, float16: 5e-3 };
const LAST = Symbol('the node of the first output');
const forms = [
  ['as it is', 'opt', '-p', 'remove-dead'],
  ['simplified', 'opt', '-p', 'simplify'],
  ['in 2 along 2', 'split', '--all', '--dims', '2', '--num-chunks', '2'],
  ['in 3 along 0', 'split', '--all', '--dims', '0', '--num-chunks', '3'],
  ['by ones along -1', 'split', '--all', '--dims', '-1', '--chunk-size', '1', '--max-pieces', '16'],
  ['in 2 by 2', 'split', '--all', '--dims', '0,1', '--num-chunks', '2,2'],
  ['1 to 2 along 1', 'split', '--all', '--dims', '1', '--chunk-weights', '1,2'],
  ['for 2 threads', 'split', '--for-threads', '2'],
  ['4 deep, recompute', 'split', '--node', LAST, '--dims', '-2', '--num-chunks', '2', '--depth', '4'],
  ['4 deep, carry', 'split', '--node', LAST, '--dims', '-2', '--num-chunks', '3', '--depth', '4', '--halo', 'carry'],
  ['4 deep, exchange', 'split', '--node', LAST, '--dims', '0', '--num-chunks', '2', '--depth', '4', '--halo', 'exchange'],
  ['fitted', 'fit'],
  ['fitted for ONNX Runtime', 'fit', '--for', 'ort'],
];
const arrays = { float32: Float32Array, float64: Float64Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array,
  int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array, bool: Uint8Array, float16: Uint16Array };

const [command, folder, differential, n = '300', parts = '1', first = `${Date.now()}`, only = ''] = process.argv.slice(2);
const ort = onnxRuntime(folder);
const scratch = mkdtempSync(join(tmpdir(), 'cleave-export-'));
const counts = {}, refusals = {};
let failed = 0, checked = 0;

const count = (what) => { counts[what] = (counts[what] ?? 0) + 1; };

function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * fraction / 1024);
}

const number = (type, value) => type === 'float16' ? half(value) : Number(value);

// Returns the reason why two tensors differ, or undefined if they agree. `loosely`: a NaN equals any number.
function compare(got, want, loosely) {
  if (`${got.dims}` !== `${want.dims}`) return `shape ${got.dims}, not ${want.dims}`;
  if (got.type !== want.type) return `${got.type}, not ${want.type}`;
  const { type } = want, scale = want.data.reduce((most, v) => Math.max(most, Number.isFinite(number(type, v)) ? Math.abs(number(type, v)) : 0), 1e-6);
  const most = type in tolerances ? tolerances[type] * scale : type === 'int8' || type === 'uint8' ? 1 : 0;
  for (let i = 0; i < want.data.length; i++) {
    const a = number(type, got.data[i]), b = number(type, want.data[i]);
    const same = a === b || (loosely ? Number.isNaN(a) || Number.isNaN(b) : Number.isNaN(a) && Number.isNaN(b));
    if (!same && !(Math.abs(a - b) <= most)) return `element ${i} is ${a}, not ${b}`;
  }
}

const tensor = ({ type, dims, data }) => new ort.Tensor(type, data, dims);

// Runs a file in ONNX Runtime. Returns { results } or { error }.
async function peerRun(path, feeds) {
  let peer;
  try {
    peer = await session(ort, path, 1, { logSeverityLevel: 4 });
    const missing = peer.inputNames.filter((name) => !(name in feeds));
    if (missing.length > 0) return { error: `no value for input ${missing}` };
    return { results: await peer.run(Object.fromEntries(peer.inputNames.map((name) => [name, feeds[name]]))) };
  } catch (error) {
    return { error: error.message.replace(/\s+/g, ' ') };
  } finally {
    await peer?.release?.();
  }
}

// Valid models without a kernel in ONNX Runtime: element types of many ops, LRN of ranks other than 4, types that the
// binding lacks.
const hasNoKernel = (error) => new RegExp('Could not find an implementation|not.implemented|not supported|No Op registered|is not a registered|'
  + 'Unsupported data type|does not support double|LRN.*NumDimensions\\(\\) == 4', 'i').test(error);

// Returns a message without numbers and without the names of files and nodes.
const reason = (error) => error.replace(/Load model from \S+ failed:/, '').replace(/Name:'[^']*'/g, '').replace(/\((\w|\.)*\) Op /g, '').replace(/-?[0-9]+/g, '#');

// Compares the results of a file with each of `wanted`. If one of them matches, returns undefined. Otherwise, returns
// the reason why none matches.
function judge({ results, error }, wanted, model, loosely) {
  if (error) return error;
  if (model.text?.startsWith('special values')) return undefined;
  let why;
  for (const want of wanted) {
    why = undefined;
    for (const [name, value] of Object.entries(want)) {
      if (!(name in results)) why ??= `output ${name} is missing`;
      else if (!loosely || !model.isLong) why ??= compare(results[name], value, loosely)?.replace(/^/, `${name}: `);
    }
    if (!why) return undefined;
  }
  return why;
}

async function checkForm(model, [what, ...args], original, wanted) {
  const out = join(scratch, 'out.onnx');
  const keeps = args[0] === 'split' ? ['--keep-going'] : [];
  rmSync(out, { force: true });
  const run = spawnSync(command, [...args.map((arg) => arg === LAST ? Object.keys(wanted[0])[0] : arg), ...keeps, ...model.args, model.path, '-o', out], { encoding: 'utf8', timeout: 300000 });
  if (!existsSync(out)) {
    if (run.status === null || run.status > 2) { failed++; console.log(`FAILED ${model.name}: ${what}: cleave ends with ${run.signal ?? run.status}`); }
    count(`not written ${what}`);
    return run.stderr;
  }
  count(`written ${what}`);
  const peer = await peerRun(out, model.feeds);
  const why = judge(peer, wanted, model, original.error);
  if (!why) return;
  if (peer.error && original.error && (hasNoKernel(peer.error) || reason(peer.error) === reason(original.error))) {
    count('fails there as the original does');
    return;
  }
  failed++;
  console.log(`FAILED ${model.name}: ${what}: ${why.slice(0, 400)}${model.text ? `\n${model.text.trimEnd()}` : ''}`);
}

async function check(model) {
  const original = await peerRun(model.path, model.feeds);
  const wanted = [...(original.results ? [original.results] : []), ...(model.results ? [model.results] : [])];
  if (wanted.length === 0) return count('without a result to compare');
  let error = await checkForm(model, forms[0], original, wanted);
  for (const args of model.fixes ?? [])
    if (error !== undefined && args.length > 0) {
      model.args = args;
      error = await checkForm(model, forms[0], original, wanted);
    }
  if (error !== undefined) {
    (refusals[model.group] ??= []).push(error.trim());
    return;
  }
  count(`models: ${model.group}`);
  const part = checked++ % Number(parts);
  for (let i = 1; i < forms.length; i++)
    if (i % Number(parts) === part) await checkForm(model, forms[i], original, wanted);
}

// Reads an operator test of ONNX, with the inputs in order. `fixes`: lists of inputs that become constants, such as the integers,
// or all inputs except the first.
async function readOperatorTest(group, name) {
  const folder = join(data, group, name), set = join(folder, 'test_data_set_0');
  const path = join(folder, 'model.onnx');
  if (!existsSync(path) || !existsSync(set)) return;
  const read = (what) => readdirSync(set).filter((file) => file.startsWith(`${what}_`))
    .sort((a, b) => parseInt(a.slice(what.length + 1), 10) - parseInt(b.slice(what.length + 1), 10))
    .map((file) => [join(set, file), readTensor(readFileSync(join(set, file)))]);
  const operands = read('input'), results = read('output'), names = readBorder(readFileSync(path));
  if (operands.some(([, value]) => !value) || results.some(([, value]) => !value) || names.inputs.length < operands.length) return;
  const model = { name: `${group}/${name}`, group, path, args: [],
    feeds: Object.fromEntries(operands.map(([, value], i) => [names.inputs[i], tensor(value)])),
    results: Object.fromEntries(results.map(([, value], i) => [names.outputs[i], value])) };
  const fix = (isFixed) => operands.flatMap(([file, { type }], i) => isFixed(type, i) ? ['--fix', `${names.inputs[i]}=${file}`] : []);
  model.fixes = [fix((type) => /^(int64|int32|bool)$/.test(type)), fix((type, i) => i > 0)];
  return model;
}

function readRandom(folder, seed, group) {
  const { text, inputs, outputs } = JSON.parse(readFileSync(join(folder, `${seed}.json`)));
  const bytes = readFileSync(join(folder, `${seed}.bin`));
  if (/bfloat16/.test(text)) return;
  const read = ({ type, dims, at, size }) => ({ type, dims, data: new arrays[type](bytes.buffer.slice(bytes.byteOffset + at, bytes.byteOffset + at + size)) });
  return { name: `--write --nodes ${group.split(' ')[4]} --first ${seed}`, text, group, path: join(folder, `${seed}.onnx`), args: [],
    feeds: Object.fromEntries(inputs.map((input) => [input.name, tensor(read(input))])),
    results: Object.fromEntries(outputs.map((output) => [output.name, read(output)])), isLong: !group.includes(` ${sizes[0]} `) };
}

async function checkOperatorTests() {
  if (!existsSync(data)) return console.log(`no operator tests: ${data} is not there`);
  for (const group of groups)
    for (const name of readdirSync(join(data, group))) {
      if (!`${group}/${name}`.includes(only)) continue;
      const model = await readOperatorTest(group, name);
      if (model) await check(model);
      else count('operator tests of other values');
    }
}

async function checkRandom(size) {
  const made = join(scratch, `random-${size}`), group = `random of up to ${size} nodes`;
  mkdirSync(made);
  const run = spawnSync(differential, ['--write', made, '--nodes', `${size}`, '--first', first, '-n', n], { encoding: 'utf8' });
  if (run.status !== 0) console.log(run.stdout, run.stderr);
  for (const file of readdirSync(made).filter((name) => name.endsWith('.json'))) {
    const model = readRandom(made, file.slice(0, -5), group);
    if (model && model.name.includes(only)) await check(model);
  }
}

await checkOperatorTests();
for (const size of sizes) await checkRandom(size);
rmSync(scratch, { recursive: true });
for (const [group, errors] of Object.entries(refusals)) console.log(`${group}: ${errors.length} models are not read`);
for (const [what, times] of Object.entries(counts)) console.log(`${what}: ${times}`);
console.log(`${failed} files failed`);
process.exit(failed > 0 || Object.keys(counts).length === 0 ? 1 : 0);
