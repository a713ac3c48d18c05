#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# symbols.py CLEAVE: compiles bundles with several compilers, for which a warning is an error.
# Reads the undefined symbols of the objects.
# An object may call only functions that the header of the bundle names: memcpy, memset and functions of <math.h>.
# A compiler may also call functions of its own runtime library, such as __aeabi_fadd on a processor without instructions for floats.
# Exits with 77 (skipped) if no compiler is found.
import os
import re
import shutil
import subprocess
import sys
import tempfile

from undefined import find_undefined, read_header

CLEAVE = sys.argv[1]
PICOLIBC = '/usr/lib/picolibc/arm-none-eabi/include'
ARM_CLANG = ['clang', '--target=arm-none-eabi', '-isystem', PICOLIBC, '-mthumb', '-mcpu=cortex-m4', '-mfloat-abi=hard']
ARM_GCC = ['arm-none-eabi-gcc', '--specs=picolibc.specs', '-mthumb']
COMPILERS = [
    ['gcc', '-O2'], ['gcc', '-O0'], ['gcc', '-Os'], ['clang', '-O2'],
    [*ARM_GCC, '-mcpu=cortex-m0', '-O2'],
    [*ARM_GCC, '-mcpu=cortex-m4', '-mfloat-abi=hard', '-mfpu=fpv4-sp-d16', '-O2'],
    [*ARM_CLANG, '-O2'],
]
FLAGS = '-std=c99 -pedantic -Wall -Wextra -Wconversion -Werror -ffp-contract=off'.split()
# Functions of the runtime libraries of compilers, which each program contains.
RUNTIME = re.compile(r'__aeabi_\w+|__gnu_\w+|__clzsi2')

IMAGE = '%x = Input : float32 1x4x6x6  # x\n%two = Constant value=2 : float32 scalar\n'
# Each network, its text, and the functions of <math.h> that its header must name. A Gelu is written as a Mul by an Erf.
NETWORKS = {
    'functions': (IMAGE + '%a = Sigmoid %x\n%b = Tanh %a\n%c = Erf %b\n%d = Mul %c, %x\n%e = Pow %d, %two\n'
                  '%f = Softmax %e axis=-1\noutput %f  # y\n', {'fmaf', 'copysignf', 'fabsf'}),
    'rounding': (IMAGE + '%a = Floor %x\n%b = Ceil %x\n%c = Round %x\n%d = Sqrt %x\n%e = Add %a, %b\n%f = Add %c, %d\n'
                 '%g = Add %e, %f\noutput %g  # y\n', {'floorf', 'ceilf', 'rintf', 'sqrtf'}),
    'resize': (IMAGE + '%w = Constant seed=1 : float32 4x4x1x1\n%a = Conv %x, %w\n%b = Resize %a mode=linear sizes=1,4,12,12\n'
               'output %b  # y\n', {'fmaf'}),
    'tanh': ('%x = Input : float32 1x4x6x6  # x\n%a = Tanh %x\noutput %a  # y\n', {'fmaf', 'copysignf', 'fabsf'}),
    'lstm': ('%x = Input : float32 3x1x4  # x\n%w = Constant seed=1 : float32 1x20x4\n%r = Constant seed=2 : float32 1x20x5\n'
             '%a, %b, %c = LSTM %x, %w, %r hidden_size=5\noutput %a  # y\n', {'fmaf', 'copysignf', 'fabsf'}),
    'integers': ('%x = Input : int8 1x6x6x4  # x\n%zero = Constant value=-5 : int8 scalar\n'
                 '%w = Constant seed=1 : int8 8x4x3x3\n%m = Constant value=1518500250 : int32 8\n'
                 '%s = Constant value=-8 : int32 8\n%b = Constant value=100 : int32 8\n'
                 '%a = TfliteConv %x, %zero, %w, %m, %s, %zero, %b layout=NHWC pads=1,1,1,1 min=-128 max=127\n'
                 'output %a  # y\n', set()),
}


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def write_bundle(name, text, folder):
    path = os.path.join(folder, name + '.cleave')
    with open(path, 'w') as file:
        file.write(text)
    out = os.path.join(folder, name)
    run(CLEAVE, 'bundle', path, '-o', out)
    return out


def main():
    compilers = [compiler for compiler in COMPILERS if shutil.which(compiler[0]) is not None and
                 (PICOLIBC not in compiler or os.path.isdir(PICOLIBC))]
    if not compilers or shutil.which('nm') is None:
        print('SKIP: there is no compiler, or no nm')
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        for name, (text, math) in NETWORKS.items():
            bundle = write_bundle(name, text, folder)
            allowed = read_header(bundle)
            assert allowed == {'memcpy', 'memset'} | math, f'{name}: the header names {sorted(allowed)}'
            for compiler in compilers:
                found = find_undefined(bundle, [*compiler, *FLAGS])
                found = {symbol for symbol in found if not RUNTIME.fullmatch(symbol)}
                print(f'{name:10} {" ".join(compiler)}: {" ".join(sorted(found))}')
                assert found <= allowed, f'{name}: {sorted(found - allowed)} are undefined, with {" ".join(compiler)}'


main()
