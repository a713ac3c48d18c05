// SPDX-License-Identifier: GPL-2.0-or-later
// latency.mjs FOLDER MODEL SHAPE THREADS REPEAT: ONNX Runtime's latency of one model in ms, as JSON.  A process of its own,
// so that nothing of an earlier measurement is left.

import { join } from 'node:path';
import { makeValues, onnxRuntime, session } from './peer.mjs';

const [folder, name, shape, threads, repeat] = process.argv.slice(2);
const dims = shape.split(',').map(Number);
const ort = onnxRuntime(folder);
const peer = await session(ort, join(folder, `${name}.onnx`), Number(threads));
const feeds = { [peer.inputNames[0]]: new ort.Tensor('float32', makeValues(dims), dims) };
const times = [];

for (let i = -3; i < Number(repeat); i++) {
  const start = process.hrtime.bigint();
  await peer.run(feeds);
  if (i >= 0) times.push(Number(process.hrtime.bigint() - start) / 1e6);
}
times.sort((a, b) => a - b);
console.log(JSON.stringify({ min: times[0], median: times[Math.floor(times.length / 2)] }));
