// SPDX-License-Identifier: GPL-2.0-or-later
// Estimates the latency of a model on an idle machine: takes the least time of each step over many runs, and combines
// them with the order and the waits of the schedule.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inputsOf, makeFeeds, onnxRuntime } from './peer.mjs';

// Microseconds to start a step (`begin`), and until a thread sees that another thread has finished a step (`handover`).
const begin = 0.06, handover = 0.3;

// Returns the steps of a traced run. With `alone`, also runs all steps on one thread, and takes the least time of each step.
function trace(command, model, threads, repeat, alone = false) {
  const folder = mkdtempSync(join(tmpdir(), 'cleave-steps-')), file = join(folder, 'trace.json');
  const printed = execFileSync(command, ['run', model.file, ...(model.shape ? ['--shape', model.shape.join(',')] : []), '--threads', `${threads}`, '--repeat', `${repeat}`, '--trace', file, '--json', ...(alone ? ['--profile'] : [])],
    { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'inherit'] });
  const times = new Map((JSON.parse(printed).steps ?? []).map(({ name, nanoseconds }) => [name, nanoseconds / 1000]));
  const events = JSON.parse(readFileSync(file, 'utf8')).traceEvents.filter((event) => event.ph === 'X');
  rmSync(folder, { recursive: true });
  return events.map(({ name, dur, args }) => ({ thread: args.sequence, index: args.index, waits: args.waits ?? [], us: Math.min(dur, times.get(name) ?? dur) }));
}

// Runs the steps of each thread in order, each when its predecessors are done.
function replay(steps, threads) {
  const sequences = Array.from({ length: threads }, () => []), ends = sequences.map(() => []);
  for (const step of steps) sequences[step.thread][step.index] = step;
  for (let left = steps.length; left > 0;) {
    const before = left;
    for (let t = 0; t < threads; t++)
      for (; ends[t].length < sequences[t].length; left--) {
        const step = sequences[t][ends[t].length];
        if (step.waits.some(([thread, count]) => ends[thread].length < count)) break;
        const heard = step.waits.map(([thread, count]) => ends[thread][count - 1] + handover);
        ends[t].push(Math.max(ends[t].at(-1) ?? 0, ...heard) + begin + step.us);
      }
    if (left === before) throw new Error('the steps of a trace wait for each other');
  }
  return Math.max(...ends.map((list) => list.at(-1) ?? 0));
}

// Returns the latency in ms, and the total time of all steps.
export function leastOfSteps(command, model, threads, rounds, repeat, alone) {
  const steps = trace(command, model, threads, repeat, alone);
  for (let round = 1; round < rounds; round++)
    trace(command, model, threads, repeat, alone).forEach((step, i) => { steps[i].us = Math.min(steps[i].us, step.us); });
  return { latency: replay(steps, threads) / 1000, work: steps.reduce((sum, step) => sum + step.us, 0) / 1000 };
}

// Returns the latency in ms of ONNX Runtime, estimated as the sum of the least times of all nodes, which run one after another.
export async function leastOfNodes(folder, model, threads, repeat) {
  const scratch = mkdtempSync(join(tmpdir(), 'cleave-nodes-')), ort = onnxRuntime(folder), least = new Map();
  const peer = await ort.InferenceSession.create(model.file, { executionProviders: ['cpu'], intraOpNumThreads: threads, interOpNumThreads: 1,
    executionMode: 'sequential', graphOptimizationLevel: 'all', logSeverityLevel: 3, enableProfiling: true, profileFilePrefix: join(scratch, 'profile') });
  const { feeds } = makeFeeds(ort, { inputs: inputsOf(peer) }, peer.inputNames, scratch);
  for (let i = 0; i < repeat; i++) await peer.run(feeds);
  peer.endProfiling();
  await peer.release();
  const events = JSON.parse(readFileSync(join(scratch, readdirSync(scratch).find((name) => name.startsWith('profile'))), 'utf8'));
  rmSync(scratch, { recursive: true });
  for (const { name, dur, args } of events.filter((event) => event.cat === 'Node' && event.name.endsWith('kernel_time'))) {
    const node = `${args.node_index} ${name}`;
    least.set(node, Math.min(least.get(node) ?? Infinity, dur));
  }
  return { latency: [...least.values()].reduce((sum, us) => sum + us, 0) / 1000, nodes: least.size };
}
