#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# boards.py CLEAVE: runs small int8 networks and an LSTM as bundles on emulated boards.
# Compares the bits of the bundles with the bits of `cleave run`.
# Checks the bytes of stack, of code and tables, and the number of instructions.
# QEMU counts instructions exactly and repeatably. Exits with 77 (skipped) where a compiler or QEMU is missing.
import os
import subprocess
import sys
import tempfile

import emulate

CLEAVE = sys.argv[1]
BOARDS = ('M0', 'M4', 'M33', 'M55', 'RV32')
STACK = 512
# If the input of a network has twice as many rows, a run may execute at most GROWTH times as many instructions.
# In a measurement, a run executed 2.0 times as many instructions.
GROWTH = 2.1
# Limits on the number of instructions that a run executes, by board and options of the compiler.
# The run is of network(16, -127): 16 rows, and weights from -127 to 127.
# The three limits are 2 % higher than the measured numbers of instructions: 3,603,775, 2,642,935 and 1,850,822.
LIMITS = {('M4', '-DCLEAVE_PLAIN_C'): 3676000, ('M4', ''): 2696000, ('M55', ''): 1888000}
# Limits on the number of instructions that a run executes if some weights are -128, which needs other kernels.
# The run is of network(16, -128): 16 rows, and weights from -128 to 127.
# The three limits are 2 % higher than the measured numbers of instructions: 3,556,143, 2,849,919 and 1,941,538.
LEAST_LIMITS = {('M4', '-DCLEAVE_PLAIN_C'): 3628000, ('M4', ''): 2907000, ('M55', ''): 1981000}
# Limits on the bytes of code and tables in a bundle, by board and options of the compiler.
# The bundle is of network(16, -127): 16 rows, and weights from -127 to 127.
# The three limits are 2 % higher than the measured bytes of code and tables: 5,542, 7,118 and 4,566.
SIZES = {('RV32', '-Os'): 5653, ('RV32', '-O2'): 7261, ('M4', '-Os'): 4658}
SUM = ('a_zero=3 b_zero=-7 y_zero=5 left_shift=20 a_multiplier=1518500250 a_shift=-1 b_multiplier=1073741824 b_shift=0 '
       'multiplier=1518500250 shift=-18')
# Convolutions with float32 scales, as in ONNX. The number of channels is no multiple of four.
FLOAT_SCALES = """%x = Input : int8 1x5x9x9  # x
%w = Constant seed=2 : int8 10x5x3x3
%u = Constant seed=3 : int8 10x1x3x3
%s = Constant value=0.02 : float32 scalar
%v = Constant seed=4 : float32 10
%m = Abs %v
%p = Constant value=-5 : int8 scalar
%z = Constant value=0 : int8 scalar
%a = QLinearConv %x, %s, %p, %w, %s, %z, %s, %p pads=1,1,1,1
%b = QLinearConv %a, %s, %p, %u, %m, %z, %s, %z group=10 pads=1,1,1,1
output %b
"""
# An LSTM on floats. Without instructions for floats, an LSTM needs the most stack of all recurrent layers.
LSTM = """%x = Input : float32 6x1x4  # x
%w = Constant seed=1 : float32 1x12x4
%r = Constant seed=2 : float32 1x12x3
%y, %h, %c = LSTM %x, %w, %r hidden_size=3
output %y
output %h
output %c
"""
# An average pooling of floats. Some of its windows contain only padding.
# GCC 12 once compiled a conditional conversion of this pooling to an instruction of M55 that the assembler refuses.
POOL = """%x = Input : float32 1x3x5x5  # x
%y = AveragePool %x kernel_shape=2,2 pads=2,2,1,1 strides=2,2
output %y
"""
# The test checks that two more networks need at most STACK bytes of stack on each board.
# The first network has STATES states. A run uses no stack to keep a state.
# The second network has CHAIN layers that run as one loop. A run uses one byte of stack for each of these layers.
STATES = 7
CHAIN = 34
# Options of `cleave bundle` that must change neither the bits nor the number of instructions.
OPTIONS = [['--kernels', 'dsp'], ['--weights', 'object'], ['--single-file']]


def conv(name, x, shape, shift, attributes):
    """Returns the lines of a convolution with random weights from %least to 127. `shape` is [channels, channels of a group,
    rows, columns]."""
    channels = shape[0]
    return [
        f'%{name}_r = Constant seed=1 : int8 {"x".join(map(str, shape))}  # {name}_r',
        f'%{name}_w = Max %{name}_r, %least  # {name}_w',
        f'%{name}_m = Constant value=1518500250 : int32 {channels}  # {name}_m',
        f'%{name}_s = Constant value={shift} : int32 {channels}  # {name}_s',
        f'%{name}_b = Constant value=100 : int32 {channels}  # {name}_b',
        f'%{name} = TfliteConv {x}, %zero, %{name}_w, %{name}_m, %{name}_s, %zero, %{name}_b layout=NHWC {attributes}'
        f'  # {name}',
    ]


