// SPDX-License-Identifier: GPL-2.0-or-later
// bench.mjs BUILD FOLDER [NAME,...]: prints the tables of bench/results. BUILD is meson's folder. FOLDER has the models
// and ONNX Runtime, as downloaded by fetch.sh. Cleave and ONNX Runtime alternate in rounds: on a shared machine, only
// the ratio of their times is meaningful.

import { cpus, tmpdir } from 'node:os';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { call, geometricMean, measure, ms } from './measure.mjs';
import { models } from './peer.mjs';
import { leastOfSteps } from './steps.mjs';

const rounds = 5, stepRounds = 16;
const [build, folder, names] = process.argv.slice(2);
const command = join(build, 'tools/cleave');
const made = mkdtempSync(join(tmpdir(), 'cleave-bench-'));
const tool = (name, ...args) => call(join(build, 'tests/bench', `bench-${name}`), ...args);
const mb = (bytes) => (bytes / 1e6).toFixed(2);

// Returns the processor with family, model and vector instructions, since one name may stand for several generations.
function processor() {
  const info = readFileSync('/proc/cpuinfo', 'utf8'), field = (name) => info.match(new RegExp(`^${name}\\s*: (.*)$`, 'm'))?.[1] ?? '';
  const vectors = /avx512f/.test(field('flags')) ? 'AVX-512' : /avx2/.test(field('flags')) ? 'AVX2' : 'no AVX2';
  return `${cpus()[0].model.trim()} (family ${field('cpu family')}, model ${field('model')}, ${vectors})`;
}

// Returns the models of the zoo that have one input, and MobileNetV2 and VGG-16 with random weights.
function zoo() {
  const list = models(['first', 'test', 'bench']).filter((model) => model.inputs.length === 1).map((model) => ({ ...model, file: resolve(folder, `${model.name}.onnx`) }));
  const det = list.find((model) => model.name === 'det');
  call(command, 'demo', '--model', join(made, 'mobilenetv2.onnx'), '--output-dir', made, '--repeat', '1');
  tool('model', '--vgg', join(made, 'vgg16.onnx'));
  list.push({ name: 'mobilenetv2', file: join(made, 'mobilenetv2.onnx'), shape: [1, 3, 224, 224] });
  list.push({ name: 'vgg16-features', file: join(made, 'vgg16.onnx'), shape: [1, 3, 224, 224] });
  if (det) list.push({ ...det, name: 'det-960', shape: [1, 3, 960, 960] });
  return names ? list.filter((model) => names.split(',').includes(model.name)) : list;
}

function latencyTable(results, threads) {
  const rows = results.filter((result) => result.threads === threads);
  console.log(`\n### ${threads} thread${threads > 1 ? 's' : ''}\n`);
  console.log('| model | Cleave least | ONNX Runtime least | ratio | Cleave median | ONNX Runtime median | ratio | spread |\n|---|---|---|---|---|---|---|---|');
  for (const r of rows)
    console.log(`| ${r.model.name} | ${ms(r.ours)} | ${ms(r.theirs)} | ${r.ratio.toFixed(2)} | ${ms(r.medians[0])} | ${ms(r.medians[1])} | ${r.medianRatio.toFixed(2)} | ${(100 * r.spread).toFixed(0)} % |`);
  console.log(`| geometric mean | | | **${geometricMean(rows.map((r) => r.ratio)).toFixed(2)}** | | | **${geometricMean(rows.map((r) => r.medianRatio)).toFixed(2)}** | |`);
}

// Prints the table that compares two threads with one thread, for models that take more than 5 ms.
function threadsTable(results) {
  console.log('\n## Two threads against one\n\nModels that take more than 5 ms. To exclude other processes of the machine, each step counts with the least time');
  console.log('of many runs; the schedule\'s waits are added. More work: the time of all steps with two threads, relative to one.');
  console.log('Busy: the share of time in which threads do not wait.\n');
  console.log('| model | measured | 1 thread | 2 threads | times | more work | busy |\n|---|---|---|---|---|---|---|');
  for (const one of results.filter((result) => result.threads === 1 && result.ours > 5)) {
    const two = results.find((result) => result.model === one.model && result.threads === 2);
    const repeat = Math.max(2, Math.min(40, Math.ceil(200 / one.ours)));
    const [a, b] = [1, 2].map((threads) => leastOfSteps(command, one.model, threads, stepRounds, repeat));
    console.log(`| ${one.model.name} | ${(one.ours / two.ours).toFixed(2)} | ${ms(a.latency)} | ${ms(b.latency)} | ${(a.latency / b.latency).toFixed(2)} | ${(100 * (b.work / a.work - 1)).toFixed(0)} % | ${(50 * b.work / b.latency).toFixed(0)} % |`);
  }
}

