// SPDX-License-Identifier: GPL-2.0-or-later
// partition.mjs CLEAVE FOLDER: splits models, partitions them with `cleave partition`, runs each part in a session of
// ONNX Runtime of its own, in schedule order, and compares with ONNX Runtime's run of the whole model.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleave, difference, inputArgs, makeFeeds, models, onnxRuntime, session } from './peer.mjs';

const tolerance = 1e-4;
const [command, folder] = process.argv.slice(2);
const names = ['blazeface-front', 'fr_eye', 'fr_age', 'cls'];
const ort = onnxRuntime(folder);
const scratch = mkdtempSync(join(tmpdir(), 'cleave-parts-'));
let failed = 0;

async function runParts(parts, schedule, feeds) {
  const values = { ...feeds };
  for (const part of schedule.parts) {
    const peer = await session(ort, join(parts, part.file));
    const results = await peer.run(Object.fromEntries(part.reads.map(({ name }) => [name, values[name]])));
    for (const { name } of part.writes) values[name] = results[name];
    await peer.release?.();
  }
  return Object.fromEntries(schedule.outputs.map(({ name, value }) => [name, values[value]]));
}

for (const model of models(['first', 'test']).filter(({ name }) => names.includes(name))) {
  const path = join(folder, `${model.name}.onnx`), split = join(scratch, `${model.name}.onnx`), parts = join(scratch, model.name);
  const args = inputArgs(model, scratch);
  const peer = await session(ort, path);
  const { feeds } = makeFeeds(ort, model, peer.inputNames, scratch);
  const want = await peer.run(feeds);
  for (const args2 of [['split', path, ...args, '--for-threads', '2', '-o', split, '--force'], ['partition', split, '-d', parts]]) {
    const run = cleave(command, args2);
    if (run.status !== 0) throw new Error(run.error);
  }
  const schedule = JSON.parse(readFileSync(join(parts, 'schedule.json'), 'utf8'));
  const got = await runParts(parts, schedule, feeds);
  const worst = Math.max(...Object.keys(want).map((name) => difference(got[name], want[name])));
  const beside = schedule.parts.filter(({ subgraph }) => subgraph >= 0).length;
  const good = worst <= tolerance && beside >= 2;
  if (!good) failed++;
  console.log(`${good ? 'ok    ' : 'FAILED'} ${model.name}: ${schedule.parts.length} parts, ${beside} of parallel subgraphs: largest difference ${worst.toExponential(1)}`);
}
rmSync(scratch, { recursive: true });
process.exit(failed === 0 ? 0 : 1);
