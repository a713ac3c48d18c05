#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# tutorials.py PAGE CLEAVE BUILD: does what a tutorial says, in a folder of its own.  Blocks of `sh` run one after the
# other; a block of `text` is what the one before it printed, where … stands for anything; `c` becomes program.c; all
# `python` blocks run as one program, after the others.

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from onnx_bytes import block, model, node, number, value_info

PAGE, CLEAVE, BUILD = pathlib.Path(sys.argv[1]), os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])
ROOT = pathlib.Path(__file__).resolve().parents[2]
FLOAT, UINT8, INT8 = 1, 2, 3


def tensor(name, dims, element, data):
    return b''.join(number(1, d) for d in dims) + number(2, element) + block(8, name) + block(9, data)


# What a quantiser writes: convolutions of bytes, each with its scales and zero points.
def quantised_net():
    nodes, constants = [], [tensor('one', [], FLOAT, b'\x00\x00\x80\x3c'), tensor('zero', [], UINT8, b'\x80'), tensor('none', [], INT8, b'\0')]
    value, channels = 'x', 3
    for i, (out, kernel, stride) in enumerate([(16, 3, 2), (24, 3, 1), (24, 3, 2), (32, 1, 1)], start=1):
        weights = bytes((7 * k) % 256 for k in range(out * channels * kernel * kernel))
        constants.append(tensor(f'w{i}', [out, channels, kernel, kernel], INT8, weights))
        nodes.append(node('QLinearConv', [value, 'one', 'zero', f'w{i}', 'one', 'none', 'one', 'zero'], [f'v{i}'], f'conv{i}',
                          strides=[stride, stride], pads=[kernel // 2] * 4))
        value, channels = f'v{i}', out
    return model(nodes, [value_info('x', [1, 3, 96, 96], UINT8)], [value_info(value, [1, 32, 24, 24], UINT8)], constants)


def matches(said, wanted):
    pattern = re.escape(wanted).replace('…', '(?s:.*)')
    return re.fullmatch(pattern, said) is not None


def run_shell(text, folder, environment):
    run = subprocess.run(['sh', '-e', '-c', text], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    if run.returncode != 0:
        sys.exit(f'{PAGE.name}: status {run.returncode} of\n{text}{run.stdout}{run.stderr}')
    return run.stdout


def main(folder):
    paths = {'PATH': os.path.dirname(CLEAVE) + ':' + os.environ['PATH'], 'LD_LIBRARY_PATH': BUILD,
             'PKG_CONFIG_PATH': str(folder)}
    environment = {**os.environ, **paths}
    said, python, n_run = None, '', 0
    shutil.copy(ROOT / 'docs' / 'examples' / 'pass.c', folder)
    (folder / 'cleave.pc').write_text(f'Name: cleave\nDescription: .\nVersion: 0\nRequires: gobject-2.0, gio-2.0\n'
                                      f'Libs: -L{BUILD} -lcleave\nCflags: -I{ROOT}/include\n')
    (folder / 'net.onnx').write_bytes(quantised_net())
    if '$(pkg-config' in PAGE.read_text() and not (shutil.which('pkg-config') and shutil.which('cc')):
        print('SKIP: no pkg-config or cc')
        sys.exit(77)
    for kind, text in re.findall(r'^```(\w*)\n(.*?)^```$', PAGE.read_text(), re.S | re.M):
        if kind == 'sh':
            said, n_run = run_shell(text, folder, environment), n_run + 1
        elif kind == 'text' and not matches(said, text):
            sys.exit(f'{PAGE.name}: expected\n{text}but got\n{said}')
        elif kind == 'c':
            (folder / 'program.c').write_text(text)
        elif kind == 'python':
            python += text
    if python:
        subprocess.run([sys.executable, '-c', python], cwd=folder, env=environment, check=True, timeout=120)
    if n_run + bool(python) == 0:
        sys.exit(f'{PAGE.name}: nothing to run')
    print(f'{PAGE.name}: good')


with tempfile.TemporaryDirectory() as scratch:
    main(pathlib.Path(scratch))
