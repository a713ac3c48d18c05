#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""aarch64-instructions.py --root ROOT CLEAVE --ort FOLDER MODEL[:SHAPE]…: counts the instructions of one run of a
model.

CLEAVE is the command for aarch64; ROOT has the arm64 packages; FOLDER has libonnxruntime.so.1 for arm64. In the npm
package, this folder is `node_modules/onnxruntime-node/bin/napi-v6/linux/arm64`. CLEAVE and ONNX Runtime run on one
thread in qemu, and a plugin counts their instructions. The script counts a process with two runs and a process with N
more runs, and divides the difference by N. So the result excludes the instructions that load the model. The script
takes the smallest of three counts, since the start of ONNX Runtime differs by a tenth from process to process. If a run
of the model executes few instructions, N (--runs) must be large. A number of instructions does not give a time, and the
script measures nothing on hardware."""

import argparse
import math
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FEW = 2
N_TRIES = 3
# The text of /proc/cpuinfo for an emulated processor. ONNX Runtime fails if it reads the text of an x86-64 processor.
CPUINFO = '''processor\t: 0
Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp ssbs
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x3
CPU part\t: 0xd0c
CPU revision\t: 1
'''


def compile_all(folder, root, ort):
    """Compiles the plugin and the program that runs ONNX Runtime. Returns the paths of the plugin and the program."""
    plugin, program = os.path.join(folder, 'libqemu-count.so'), os.path.join(folder, 'ort-run')
    subprocess.run(['gcc', '-O2', '-shared', '-fPIC', f'{HERE}/qemu-count.c', '-o', plugin], check=True)
    subprocess.run(
        ['aarch64-linux-gnu-gcc', '-O2', f'--sysroot={root}', f'{HERE}/ort-run.c', '-o', program,
         f'{ort}/libonnxruntime.so.1', f'-Wl,-rpath,{ort}', '-Wl,--allow-shlib-undefined'], check=True)
    return plugin, program


def describe_processor(root):
    """Adds files that describe a Neoverse N1 to ROOT. When a program opens a file, qemu looks in ROOT first."""
    folder = os.path.join(root, 'sys/devices/system/cpu')
    os.makedirs(folder, exist_ok=True)
    os.makedirs(os.path.join(root, 'proc'), exist_ok=True)
    for path, text in {f'{folder}/present': '0\n', f'{folder}/possible': '0\n', f'{root}/proc/cpuinfo': CPUINFO}.items():
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)


def count(qemu, command):
    """Runs a command several times, and returns the smallest number of instructions that a run executes."""
    counts = []
    for _ in range(N_TRIES):
        done = subprocess.run([*qemu, *command], capture_output=True, text=True)
        found = re.search(r'^instructions (\d+)$', done.stderr, re.MULTILINE)
        if done.returncode != 0 or not found:
            sys.exit(f'{" ".join(command)} failed: {done.stderr.strip()}')
        counts.append(int(found.group(1)))
    return min(counts)


def count_run(qemu, make_command, n_runs):
    """Returns the number of instructions of one run, measured over `n_runs` runs. make_command (N) returns the command
    that runs a model N times."""
    return max(1, (count(qemu, make_command(FEW + n_runs)) - count(qemu, make_command(FEW))) / n_runs)


def main():
    arguments = argparse.ArgumentParser(usage=__doc__)
    arguments.add_argument('cleave')
    arguments.add_argument('models', nargs='+')
    arguments.add_argument('--root', required=True)
    arguments.add_argument('--ort', required=True)
    arguments.add_argument('--cpu', default='neoverse-n1')
    arguments.add_argument('--runs', type=int, default=2, metavar='N')
    options = arguments.parse_args()
    ort = os.path.abspath(options.ort)
    describe_processor(options.root)
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        plugin, program = compile_all(folder, options.root, ort)
        qemu = ['qemu-aarch64', '-cpu', options.cpu, '-L', options.root, '-plugin', plugin, '-d', 'plugin']
        print('| model | Cleave, millions | ONNX Runtime, millions | ratio |\n|---|---|---|---|')
        for model in options.models:
            path, _, shape = model.partition(':')
            own = count_run(qemu, lambda n: [options.cleave, 'run', path, '--threads', '1', '--repeat', str(n),
                                             *(['--shape', shape] if shape else [])], options.runs)
            other = count_run(qemu, lambda n: [program, path, str(n), *([shape] if shape else [])], options.runs)
            ratios.append(own / other)
            name = os.path.splitext(os.path.basename(path))[0]
            print(f'| {name} | {own / 1e6:.1f} | {other / 1e6:.1f} | {ratios[-1]:.2f} |', flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f'| geometric mean of {len(ratios)} | | | {mean:.2f} |')


main()
