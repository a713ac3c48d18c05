// SPDX-License-Identifier: GPL-2.0-or-later
// differential.mjs DIFFERENTIAL FOLDER [N [FIRST]]: compares random models of one or two nodes, computed by Cleave's
// reference kernels and by ONNX Runtime. Models that ONNX Runtime cannot run are skipped. Integers and strings must be
// equal, floats within the tolerance of their type. Ends with the number of models compared for each op.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onnxRuntime, session } from './peer.mjs';

const [command, folder, n = '2000', first = `${Date.now()}`] = process.argv.slice(2);
const ort = onnxRuntime(folder);
const scratch = mkdtempSync(join(tmpdir(), 'cleave-differential-'));
const arrays = { float32: Float32Array, float64: Float64Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array,
  int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array, bool: Uint8Array, float16: Uint16Array };
const tolerances = { float32: 1e-4, float64: 1e-9, float16: 5e-3 };
// Element types whose results may differ by 1, since a quotient may be near the middle between two integers.
const near = new Set(['int8', 'uint8']);
const counts = {}, skipped = {};
let passed = 0, failed = 0;

function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * fraction / 1024);
}

function read(bytes, { type, at, size }) {
  return new arrays[type](bytes.buffer.slice(bytes.byteOffset + at, bytes.byteOffset + at + size));
}

const number = (type, value) => type === 'float16' ? half(value) : Number(value);

// Returns the reason why two tensors differ, or undefined if they agree.
function compare(type, got, want, quantized) {
  if (got.length !== want.length) return `${got.length} elements, not ${want.length}`;
  const finite = Array.from(want, (v) => number(type, v)).filter(Number.isFinite).map(Math.abs);
  const scale = finite.reduce((a, b) => Math.max(a, b), 0);
  for (let i = 0; i < want.length; i++) {
    const a = number(type, got[i]), b = number(type, want[i]);
    if (a === b || Number.isNaN(a) && Number.isNaN(b)) continue;
    const most = type in tolerances ? tolerances[type] * Math.max(scale, 1e-6) : near.has(type) && quantized ? 1 : 0;
    if (!(Math.abs(a - b) <= most)) return `element ${i} is ${b}, ONNX Runtime says ${a}`;
  }
}

async function check(seed) {
  const { text, inputs, outputs } = JSON.parse(readFileSync(join(scratch, `${seed}.json`)));
  const ops = [...text.matchAll(/ = (\w+) \(/g)].map((match) => match[1]);
  const bytes = readFileSync(join(scratch, `${seed}.bin`));
  let results, peer;
  try {
    if (/bfloat16/.test(text)) throw new Error('bfloat16');
    peer = await session(ort, join(scratch, `${seed}.onnx`));
    const feeds = Object.fromEntries(inputs.map((input) => [input.name, new ort.Tensor(input.type, read(bytes, input), input.dims)]));
    results = await peer.run(feeds);
  } catch (error) {
    for (const op of ops) (skipped[op] ??= {})[error.message.slice(0, 160)] = seed;
    return;
  } finally {
    await peer?.release?.();
  }
  let good = true;
  for (const output of outputs) {
    const got = results[output.name];
    const why = `${got.dims}` !== `${output.dims}` ? `shape ${output.dims}, ONNX Runtime says ${got.dims}`
      : compare(output.type, got.data, read(bytes, output), ops.some((op) => /Quant|QLinear/.test(op)));
    if (!why) continue;
    good = false;
    console.log(`FAILED --write --first ${seed}: ${output.name}: ${why}\n${text}`);
  }
  good ? passed++ : failed++;
  for (const op of ops) counts[op] = (counts[op] ?? 0) + 1;
}

const made = spawnSync(command, ['--write', scratch, '--first', first, '-n', n], { encoding: 'utf8' });
if (made.status !== 0) console.log(made.stdout, made.stderr);
for (const file of readdirSync(scratch))
  if (file.endsWith('.json')) await check(file.slice(0, -5));
rmSync(scratch, { recursive: true });
console.log(Object.entries(counts).sort().map(([op, count]) => `${op} ${count}`).join(', '));
for (const [op, whys] of Object.entries(skipped))
  if (!(op in counts)) console.log(`skipped: ${op}: ${Object.keys(whys).join('; ')}`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
