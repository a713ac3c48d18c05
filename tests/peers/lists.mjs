// SPDX-License-Identifier: GPL-2.0-or-later
// lists.mjs CLEAVE FOLDER: runs the models of ../help/list_models.py, whose inputs and outputs are sequences or
// optional values, and the files that Cleave writes for these models. ONNX Runtime runs the same nodes on the tensors
// of the lists, since its package for Node takes tensors only. ONNX Runtime also loads each file that Cleave writes.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cleave, difference, inputsOf, makeValues, onnxRuntime, readOutputs, session } from './peer.mjs';
import { writeNpy } from './npy.mjs';

const tolerance = 1e-6;
const [command, folder] = process.argv.slice(2);
const ort = onnxRuntime(folder);
const scratch = mkdtempSync(join(tmpdir(), 'cleave-lists-'));
let compared = 0, failed = 0;

function must(what, args) {
  const run = cleave(command, args);
  if (run.status !== 0) throw new Error(`${what}: ${run.error} ${run.out}`);
}

function run(path, inputs, out) {
  mkdirSync(out);
  must(`run ${path}`, ['run', path, ...inputs, '--output-dir', out]);
  return readdirSync(out).map((file) => file.slice(0, -4));
}

function judge(what, got, want, most) {
  for (const name of Object.keys(want)) {
    compared++;
    if (name in got && `${got[name].dims}` === `${want[name].dims}` && difference(got[name], want[name]) <= most) continue;
    failed++;
    console.log(`FAILED ${what}: ${name}`);
  }
}

async function check(name) {
  const path = join(scratch, `${name}.lists.onnx`), lists = JSON.parse(readFileSync(join(scratch, `${name}.json`)));
  const peer = await session(ort, join(scratch, `${name}.tensors.onnx`), 1, { logSeverityLevel: 4 });
  const feeds = {}, inputs = [];
  for (const [index, { name: tensor, type, shape }] of inputsOf(peer).entries()) {
    const values = makeValues(shape).map((v) => v + index), file = join(scratch, `${name}-${tensor}.npy`);
    feeds[tensor] = new ort.Tensor(type, values, shape);
    writeNpy(file, type, shape, values);
    inputs.push('--input', `${tensor.replace(/\.\d+$/, '')}=${file}`);
  }
  for (const [list, { n }] of Object.entries(lists)) {
    if (n !== 0) continue;
    const empty = join(scratch, `${name}-${list}.npz`);
    spawnSync('python3', ['-c', 'import sys, zipfile; zipfile.ZipFile(sys.argv[1], "w").close()', empty]);
    inputs.push('--input', `${list}=${empty}`);
  }
  const want = await peer.run(feeds), whole = join(scratch, `${name}-out`);
  const names = run(path, inputs, whole), tensors = Object.keys(want).filter((one) => !one.endsWith('.length'));
  for (const [one, { data }] of Object.entries(want).filter(([one]) => one.endsWith('.length'))) {
    compared++;
    const found = names.filter((file) => file.startsWith(one.replace(/length$/, '')) && /\.\d+$/.test(file)).length;
    if (found !== Number(data[0])) { failed++; console.log(`FAILED ${name}: ${one} is ${data[0]}, not ${found}`); }
  }
  const expected = Object.fromEntries(tensors.map((one) => [one, want[one]]));
  judge(name, readOutputs(whole, tensors), expected, tolerance);
  for (const [step, args] of Object.entries({ split: ['split', '--all', '--dims=-1', '--num-chunks=2'], fit: ['fit'], opt: ['opt', '--passes', 'clean-up'] })) {
    const written = join(scratch, `${name}-${step}.onnx`);
    must(step, [args[0], path, ...args.slice(1), ...(step === 'opt' ? [] : ['--check']), '-o', written]);
    run(written, inputs, `${whole}-${step}`);
    judge(`${name}, ${step}`, readOutputs(`${whole}-${step}`, tensors), readOutputs(whole, tensors), 0);
    await session(ort, written, 1, { logSeverityLevel: 4 });
  }
}

const made = spawnSync('python3', ['-B', join(dirname(fileURLToPath(import.meta.url)), '..', 'help', 'list_models.py'), scratch], { encoding: 'utf8' });
if (made.status !== 0) throw new Error(made.stderr);
for (const file of readdirSync(scratch).filter((one) => one.endsWith('.json'))) {
  try {
    await check(file.slice(0, -5));
  } catch (error) {
    failed++;
    console.log(`FAILED ${file}: ${error.message}`);
  }
}
rmSync(scratch, { recursive: true });
console.log(`${compared} outputs compared, ${failed} failed`);
process.exit(failed === 0 && compared >= 40 ? 0 : 1);
