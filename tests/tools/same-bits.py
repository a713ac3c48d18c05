#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""same-bits.py CLEAVE --under 'RUNNER …' OTHER: runs 40 generated models by two commands that were built for different
processors. A runner such as qemu runs OTHER, at each level of its kernels. Fails if an output has another checksum."""

import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MAKE = os.path.join(HERE, '..', 'peers', 'classes', 'make.py')
LEVELS = ['generic', 'neon', 'dot', 'i8mm']


def run(command, model, level=None):
    """Runs a model. Returns the checksum of each output."""
    env = {**os.environ, **({'CLEAVE_LEVEL': level} if level else {})}
    done = subprocess.run([*command, 'run', model, '--threads', '1', '--json'], capture_output=True, text=True, env=env)
    if done.returncode != 0:
        return f'failed: {done.stderr.strip()}'
    return [(output['name'], output['sha256']) for output in json.loads(done.stdout)['outputs']]


def main():
    arguments = argparse.ArgumentParser(usage=__doc__)
    arguments.add_argument('cleave')
    arguments.add_argument('--under', default='')
    arguments.add_argument('other')
    arguments.add_argument('--levels', default=','.join(LEVELS))
    arguments.add_argument('--models', help='a folder of models, in place of the generated ones')
    options = arguments.parse_args()
    levels = options.levels.split(',')
    other = [*options.under.split(), options.other]
    with tempfile.TemporaryDirectory() as made:
        folder = options.models
        if folder is None:
            folder = os.path.join(made, 'small')
            code = subprocess.run([sys.executable, MAKE, made, '--set', 'small']).returncode
            if code != 0:
                sys.exit(code)
        models = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith('.onnx'))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            expected = list(pool.map(lambda model: run([options.cleave], model), models))
            found = {level: list(pool.map(lambda model: run(other, model, level), models)) for level in levels}
    bad = 0
    for level in levels:
        for model, want, have in zip(models, expected, found[level]):
            if want != have or isinstance(want, str):
                bad += 1
                print(f'{level}: {os.path.basename(model)}: expected {want}, found {have}')
    print(f'{len(models)} models, {len(levels)} levels: {bad} differ')
    sys.exit(1 if bad or not models else 0)


main()
