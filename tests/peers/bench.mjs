// SPDX-License-Identifier: GPL-2.0-or-later
// bench.mjs CLEAVE FOLDER [NAME,…]: latency here and in ONNX Runtime, with 1 and 2 threads, as a table.  Each figure is the
// minimum over rounds in which both take their turn; the ratio is what counts on a shared machine.

import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cleave, models } from './peer.mjs';

const rounds = 3;
const [command, folder, names] = process.argv.slice(2);
const latency = join(dirname(fileURLToPath(import.meta.url)), 'latency.mjs');

function here(model, threads, repeat) {
  const run = cleave(command, ['run', join(folder, `${model.name}.onnx`), '--shape', model.shape.join(','), '--threads', threads, '--repeat', repeat, '--json']);
  if (run.status !== 0) throw new Error(run.error);
  return JSON.parse(run.out);
}

function there(model, threads, repeat) {
  const run = spawnSync(process.execPath, [latency, folder, model.name, model.shape.join(','), threads, repeat], { encoding: 'utf8' });
  if (run.status !== 0) throw new Error(run.stderr);
  return JSON.parse(run.stdout);
}

console.log('| model | threads | Cleave ms | ONNX Runtime ms | ratio | arena bytes | copied bytes |\n|---|---|---|---|---|---|---|');
for (const model of models(['first', 'test', 'bench']))
  for (const threads of names && !names.split(',').includes(model.name) ? [] : ['1', '2']) {
    const repeat = model.zoo === 'bench' ? '10' : '50';
    let mine = Infinity, theirs = Infinity, last;
    for (let round = 0; round < rounds; round++) {
      last = here(model, threads, repeat);
      mine = Math.min(mine, last.latency_ms.min);
      theirs = Math.min(theirs, there(model, threads, repeat).min);
    }
    console.log(`| ${model.name} | ${threads} | ${mine.toFixed(2)} | ${theirs.toFixed(2)} | ${(mine / theirs).toFixed(2)} | ${last.arena_bytes} | ${last.copied_bytes} |`);
  }
