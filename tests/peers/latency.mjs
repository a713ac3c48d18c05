// SPDX-License-Identifier: GPL-2.0-or-later
// latency.mjs FOLDER FILE SHAPE THREADS REPEAT [no-arena]: prints as JSON ONNX Runtime's latency for one model in ms,
// and the largest growth of the process in bytes during the first run. SHAPE: as in models.txt; "-" if the file has all
// shapes. Runs in a process of its own, so that earlier measurements have no effect.

import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { feedsOf, inputsOf, makeData, onnxRuntime, parseInputs, session } from './peer.mjs';

const [folder, file, shape, threads, repeat, arena] = process.argv.slice(2);
const ort = onnxRuntime(folder);
const more = arena === 'no-arena' ? { enableCpuMemArena: false, enableMemPattern: false } : {};
const peer = await session(ort, resolve(folder, file), Number(threads), more);
const inputs = shape === '-' ? inputsOf(peer)
  : parseInputs(shape).map((one) => ({ name: peer.inputNames[0], type: one.value === undefined ? 'float32' : 'int64', ...one }));
const feeds = feedsOf(peer, Object.fromEntries(inputs.map(({ name, type, shape: dims, value }) =>
  [name, new ort.Tensor(type, makeData(type, dims, value), dims)])));
const status = (key) => 1024 * Number(new RegExp(`${key}:\\s*(\\d+)`).exec(readFileSync('/proc/self/status', 'utf8'))[1]);
const times = [];

const before = status('VmRSS');
writeFileSync('/proc/self/clear_refs', '5');
await peer.run(feeds);
const growth = status('VmHWM') - before;

for (let i = -2; i < Number(repeat); i++) {
  const start = process.hrtime.bigint();
  await peer.run(feeds);
  if (i >= 0) times.push(Number(process.hrtime.bigint() - start) / 1e6);
}
times.sort((a, b) => a - b);
console.log(JSON.stringify({ min: times[0], median: times[Math.floor(times.length / 2)], growth }));
