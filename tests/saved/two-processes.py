#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# two-processes.py CLEAVE: checks that two processes, with different addresses in memory, save a model as the same bytes.

import subprocess
import sys
import tempfile
from pathlib import Path

from onnx_bytes import floats, model, node, tensor, value_info

CLEAVE = Path(sys.argv[1]).absolute()
SHAPE = [1, 32, 24, 24]


def make():
    vectors = ['scale', 'bias', 'mean', 'variance']
    nodes = [node('Relu', ['x'], ['a'], 'relu'), node('BatchNormalization', ['a', *vectors], ['b'], 'norm'),
             node('Conv', ['b', 'w'], ['c'], 'conv', pads=[1, 1, 1, 1]), node('Add', ['c', 'a'], ['y'], 'add')]
    weights = [tensor(name, [32], floats(32, i)) for i, name in enumerate(vectors)]
    return model(nodes, [value_info('x', SHAPE)], [value_info('y', SHAPE)],
                 weights + [tensor('w', [32, 32, 3, 3], floats(32 * 32 * 9))])


def compile_model(folder, threads, name):
    subprocess.run([CLEAVE, 'compile', 'm.onnx', '--threads', str(threads), '-o', name], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL, timeout=60)
    return (folder / name).read_bytes()


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / 'm.onnx').write_bytes(make())
        for threads in [1, 2, 3]:
            first, *others = (compile_model(folder, threads, f'{i}.plan') for i in range(3))
            assert all(other == first for other in others), f'{threads} threads: the programs differ'
            assert b'factors of ' in first, 'no factors of the normalization were packed'


main()