function memoryTable(results, notes) {
  console.log('\n## Memory\n\nSizes in MB. Peak and arena: live activations; inputs and outputs count, weights do not. Grown: growth of the process by making a');
  console.log('program and running it once; for ONNX Runtime by the first run alone, after its session and weights exist.\n');
  console.log('| model | peak as it is | arena 1 | arena 2 | weights and packed | grown 1 | grown 2 | ONNX Runtime grown 1 | grown 2 | two threads against one |\n|---|---|---|---|---|---|---|---|---|---|');
  for (const one of results.filter((result) => result.threads === 1)) {
    const two = results.find((result) => result.model === one.model && result.threads === 2);
    const [n1, n2] = [1, 2].map((t) => notes.get(`${one.model.name} ${t}`));
    console.log(`| ${one.model.name} | ${mb(one.run.peak_activation_bytes)} | ${mb(one.run.arena_bytes)} | ${mb(two.run.arena_bytes)} | ${mb(n1.weight_bytes)} | ${mb(n1.growth_bytes)} | ${mb(n2.growth_bytes)} | ${mb(one.growth)} | ${mb(two.growth)} | ${(one.ours / two.ours).toFixed(2)} times |`);
  }
}

function compileTable(list, notes) {
  console.log('\n## Making a program\n\nMilliseconds of processor time, the least of three.\n');
  console.log('| model | threads | nodes | import | split | clean up | program |\n|---|---|---|---|---|---|---|');
  for (const model of list)
    for (const t of [1, 2, 4]) {
      const n = notes.get(`${model.name} ${t}`);
      console.log(`| ${model.name} | ${t} | ${n.nodes} | ${n.import_ms.toFixed(1)} | ${n.split_ms.toFixed(1)} | ${n.clean_ms.toFixed(1)} | ${n.program_ms.toFixed(1)} |`);
    }
}

// Prints the tables of models that python3-onnx writes: networks of each class, and nodes of each op.
function madeTables() {
  const here = (path) => fileURLToPath(new URL(path, import.meta.url)), networks = join(made, 'classes');
  try {
    call('python3', here('classes/make.py'), networks, '--set', 'used', '--set', 'held');
  } catch (error) {
    return console.log(`\n## Classes of architectures\n\nNot measured: ${error.stdout.trim()}`);
  }
  console.log(`\n## Classes of architectures\n\nNetworks that tests/peers/classes makes: those that were used while kernels were written, and the held-out ones.\n\n${call(process.execPath, here('bench-classes.mjs'), build, folder, networks).trim()}`);
  console.log(`\n## Census\n\nGFLOP/s of a node of each op, or GB/s if the op does not multiply, and in brackets its share of the limit of one core.\nBold: below half of the limit, or run by the reference kernel (ref).\n\n${call('python3', here('../bench/census.py'), build).trim()}`);
}

const began = Date.now();
const list = zoo();
console.log(`# Benchmarks\n\nMade by \`node tests/peers/bench.mjs BUILD FOLDER\` on ${processor()}, ${cpus().length} of its\nprocessors. ONNX Runtime is 1.30.0 for CPUs, with`);
console.log(`all optimizations and the same number of threads. Times in ms. The two alternate for ${rounds} rounds, each in its own process; a round is 5`);
console.log('runs or a third of a second, whichever is longer. Least: minimum of all rounds. Median: median of the rounds\' medians. Ratios: of the');
console.log('minima, and the median of the rounds\' ratios. Spread: by how much the slowest round\'s minimum exceeds the fastest\'s.\n\n## Latency');

const results = list.flatMap((model) => [1, 2].map((threads) => measure(command, folder, model, threads, rounds)));
const notes = new Map(list.flatMap((model) => [1, 2, 4].map((t) => [`${model.name} ${t}`, JSON.parse(tool('model', model.file, String(t), model.shape.join(',')))])));
latencyTable(results, 1);
latencyTable(results, 2);
threadsTable(results);
memoryTable(results, notes);
compileTable(list, notes);
if (!names) {
  madeTables();
  console.log(`\n## Kernels\n\nOne thread.\n\n\`\`\`\n${tool('kernels').trim()}\n\`\`\``);
  console.log(`\n## Large graphs\n\nTime and memory against the size of the graph.\n\n\`\`\`\n${tool('graph').trim()}\n${tool('split').trim()}\n\`\`\``);
}
console.log(`\nAll of it took ${Math.round((Date.now() - began) / 1000)} s.`);
rmSync(made, { recursive: true });
