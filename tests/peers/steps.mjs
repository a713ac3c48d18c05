// SPDX-License-Identifier: GPL-2.0-or-later
// What a model would take if nobody else were on the machine: of each step of a run the least time of many runs, put
// together again in the order and with the waits of the schedule.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// What it takes to begin a step, and to hear that another thread is done, in microseconds.
const begin = 0.06, handover = 0.3;

function trace(command, model, threads, repeat) {
  const folder = mkdtempSync(join(tmpdir(), 'cleave-steps-')), file = join(folder, 'trace.json');
  execFileSync(command, ['run', model.file, '--shape', model.shape.join(','), '--threads', `${threads}`, '--repeat', `${repeat}`, '--trace', file],
    { stdio: ['ignore', 'ignore', 'inherit'] });
  const events = JSON.parse(readFileSync(file, 'utf8')).traceEvents.filter((event) => event.ph === 'X');
  rmSync(folder, { recursive: true });
  return events.map((event) => ({ thread: event.args.sequence, index: event.args.index, waits: event.args.waits ?? [], us: event.dur }));
}

// Runs the steps of each thread in order, each when what it waits for is done.
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

// The latency in ms, and the time that all steps take together.
export function leastOfSteps(command, model, threads, rounds, repeat) {
  const steps = trace(command, model, threads, repeat);
  for (let round = 1; round < rounds; round++)
    trace(command, model, threads, repeat).forEach((step, i) => { steps[i].us = Math.min(steps[i].us, step.us); });
  return { latency: replay(steps, threads) / 1000, work: steps.reduce((sum, step) => sum + step.us, 0) / 1000 };
}
