// SPDX-License-Identifier: GPL-2.0-or-later
// stages.mjs CLEAVE FOLDER [MODEL,...]: splits every model of the test zoo from the end of each of its stages, towards
// its inputs as far as possible, into 2 and 4 bands along H, with the halo recomputed, carried and exchanged. Compares
// the outputs of the split model and of the whole model bit for bit. ONNX Runtime also runs the exported file
// (tolerance 1e-4 of an output's largest value). Ends with a table of the share of each model's MACs in parallel
// subgraphs.
//
// A stage ends where the number of rows decreases: at a node that has a reader with fewer rows, and no reader with as
// many rows. The last nodes with rows also end a stage.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleave, difference, feedsOf, inputArgs, makeFeeds, models, onnxRuntime, session } from './peer.mjs';

const tolerance = 1e-4;
const [command, folder, names] = process.argv.slice(2);
const ort = onnxRuntime(folder);
const scratch = mkdtempSync(join(tmpdir(), 'cleave-stages-'));
const shares = [];
let passed = 0, failed = 0;

function tell(good, what, detail) {
  good ? passed++ : failed++;
  if (!good) console.log(`FAILED ${what}: ${detail}`);
}

const hasRows = (node) => node.shape.length === 4 && node.shape[2] >= 2 && node.shape[3] >= 2;

function findStages(nodes) {
  const users = new Map(nodes.map((node) => [node.name, []]));
  for (const node of nodes)
    for (const read of node.reads) users.get(read)?.push(node);
  const ends = nodes.filter((node) => {
    const next = users.get(node.name);
    return hasRows(node) && !next.some((user) => hasRows(user) && user.shape[2] >= node.shape[2]);
  });
  return ends.filter((node, i) => ends.findLastIndex((other) => other.shape[2] === node.shape[2]) === i);
}

async function runPeer(path, feeds) {
  const peer = await session(ort, path, 2);
  const results = await peer.run(feedsOf(peer, feeds));
  await peer.release?.();
  return results;
}

async function checkSplit(model, stage, chunks, halo) {
  const what = `${model.name}: from ${stage.op} '${stage.name}' ${stage.shape.join('x')}, ${chunks} bands, ${halo}`;
  const out = join(scratch, 'split.onnx');
  const run = cleave(command, ['split', model.path, ...model.args, '--node', stage.name, '--dims', '2', '--num-chunks', `${chunks}`,
    '--depth', '1000', '--halo', halo, ...(halo === 'exchange' ? ['--strips-per-band', '2'] : []), '--check', '--json', '-o', out]);
  tell(run.status === 0, `${what}: bit-identical`, run.error || run.out.slice(-300));
  if (run.status !== 0) return;
  const report = JSON.parse(run.out);
  const { before, after } = report.macs;
  tell(halo === 'recompute' || after >= before, `${what}: MACs`, `${before} before, ${after} after`);
  shares.push({ model: model.name, from: stage.name, rows: stage.shape[2], chunks, halo, split: report.split.length,
    parallel: report.parallel_macs / after, macs: after / before, peak: report.peak_activation_bytes.after / report.peak_activation_bytes.before });
  tell(report.split.length > 0 || report.not_split.some((node) => node.node === stage.name && node.message), `${what}: a reason`, 'none');
  try {
    const got = await runPeer(out, model.feeds);
    const worst = Math.max(...Object.keys(model.want).map((name) => difference(got[name], model.want[name])));
    tell(worst <= tolerance, `${what}: the same in ONNX Runtime`, `largest difference ${worst}`);
  } catch (error) {
    tell(false, `${what}: runs in ONNX Runtime`, error.message);
  }
}

async function checkModel(model) {
  const info = JSON.parse(cleave(command, ['info', model.path, ...model.args, '--json']).out);
  const stages = findStages(info.node_list);
  const { feeds } = makeFeeds(ort, model, info.inputs.map(({ name }) => name), join(scratch, model.name));
  Object.assign(model, { feeds, want: await runPeer(model.path, feeds) });
  for (const stage of stages)
    for (const chunks of [2, 4])
      for (const halo of ['recompute', 'carry', 'exchange'])
        if (chunks <= stage.shape[2] && (halo !== 'exchange' || chunks === 4)) await checkSplit(model, stage, chunks, halo);
  return stages.length;
}

// Prints, for each model and number of bands, the split with the largest share of MACs in parallel subgraphs.
function printShares() {
  const percent = (part) => `${(100 * part).toFixed(1)} %`;
  console.log('| model | bands | halo | from | nodes split | MACs in parallel | MACs | peak |\n|---|---|---|---|---|---|---|---|');
  for (const name of new Set(shares.map((share) => share.model)))
    for (const [chunks, halo] of [[2, 'recompute'], [4, 'recompute'], [4, 'carry'], [4, 'exchange']]) {
      const best = shares.filter((s) => s.model === name && s.chunks === chunks && s.halo === halo)
        .sort((a, b) => b.parallel - a.parallel || a.peak - b.peak)[0];
      if (best) console.log(`| ${name} | ${chunks} | ${halo} | ${best.from} (${best.rows} rows) | ${best.split} | ${percent(best.parallel)} | ${percent(best.macs)} | ${percent(best.peak)} |`);
    }
}

for (const model of models(['first', 'test'])) {
  if (names && !names.split(',').includes(model.name)) continue;
  model.path = join(folder, `${model.name}.onnx`);
  model.args = inputArgs(model, join(scratch, model.name));
  try {
    const start = Date.now();
    const n = await checkModel(model);
    console.log(`${model.name}: ${n} stages, ${((Date.now() - start) / 1000).toFixed(1)} s`);
  } catch (error) {
    tell(false, model.name, error.stack);
  }
}
printShares();
rmSync(scratch, { recursive: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
