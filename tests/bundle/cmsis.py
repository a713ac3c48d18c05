#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# cmsis.py [--trials=N] CLEAVE [MODEL…]: writes bundles with --kernels cmsis-nn.
# Compares the outputs of the bundles with the outputs of `cleave run`, bit by bit.
# The bundles are linked with cmsis-stub.c, a slow substitute for CMSIS-NN.
# If the variable CMSIS_NN names a folder with Include and libcmsis-nn.a for this machine, also links that library.
# Reads the undefined symbols of the objects: they may call only functions that the header of the bundle names.
# Exits with 77 (skipped) without a compiler.
import argparse
import glob
import json
import os
import random
import re
import shutil
import subprocess
import tempfile

from undefined import find_undefined, read_header

HERE = os.path.dirname(os.path.abspath(__file__))
FLAGS = ('-std=c99 -pedantic -Wall -Wextra -Wconversion -Werror -O0 -ffp-contract=off -fsanitize=address,undefined '
         '-fno-sanitize-recover=all').split()
CALLS = {'arm_convolve_wrapper_s8', 'arm_depthwise_conv_wrapper_s8', 'arm_fully_connected_s8', 'arm_max_pool_s8',
         'arm_avgpool_s8', 'arm_elementwise_add_s8', 'arm_elementwise_mul_s8'}
SUM = ('a_zero=3 b_zero=-7 y_zero=5 left_shift=20 a_multiplier=1518500250 a_shift=-1 b_multiplier=1073741824 b_shift=0 '
       'multiplier=1518500250 shift=-18 min=-128 max=127')
PRODUCT = ('a_zero=3 b_zero=-7 y_zero=5 left_shift=0 a_multiplier=0 a_shift=0 b_multiplier=0 b_shift=0 '
           'multiplier=1518500250 shift=-6 min=-100 max=127')


def conv(name, x, shape, attributes):
    """Returns the lines of a convolution. `shape` is [channels, channels of a group, rows, columns]."""
    channels = shape[0]
    taps = shape[1] * shape[2] * shape[3]
    return [
        f'%{name}_w = Constant seed={len(name) + channels} : int8 {"x".join(map(str, shape))}  # {name}_w',
        f'%{name}_m = Constant value=1518500250 : int32 {channels}  # {name}_m',
        f'%{name}_s = Constant value={-5 - taps.bit_length() // 2} : int32 {channels}  # {name}_s',
        f'%{name}_b = Constant value=100 : int32 {channels}  # {name}_b',
        f'%{name} = TfliteConv {x}, %zero, %{name}_w, %{name}_m, %{name}_s, %zero, %{name}_b layout=NHWC {attributes}'
        f'  # {name}',
    ]


def graph(rows, columns, channels, lines):
    return '\n'.join(['graph cmsis', f'%x = Input : int8 1x{rows}x{columns}x{channels}  # x',
                      '%zero = Constant value=-5 : int8 scalar  # zero', *lines, ''])


def network():
    """Returns a graph with each function of CMSIS-NN, and three layers that CMSIS-NN does not compute: a convolution with
    two groups, a depthwise convolution with dilations, and a difference."""
    return graph(12, 10, 3, [
        *conv('a', '%x', [8, 3, 3, 3], 'pads=1,1,1,1 min=-128 max=127'),
        *conv('b', '%a', [8, 1, 3, 3], 'group=8 pads=1,1,1,1 min=-128 max=127'),
        *conv('c', '%b', [8, 8, 1, 1], 'min=-5 max=127'),
        f'%sum = TfliteAdd %a, %c {SUM}  # sum',
        f'%product = TfliteMul %sum, %b {PRODUCT}  # product',
        f'%difference = TfliteSub %product, %c {SUM}  # difference',
        *conv('d', '%difference', [8, 1, 3, 3], 'group=8 dilations=2,2 pads=2,2,2,2 min=-128 max=127'),
        *conv('e', '%d', [8, 4, 3, 3], 'group=2 pads=1,1,1,1 min=-128 max=127'),
        '%max = MaxPool %e layout=NHWC kernel_shape=2,2 strides=2,2  # max',
        '%mean = TfliteAveragePool %max layout=NHWC kernel_shape=6,5 min=-128 max=127  # mean',
        *conv('f', '%mean', [10, 8, 1, 1], 'min=-128 max=127'),
        'output %f  # y'])