def network(rows, least):
    """Returns a graph in which each case of the kernels occurs; the smallest weight is `least`. There are convolutions
    with 3 and with 16 channels, depthwise and 1x1 convolutions, dilation, groups, a sum and a difference. Some numbers of
    channels are no multiple of four."""
    return '\n'.join([
        'graph boards', f'%x = Input : int8 1x{rows}x16x3  # x', '%zero = Constant value=-5 : int8 scalar  # zero',
        f'%least = Constant value={least} : int8 scalar  # least',
        *conv('a', '%x', [8, 3, 3, 3], -8, 'pads=1,1,1,1 min=-128 max=127'),
        *conv('b', '%a', [8, 1, 3, 3], -7, 'group=8 pads=1,1,1,1 min=-128 max=127'),
        f'%sum = TfliteAdd %a, %b {SUM} min=-128 max=127  # sum',
        *conv('c', '%sum', [16, 8, 1, 1], -7, 'min=-5 max=127'),
        *conv('d', '%c', [16, 16, 3, 3], -9, 'pads=1,1,1,1 min=-128 max=127'),
        *conv('e', '%d', [6, 16, 2, 2], -8, 'strides=2,2 min=-128 max=100'),
        *conv('f', '%e', [6, 6, 3, 3], -8, 'pads=1,1,1,1 min=-128 max=127'),
        *conv('g', '%f', [6, 1, 3, 3], -7, 'group=6 dilations=2,2 pads=2,2,2,2 min=-128 max=127'),
        f'%difference = TfliteSub %f, %g {SUM} min=-100 max=90  # difference',
        *conv('h', '%difference', [10, 3, 3, 3], -8, 'group=2 pads=1,1,1,1 min=-128 max=127'),
        'output %h  # y', ''])


def network_with_states(n):
    """Returns a graph with `n` states. The number of channels is no multiple of four, and the weights are separate."""
    attributes = 'pads=1,1,1,1 min=-128 max=127'
    lines = ['graph states', '%x = Input : int8 1x3x3x6  # x', '%zero = Constant value=-5 : int8 scalar  # zero',
             '%least = Constant value=-128 : int8 scalar  # least', *conv('y', '%x', [6, 6, 3, 3], -8, attributes)]
    for i in range(n):
        lines += [f'%s{i} = Input : int8 1x3x3x6  # s{i}', *conv(f't{i}', f'%s{i}', [6, 6, 3, 3], -8, attributes)]
    return '\n'.join([*lines, 'output %y', *(f'output %t{i}  # s{i}_next' for i in range(n)), ''])


def chain(n):
    """Returns a graph of `n` convolutions, one after the other, which are one loop."""
    lines = ['graph chain', '%x = Input : int8 1x48x4x6  # x', '%zero = Constant value=-5 : int8 scalar  # zero',
             '%least = Constant value=-128 : int8 scalar  # least']
    for i in range(n):
        lines += conv(f'c{i}', f'%c{i - 1}' if i > 0 else '%x', [6, 6, 2, 1], -7, 'min=-128 max=127')
    return '\n'.join([*lines, f'output %c{n - 1}  # y', ''])


def write_bundle(folder, name, text, *options):
    path = os.path.join(folder, f'{name}.cleave')
    with open(path, 'w') as file:
        file.write(text)
    out = os.path.join(folder, '-'.join([name, *options]))
    subprocess.run([CLEAVE, 'bundle', path, '--input', 'apart', *options, '-o', out], check=True, stdout=subprocess.DEVNULL)
    return out


def make_bundle(folder, rows, *options, least=-127):
    return write_bundle(folder, f'rows{rows}{least}', network(rows, least), *options)


def check_stack(bundle, board, flags=''):
    stack = measure(bundle, board, flags)['stack']
    print(board, flags, stack, 'bytes of stack')
    assert stack <= STACK, f'{board}: {stack} bytes of stack, more than {STACK}'


def measure(folder, board, flags=''):
    figures = emulate.measure(folder, board, ['-O2', *flags.split()])
    assert figures is not None, f'the bundle does not fit the board {board}'
    assert figures['verdict'] == 'equal', f'{board} {flags}: {figures["verdict"]}\n{figures["text"]}'
    return figures


def main():
    missing = emulate.find_missing()
    if missing is not None:
        print(f'SKIP: {missing}')
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        small, large = make_bundle(folder, 16), make_bundle(folder, 32)
        for board in BOARDS:
            check_stack(small, board)
        lstm = write_bundle(folder, 'lstm', LSTM)
        for board in ('M0', 'RV32'):
            check_stack(lstm, board)
            check_stack(lstm, board, '-Os')
        states = write_bundle(folder, 'states', network_with_states(STATES), '--state', 'all')
        loop = write_bundle(folder, 'chain', chain(CHAIN))
        for board in ('M0', 'M55', 'RV32'):
            check_stack(states, board)
            check_stack(loop, board)
        check_stack(write_bundle(folder, 'pool', POOL), 'M55', '-Os')
        for (board, flags), limit in SIZES.items():
            size = measure(small, board, flags)['size']
            print(board, flags, size, 'bytes of code and tables')
            assert size <= limit, f'{board} {flags}: {size} bytes of code and tables, more than {limit}'
        for options in OPTIONS:
            figures = measure(make_bundle(folder, 16, *options), 'M4')
            print('M4', *options, figures['instructions'], 'instructions')
            assert figures['instructions'] <= LIMITS['M4', ''], f'{figures["instructions"]} instructions with {options}'
        scales = write_bundle(folder, 'scales', FLOAT_SCALES)
        for board in BOARDS:
            check_stack(scales, board)
        least = make_bundle(folder, 16, least=-128)
        for (board, flags), limit in LEAST_LIMITS.items():
            instructions = measure(least, board, flags)['instructions']
            print(board, flags, instructions, 'instructions with weights of -128')
            assert instructions <= limit, f'{instructions} instructions with weights of -128, more than {limit}'
        for (board, flags), limit in LIMITS.items():
            before, after = measure(small, board, flags), measure(large, board, flags)
            print(board, flags, before['instructions'], after['instructions'], 'instructions')
            assert before['instructions'] <= limit, f'{before["instructions"]} instructions, more than {limit}'
            assert after['instructions'] <= GROWTH * before['instructions'], (
                f'{after["instructions"]} instructions for twice the rows, before {before["instructions"]}')


main()
