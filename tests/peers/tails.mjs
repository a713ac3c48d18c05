// SPDX-License-Identifier: GPL-2.0-or-later
// tails.mjs CLEAVE FOLDER DIFFERENTIAL [N [FIRST]]: appends nodes whose shapes depend on data to N random models of the
// differential fuzzer. Runs the resulting models in Cleave, whole and split. ONNX Runtime runs the appended nodes alone, on the
// values that Cleave computes for the random model, since values with another rounding could select other elements.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleave, difference, onnxRuntime, readOutputs, session } from './peer.mjs';
import { writeNpy } from './npy.mjs';

const tolerance = 1e-6;
const [command, folder, differential, n = '60', first = '1'] = process.argv.slice(2);
const ort = onnxRuntime(folder);
const scratch = mkdtempSync(join(tmpdir(), 'cleave-tails-'));
let compared = 0, failed = 0;
const seen = {};

// Protobuf

function varint(value) {
  const out = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) out.push(Number(rest & 127n) | 128);
  return Buffer.from([...out, Number(rest)]);
}
const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const block = (field, data) => Buffer.concat([varint(field << 3 | 2), varint(Buffer.from(data).length), Buffer.from(data)]);

function attribute(name, value) {
  if (Buffer.isBuffer(value)) return block(5, Buffer.concat([block(1, name), block(6, value), number(20, 5)]));
  if (Array.isArray(value)) return block(5, Buffer.concat([block(1, name), ...value.map((v) => number(8, v)), number(20, 7)]));
  return block(5, Buffer.concat([block(1, name), number(3, value), number(20, 2)]));
}

const node = (op, inputs, output, attributes = {}) => Buffer.concat([...inputs.map((name) => block(1, name)), block(2, output), block(3, output), block(4, op),
  ...Object.entries(attributes).map(([name, value]) => attribute(name, value))]);

function constant(name, values, type = 7) {
  const data = type === 7 ? Buffer.from(BigInt64Array.from(values, BigInt).buffer) : Buffer.from(Float32Array.from(values).buffer);
  return Buffer.concat([number(1, values.length), number(2, type), block(8, name), block(9, data)]);
}

function valueInfo(name, type, dims) {
  const shape = dims ? block(2, Buffer.concat(dims.map((d) => block(1, number(1, d))))) : Buffer.alloc(0);
  return Buffer.concat([block(1, name), block(2, block(1, Buffer.concat([number(1, type), shape])))]);
}

// Yields [number, bytes with the key, bytes without the key] for each field of a message.
function* fields(bytes) {
  for (let at = 0; at < bytes.length;) {
    const begin = at;
    const read = () => {
      let value = 0, shift = 1, byte;
      do { byte = bytes[at++]; value += (byte & 127) * shift; shift *= 128; } while (byte & 128);
      return value;
    };
    const key = read();
    let inner = at;
    if ((key & 7) === 0) read();
    else if ((key & 7) === 2) { const size = read(); inner = at; at += size; } else at += (key & 7) === 1 ? 8 : 4;
    yield [Math.floor(key / 8), bytes.subarray(begin, at), bytes.subarray(inner, at)];
  }
}

// Tails: nodes, constants, and outputs with their types. `y` is a float32 value.

const branch = (nodes, output) => Buffer.concat([...nodes.map((one) => block(1, one)), block(2, output), block(12, valueInfo(output, 1))]);

const tails = {
  mask: (y) => ({ nodes: [node('Greater', [y, 't.zero'], 't.above'), node('NonZero', ['t.above'], 't.where'), node('Transpose', ['t.where'], 't.rows', { perm: [1, 0] }),
    node('GatherND', [y, 't.rows'], 't.values'), node('Relu', ['t.values'], 't.out')], outputs: { 't.rows': 7, 't.out': 1 } }),
  compress: (y) => ({ nodes: [node('Reshape', [y, 't.flat'], 't.all'), node('Less', ['t.all', 't.zero'], 't.below'),
    node('Compress', ['t.all', 't.below'], 't.some', { axis: 0 }), node('Abs', ['t.some'], 't.out')], outputs: { 't.out': 1 } }),
  unique: (y) => ({ nodes: [node('Reshape', [y, 't.flat'], 't.all'), node('Floor', ['t.all'], 't.whole'), node('Unique', ['t.whole'], 't.values'),
    node('Neg', ['t.values'], 't.out')], outputs: { 't.out': 1 } }),
  best: (y) => ({ nodes: [node('Reshape', [y, 't.flat'], 't.all'), node('Greater', ['t.all', 't.zero'], 't.above'), node('Cast', ['t.above'], 't.ones', { to: 7 }),
    node('ReduceSum', ['t.ones'], 't.k', { keepdims: 1 }), Buffer.concat([node('TopK', ['t.all', 't.k'], 't.best'), block(2, 't.places')]),
    node('Mul', ['t.best', 't.two'], 't.out')], outputs: { 't.out': 1, 't.places': 7 } }),
  branches: (y) => ({ nodes: [node('Reshape', [y, 't.flat'], 't.all'), node('ReduceMax', ['t.all'], 't.max', { keepdims: 0 }), node('Less', ['t.max', 't.limit'], 't.small'),
    node('If', ['t.small'], 't.out', { then_branch: branch([node('Neg', ['t.all'], 't.then')], 't.then'),
      else_branch: branch([node('Unsqueeze', ['t.all', 't.axis'], 't.else')], 't.else') })], outputs: { 't.out': 1 } }),
  slice: (y) => ({ nodes: [node('Reshape', [y, 't.flat'], 't.all'), node('Less', ['t.all', 't.zero'], 't.below'), node('Cast', ['t.below'], 't.ones', { to: 7 }),
    node('ReduceSum', ['t.ones'], 't.end', { keepdims: 1 }), node('Slice', ['t.all', 't.axis', 't.end'], 't.part'), node('Add', ['t.part', 't.two'], 't.out')],
  outputs: { 't.out': 1 } }),
};
const constants = [constant('t.zero', [0], 1), constant('t.two', [2], 1), constant('t.flat', [-1]), constant('t.axis', [0]),
  Buffer.concat([number(2, 1), block(8, 't.limit'), block(9, Buffer.from(Float32Array.of(0.5).buffer))])];