def random_network(seed):
    """Returns a random chain of layers. A layer may also be the sum or the product of a value and a 1x1 convolution
    of this value."""
    rand = random.Random(seed)
    rows, columns, channels = rand.randint(1, 13), rand.randint(1, 13), rand.randint(1, 9)
    lines, x = [], '%x'
    height, width, depth = rows, columns, channels
    for i in range(rand.randint(2, 6)):
        name, kind = f'v{i}', rand.choice(['conv', 'conv', 'depthwise', 'add', 'mul', 'max', 'mean'])
        kernel = [rand.randint(1, min(4, extent + 1)) for extent in (height, width)]
        stride = [rand.randint(1, 3) for _ in kernel]
        begin = [rand.randint(0, min(1, size - 1)) for size in kernel]
        end = [rand.randint(0, min(2, size - 1)) for size in kernel]
        extents = [(extent + p + q - size) // step + 1 for extent, p, q, size, step in
                   zip((height, width), begin, end, kernel, stride)]
        pads = 'pads=' + ','.join(map(str, begin + end))
        window = f'strides={stride[0]},{stride[1]} {pads}'
        if kind in ('add', 'mul'):
            same = conv(name + '_x', x, [depth, depth, 1, 1], 'min=-128 max=127')
            op, attributes = ('TfliteAdd', SUM) if kind == 'add' else ('TfliteMul', PRODUCT)
            lines += [*same, f'%{name} = {op} {x}, %{name}_x {attributes}  # {name}']
        elif min(extents) < 1:
            continue
        elif kind in ('conv', 'depthwise'):
            out, group = (rand.randint(1, 9), 1) if kind == 'conv' else (depth, depth)
            bounds = rand.choice(['min=-128 max=127', 'min=-5 max=90'])
            lines += conv(name, x, [out, depth // group, *kernel], f'group={group} {window} {bounds}')
            height, width, depth = *extents, out
        else:
            op = 'MaxPool' if kind == 'max' else 'TfliteAveragePool min=-128 max=100'
            op, *bounds = op.split(' ')
            lines.append(f'%{name} = {op} {x} layout=NHWC kernel_shape={kernel[0]},{kernel[1]} {window} '
                         f'{" ".join(bounds)}  # {name}')
            height, width = extents
        x = '%' + name
    if x == '%x':
        return random_network(seed + 1000)
    return graph(rows, columns, channels, [*lines, f'output {x}  # y'])


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def write(cleave, model, out, *options):
    """Writes a bundle. Returns the numbers that the command prints, and the notes that the command prints."""
    result = run(cleave, 'bundle', model, '--kernels', 'cmsis-nn', '--name', 'net', '--json', '-o', out, *options)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout), result.stderr


def check_bits(compiler, bundle, include, library):
    """Compiles a bundle without warnings, links it with a library, and runs its test program."""
    program = os.path.join(bundle, 'test')
    result = run(compiler, *FLAGS, '-isystem', include, *glob.glob(os.path.join(bundle, '*.c')), library, '-lm', '-o', program)
    assert result.returncode == 0, f'{bundle}: {result.stderr}'
    result = run(program)
    assert result.returncode == 0, f'{bundle}: exit status {result.returncode}\n{result.stdout}{result.stderr}'


def check_symbols(compiler, bundle, include):
    """Checks that the objects call only functions that the header names. Returns the undefined symbols."""
    found = find_undefined(bundle, [compiler, '-std=c99', '-O2', '-ffp-contract=off', '-isystem', include])
    assert found <= read_header(bundle), f'{bundle}: {sorted(found - read_header(bundle))} are undefined'
    return found


def check_text(cleave, folder, check):
    """Checks the bundle of a network with each function of CMSIS-NN: the called functions, the sizes and the notes."""
    path = os.path.join(folder, 'all.cleave')
    with open(path, 'w') as file:
        file.write(network())
    for i, options in enumerate(([], ['--max-memory', '64KiB'], ['--max-memory', '64KiB', '--single-file'],
                                 ['--max-memory', '64KiB', '--input', 'rows', '--output', 'apart'])):
        out = os.path.join(folder, f'all{i}')
        figures, notes = write(cleave, path, out, *options)
        found = check(out)
        if i == 0:
            small = figures
        if i == 1:
            assert '3 layers' in notes and 'no function' in notes, notes
            assert found <= CALLS | {'memcpy', 'memset'} and found >= CALLS, f'the objects call {sorted(found)}'
    with open(os.path.join(folder, 'all1', 'net.h')) as file:
        named = set(re.findall(r'arm_\w+', file.read()))
    assert named == CALLS | {'arm_vector_sum_s8'}, f'the header names {sorted(named)}'
    texts = ''.join(open(name).read() for name in glob.glob(os.path.join(folder, 'all1', '*.[ch]')))
    called = set(re.findall(r'\b(arm_\w+) \(', texts)) - {'arm_vector_sum_s8'}
    assert called == CALLS, f'the kernels call {sorted(called)}'
    # a depthwise convolution with 3x3 taps needs the largest context buffer: 4 * 124 channels * 9 taps = 4,464 bytes
    assert figures['cmsis_nn_layers'] == 8 and figures['context_bytes'] == 4464, figures
    assert small['cmsis_nn_layers'] < 8 and small['arena_bytes'] < figures['arena_bytes'], small
    plain = json.loads(run(cleave, 'bundle', path, '--json').stdout)
    assert small['arena_bytes'] <= plain['arena_bytes'], f'{small} {plain}'
    for budget in (small['arena_bytes'], (small['arena_bytes'] + figures['arena_bytes']) // 2):
        out = os.path.join(folder, f'budget{budget}')
        figures, notes = write(cleave, path, out, '--max-memory', str(budget))
        assert figures['arena_bytes'] <= budget and 'larger arena' in notes, f'{figures} {notes}'
        check(out)
    result = run(cleave, 'bundle', path, '--kernels', 'cmsis-nn', '--check')
    assert result.returncode == 2 and 'without CMSIS-NN' in result.stderr, result.stderr


def check_floats(cleave, folder, check):
    """Checks that a model without layers for CMSIS-NN needs no CMSIS-NN."""
    path, out = os.path.join(folder, 'floats.cleave'), os.path.join(folder, 'floats')
    with open(path, 'w') as file:
        file.write('%x = Input : float32 1x4x6x6  # x\n%a = Relu %x\noutput %a  # y\n')
    figures, _ = write(cleave, path, out)
    assert figures['cmsis_nn_layers'] == 0, figures
    assert not any('arm_nnfunctions' in open(name).read() for name in glob.glob(os.path.join(out, '*.[ch]')))
    check(out)


def check_model(cleave, model, folder, check):
    name = os.path.splitext(os.path.basename(model))[0]
    for i, options in enumerate(([], ['--max-memory', '4MiB'])):
        out = os.path.join(folder, f'{name}{i}')
        figures, _ = write(cleave, model, out, '--input', 'apart', *options)
        check(out)
        print(f'{name:28} {figures["cmsis_nn_layers"]:3} of {figures["layers"]:3} layers, {figures["arena_bytes"]} bytes')


def main():
    parser = argparse.ArgumentParser(description='Check bundles that call CMSIS-NN.')
    parser.add_argument('--trials', type=int, default=10, help='number of random networks (default: 10)')
    parser.add_argument('cleave', metavar='CLEAVE', help='the command')
    parser.add_argument('models', nargs='*', metavar='MODEL')
    arguments = parser.parse_args()
    compiler = shutil.which('gcc') or shutil.which('clang')
    if compiler is None or shutil.which('nm') is None:
        print('SKIP: there is no compiler, or no nm')
        raise SystemExit(77)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(os.path.join(HERE, 'cmsis-stub.h'), os.path.join(folder, 'arm_nnfunctions.h'))
        stub = os.path.join(folder, 'stub.o')
        result = run(compiler, *FLAGS, '-I', folder, '-c', os.path.join(HERE, 'cmsis-stub.c'), '-o', stub)
        assert result.returncode == 0, result.stderr
        libraries = [(folder, stub)]
        if os.environ.get('CMSIS_NN'):
            real = os.path.abspath(os.environ['CMSIS_NN'])
            libraries.append((os.path.join(real, 'Include'), os.path.join(real, 'libcmsis-nn.a')))

        def check(bundle):
            for include, library in libraries:
                check_bits(compiler, bundle, include, library)
            return check_symbols(compiler, bundle, libraries[0][0])

        check_text(arguments.cleave, folder, check)
        check_floats(arguments.cleave, folder, check)
        for seed in range(arguments.trials):
            path = os.path.join(folder, f'random{seed}.cleave')
            with open(path, 'w') as file:
                file.write(random_network(seed))
            check_model(arguments.cleave, path, folder, check)
        for model in arguments.models:
            check_model(arguments.cleave, model, folder, check)


main()
