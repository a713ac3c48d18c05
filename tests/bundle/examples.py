#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compiles the examples of docs/examples/bundle with Debian's cross compilers: examples.py CLEAVE.

The tutorial runs the bare-metal example. Here the sketch for Arduino and the component for ESP-IDF are compiled
with the bundle that they belong to, without warnings. The libraries of the two platforms are no packages of Debian:
the few functions that the sketch calls are declared here, and nothing is linked. Ends with 77, which is a skip, if
there is no cross compiler."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from page_models import quantized_net  # noqa: E402

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / 'docs' / 'examples' / 'bundle'
WARNINGS = ['-O2', '-Wall', '-Wextra', '-Werror', '-c']
# The functions of Arduino's core that the sketch calls.
ARDUINO = '''#include <stdint.h>
struct Port { void begin (long); void print (const char *); void print (unsigned long); void println (unsigned long); };
extern Port Serial;
unsigned long millis ();
void delay (unsigned long);
'''


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        sys.exit(f'{" ".join(map(str, command))}\n{result.stdout}')


def write_bundle(cleave, folder):
    (folder / 'net.onnx').write_bytes(quantized_net())
    run(cleave, 'bundle', folder / 'net.onnx', '--input', 'rows', '-o', folder / 'net-c')
    return folder / 'net-c'


def compile_arduino(bundle, folder):
    """Compiles the sketch as C++ and the files of the bundle as C, as the IDE does."""
    processor = ['-mthumb', '-mcpu=cortex-m4', '-I', bundle]
    (folder / 'Arduino.h').write_text(ARDUINO)
    run('arm-none-eabi-g++', *processor, *WARNINGS, '-include', folder / 'Arduino.h', '-x', 'c++',
        EXAMPLES / 'arduino' / 'arduino.ino', '-o', folder / 'sketch.o')
    for name in 'net.c', 'net-weights.c', 'cleave-kernels.c':
        run('arm-none-eabi-gcc', *processor, *WARNINGS, '--specs=picolibc.specs', bundle / name, '-o', folder / 'part.o')


def compile_component(bundle, folder):
    """Compiles the files that the CMake files name, for the processor of an ESP32-C3."""
    processor = ['-march=rv32imc', '-mabi=ilp32', '--specs=picolibc.specs', '-I', bundle]
    listed = (EXAMPLES / 'esp-idf' / 'components' / 'net' / 'CMakeLists.txt').read_text()
    names = [word.strip('"') for word in listed.split() if word.endswith('.c"')]
    if not names:
        sys.exit('the component names no C file')
    for source in [bundle / name for name in names] + [EXAMPLES / 'esp-idf' / 'main' / 'main.c']:
        run('riscv64-unknown-elf-gcc', *processor, *WARNINGS, source, '-o', folder / 'part.o')


def main():
    compilers = {'arm-none-eabi-g++': compile_arduino, 'riscv64-unknown-elf-gcc': compile_component}
    found = [compile_example for name, compile_example in compilers.items() if shutil.which(name)]
    if not found:
        print('no cross compiler')
        sys.exit(77)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        bundle = write_bundle(os.path.abspath(sys.argv[1]), folder)
        for compile_example in found:
            compile_example(bundle, folder)
    print(f'compiled {len(found)} examples')


if __name__ == '__main__':
    main()