function append(model, tail) {
  const out = [];
  for (const [field, whole, inner] of fields(model)) {
    if (field !== 7) { out.push(whole); continue; }
    const graph = [...fields(inner)].filter(([one]) => one !== 12).map(([, bytes]) => bytes);
    out.push(block(7, Buffer.concat([...graph, ...tail.nodes.map((one) => block(1, one)), ...constants.map((one) => block(5, one)),
      ...Object.entries(tail.outputs).map(([name, type]) => block(12, valueInfo(name, type)))])));
  }
  return Buffer.concat(out);
}

function alone(y, dims, tail) {
  const graph = Buffer.concat([...tail.nodes.map((one) => block(1, one)), block(2, 'tail'), ...constants.map((one) => block(5, one)), block(11, valueInfo(y, 1, dims)),
    ...Object.entries(tail.outputs).map(([name, type]) => block(12, valueInfo(name, type)))]);
  return Buffer.concat([number(1, 8), block(7, graph), block(8, Buffer.concat([block(1, ''), number(2, 17)]))]);
}

// Runs

function run(path, args, out) {
  mkdirSync(out);
  const done = cleave(command, ['run', path, ...args, '--output-dir', out]);
  if (done.status !== 0) throw new Error(`${path}: ${done.error}`);
}

function judge(what, got, want, most) {
  for (const name of Object.keys(want)) {
    compared++;
    if (`${got[name].dims}` === `${want[name].dims}` && difference(got[name], want[name]) <= most) continue;
    failed++;
    console.log(`FAILED ${what}: ${name}: ${got[name].dims} and ${want[name].dims}, largest difference ${difference(got[name], want[name])}`);
  }
}

const arrays = { float32: Float32Array, float64: Float64Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array,
  int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array, bool: Uint8Array };

async function check(seed) {
  const { text, inputs, outputs } = JSON.parse(readFileSync(join(scratch, `${seed}.json`))), bytes = readFileSync(join(scratch, `${seed}.bin`));
  const read = ({ type, at, size }) => new arrays[type](bytes.buffer.slice(bytes.byteOffset + at, bytes.byteOffset + at + size));
  const y = outputs.find(({ type, dims }) => type === 'float32' && dims.length > 0 && dims.reduce((a, b) => a * b, 1) > 0);
  if (y === undefined || inputs.some(({ type }) => /float16/.test(type)) || text.startsWith('special values')) return;
  const values = read(y);
  if (values.some((v) => !Number.isFinite(v))) return;
  const kind = Object.keys(tails)[seed % Object.keys(tails).length], tail = tails[kind](y.name), path = join(scratch, `${seed}-tail.onnx`);
  const args = inputs.flatMap((input, i) => {
    const file = join(scratch, `${seed}-${i}.npy`);
    writeNpy(file, input.type, input.dims, read(input));
    return ['--input', `${input.name}=${file}`];
  });
  writeFileSync(path, append(readFileSync(join(scratch, `${seed}.onnx`)), tail));
  const peer = await session(ort, alone(y.name, y.dims, tail), 1, { logSeverityLevel: 4 });
  const want = await peer.run({ [y.name]: new ort.Tensor('float32', values, y.dims) });
  const out = join(scratch, `${seed}-out`), again = `${out}-split`, split = join(scratch, `${seed}-split.onnx`);
  run(path, args, out);
  judge(`model ${seed} with ${kind}`, readOutputs(out, Object.keys(want)), want, tolerance);
  const done = cleave(command, ['split', path, '--all', '--dims=-1', '--num-chunks=2', '--check', '--keep-going', '-o', split]);
  seen[kind] = (seen[kind] ?? 0) + 1;
  if (/no node can take the option/.test(done.error)) return;
  if (done.status === 2 || /differs/.test(done.out)) throw new Error(`split: ${done.error} ${done.out}`);
  run(split, args, again);
  judge(`model ${seed} with ${kind}, split`, readOutputs(again, Object.keys(want)), readOutputs(out, Object.keys(want)), 0);
}

const made = spawnSync(differential, ['--write', scratch, '--nodes', '10', '--first', first, '-n', n], { encoding: 'utf8' });
if (made.status !== 0) console.log(made.stdout, made.stderr);
for (const file of readdirSync(scratch).filter((name) => /^[0-9]+\.json$/.test(name))) {
  try {
    await check(Number(file.slice(0, -5)));
  } catch (error) {
    failed++;
    console.log(`FAILED model ${file}: ${error.message}`);
  }
}
rmSync(scratch, { recursive: true });
console.log(`${compared} outputs compared, ${failed} failed; ${JSON.stringify(seen)}`);
process.exit(failed === 0 && Object.keys(seen).length === Object.keys(tails).length ? 0 : 1);
