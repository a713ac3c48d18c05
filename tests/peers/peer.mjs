// SPDX-License-Identifier: GPL-2.0-or-later
// Shared by the peer scripts: the list of models, random inputs, ONNX Runtime, the cleave command.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readNpy, writeNpy } from './npy.mjs';

const here = dirname(fileURLToPath(import.meta.url));

// "1,3,8,8" is the shape of the only input. "x=1,8;n:5;m!6" gives x a shape, makes n an int64 scalar with that value,
// and m one that Cleave takes as a constant.
export function parseInputs(text) {
  if (/^[0-9,]+$/.test(text)) return [{ shape: text.split(',').map(Number) }];
  return text.split(';').map((part) => {
    const [, name, sign, rest] = /^(.*?)([=:!])(.*)$/.exec(part);
    return sign !== '=' ? { name, value: BigInt(rest), shape: [], fixed: sign === '!' } : { name, shape: rest.split(',').map(Number) };
  });
}

export function models(zoos) {
  return readFileSync(join(here, 'models.txt'), 'utf8').split('\n').filter((line) => line && !line.startsWith('#'))
    .map((line) => line.split(/\s+/)).map(([zoo, name, , , shape]) => ({ zoo, name, text: shape, inputs: parseInputs(shape), shape: parseInputs(shape)[0].shape }))
    .filter((model) => zoos.includes(model.zoo));
}

export function onnxRuntime(folder) {
  return createRequire(join(folder, 'package.json'))('onnxruntime-node');
}

export function session(ort, path, threads = 1, more = {}) {
  return ort.InferenceSession.create(path, { executionProviders: ['cpu'], intraOpNumThreads: threads,
    interOpNumThreads: 1, executionMode: 'sequential', graphOptimizationLevel: 'all', logSeverityLevel: 3, ...more });
}

// Returns the same values for a shape every time: dark strokes on a light background, with some noise. On noise alone,
// networks trained on pictures find nothing and return values such as 1e-13, which are only rounding errors.
export function makeValues(shape) {
  const n = shape.reduce((a, b) => a * b, 1);
  const pixel = shape.at(-1) <= 4 ? shape.at(-1) : 1;
  const width = shape.at(-1) <= 4 ? shape.at(-2) : shape.at(-1);
  const data = new Float32Array(n);
  let state = 1n;
  for (let i = 0; i < n; i++) {
    const x = Math.floor(i / pixel) % width, y = Math.floor(i / pixel / width);
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
    data[i] = (y % 40 < 20 && x % 10 < 4 ? -1.8 : 1.8) + 0.2 * (Number(state >> 40n) / 2 ** 23 - 1);
  }
  return data;
}

// Returns the inputs that a session reports, for a model with fixed shapes.
export const inputsOf = (peer) => peer.inputMetadata.map(({ name, type, shape }) => ({ name, type, shape: shape.map(Number) }));

// Returns the elements of an input. Integers are word indices or masks, so they are 0 and 1.
export function makeData(type, shape, value) {
  if (type === 'float32') return makeValues(shape);
  const n = shape.reduce((a, b) => a * b, 1);
  return BigInt64Array.from({ length: n }, (_, i) => value ?? BigInt(i * 7 % 5 < 3));
}

// Returns feeds for all inputs of a model, and the arguments with which cleave reads the same values.
export function makeFeeds(ort, model, names, folder) {
  const feeds = {}, args = [];
  mkdirSync(folder, { recursive: true });
  model.inputs.forEach(({ name = names[0], shape, value, fixed, type = value === undefined ? 'float32' : 'int64' }, i) => {
    const data = makeData(type, shape, value);
    const file = join(folder, `input${i}.npy`);
    writeNpy(file, type, shape, data);
    feeds[name] = new ort.Tensor(type, data, shape);
    if (!fixed) args.push('--input', `${name}=${file}`);
  });
  return { feeds, args };
}

// Returns the arguments that set shapes and constants of a model's inputs; `folder` receives the files of the constants.
export function inputArgs(model, folder) {
  mkdirSync(folder, { recursive: true });
  return model.inputs.flatMap(({ name, shape, value, fixed }) => {
    if (value === undefined) return ['--shape', (name === undefined ? '' : `${name}=`) + shape.join(',')];
    if (!fixed) return [];
    const file = join(folder, `${fileName(name)}`);
    writeNpy(file, 'int64', shape, BigInt64Array.of(value));
    return ['--fix', `${name}=${file}`];
  });
}

// Returns the feeds for the inputs that a session has. A model that Cleave wrote has no inputs for fixed values.
export const feedsOf = (peer, feeds) => Object.fromEntries(peer.inputNames.map((name) => [name, feeds[name]]));

export function cleave(command, args, timeout = 300000) {
  const run = spawnSync(command, args, { encoding: 'utf8', timeout, maxBuffer: 1 << 28 });
  return { status: run.status, out: run.stdout, error: run.stderr.trim() };
}

export const fileName = (name) => name.replace(/[^A-Za-z0-9._-]/g, '_') + '.npy';

export function readOutputs(folder, names) {
  return Object.fromEntries(names.map((name) => [name, readNpy(join(folder, fileName(name)))]));
}

// Returns the largest difference of two lists of numbers, relative to the largest absolute value of `want`. Returns 0
// for equal strings. Returns Infinity for different strings, for lists of different lengths, and if a NaN is in one
// list only.
export function difference(got, want) {
  if (got.data.length !== want.data.length) return Infinity;
  if (typeof want.data[0] === 'string') return want.data.every((text, i) => text === got.data[i]) ? 0 : Infinity;
  let largest = 0, worst = 0;
  for (let i = 0; i < want.data.length; i++) {
    const a = Number(got.data[i]), b = Number(want.data[i]);
    if (Number.isNaN(a) !== Number.isNaN(b)) return Infinity;
    largest = Math.max(largest, Math.abs(b));
    worst = Math.max(worst, Math.abs(a - b) || 0);
  }
  return worst === 0 ? 0 : worst / largest;
}
