// SPDX-License-Identifier: GPL-2.0-or-later
// generated.mjs CLEAVE FOLDER: runs the models of generated.py in Cleave and in ONNX Runtime. Also runs the files that Cleave
// writes for these models in ONNX Runtime. Compares the outputs. Floats may differ by `tolerance` of the largest value.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cleave, difference, inputsOf, makeValues, onnxRuntime, readOutputs, session } from './peer.mjs';
import { writeNpy } from './npy.mjs';

const tolerance = 1e-5;
const [command, folder] = process.argv.slice(2);
const ort = onnxRuntime(folder);
const scratch = mkdtempSync(join(tmpdir(), 'cleave-generated-'));
let failed = 0, compared = 0;

function judge(what, got, want) {
  for (const name of Object.keys(want)) {
    const worst = name in got ? difference(got[name], want[name]) : Infinity;
    compared++;
    if (worst <= tolerance) continue;
    failed++;
    console.log(`FAILED ${what}: ${name}: largest difference ${worst.toExponential(1)}`);
  }
}

async function check(file) {
  const path = join(scratch, file), results = join(scratch, `${file}.results`), written = join(scratch, `written-${file}`);
  const peer = await session(ort, path, 1, { logSeverityLevel: 4 });
  const inputs = inputsOf(peer), args = [];
  const feeds = Object.fromEntries(inputs.map(({ name, shape }) => {
    const data = makeValues(shape);
    writeNpy(join(scratch, `${name}.npy`), 'float32', shape, data);
    args.push('--input', `${name}=${join(scratch, `${name}.npy`)}`);
    return [name, new ort.Tensor('float32', data, shape)];
  }));
  const want = await peer.run(feeds);
  mkdirSync(results);
  for (const run of [cleave(command, ['run', path, ...args, '--output-dir', results]), cleave(command, ['opt', path, '-p', 'clean-up', '-o', written])])
    if (run.status !== 0) throw new Error(`${file}: ${run.error}`);
  judge(file, readOutputs(results, Object.keys(want)), want);
  judge(`written ${file}`, await (await session(ort, written)).run(feeds), want);
}

const made = spawnSync('python3', [join(dirname(fileURLToPath(import.meta.url)), 'generated.py'), scratch], { encoding: 'utf8' });
if (made.status !== 0) throw new Error(made.stderr);
for (const file of readdirSync(scratch).filter((name) => /^[a-z-]+\.onnx$/.test(name))) await check(file);
rmSync(scratch, { recursive: true });
console.log(`${compared} outputs compared, ${failed} failed`);
process.exit(failed === 0 && compared >= 20 ? 0 : 1);
