#!/usr/bin/env python3
# emulate.py compiles bundles for small processors with Debian's cross compilers.
# Runs the test programs of the bundles on emulated boards.
# Usage: emulate.py [--board=M0,M4 …] [--flags="-O2"] [--table] FOLDER…
#
# Prints a line for each bundle and board: bytes of code and tables, bytes of stack, instructions of a run.
# The number of instructions is exact and repeatable, since the clocks of QEMU count instructions.
# The number of instructions is unknown on the board M0, which has no 32-bit timer.
# Fails if an output differs from the output of `cleave run`.
# A bundle that does not fit the memory of a board is skipped.
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ARM = ['arm-none-eabi-', '-mthumb', '--specs=picolibc.specs', '--oslib=semihost', '--crt0=hosted']
RISCV = ['riscv64-unknown-elf-', '--specs=picolibc.specs', '--oslib=semihost', '--crt0=hosted']
# The clock of a board: the option with which emulate.c reads the clock, and the number of ticks per instruction.
# With `-icount shift=6`, QEMU counts 64 ns for each instruction.
# The CMSDK timers have 25 million ticks a second (M33: 20 million). The counter of M55 has 32 million.
TIMER = ('-DTIMER=0x40000000', 1.6)

# For each name of a board: compiler and options, address and size of flash, address and size of RAM, QEMU command,
# and the clock (None: the board has no clock).
BOARDS = {
    'M0': (ARM + ['-mcpu=cortex-m0'], 0, 0x40000, 0x20000000, 0x4000, 'qemu-system-arm -M microbit', None),
    'M3': (ARM + ['-mcpu=cortex-m3'], 0, 0x400000, 0x20000000, 0x400000, 'qemu-system-arm -M mps2-an385', TIMER),
    'M4': (ARM + ['-mcpu=cortex-m4', '-mfloat-abi=hard', '-mfpu=fpv4-sp-d16'], 0, 0x400000, 0x20000000, 0x400000,
           'qemu-system-arm -M mps2-an386', TIMER),
    'M7': (ARM + ['-mcpu=cortex-m7', '-mfloat-abi=hard', '-mfpu=fpv5-d16'], 0, 0x400000, 0x20000000, 0x400000,
           'qemu-system-arm -M mps2-an500', TIMER),
    'M33': (ARM + ['-mcpu=cortex-m33', '-mfloat-abi=hard', '-mfpu=fpv5-sp-d16'], 0x10000000, 0x400000, 0x38000000,
            0x200000, 'qemu-system-arm -M mps2-an505', ('-DTIMER=0x40000000', 1.28)),
    'M55': (ARM + ['-mcpu=cortex-m55', '-mfloat-abi=hard'], 0x10000000, 0x80000, 0x30000000, 0x80000,
            'qemu-system-arm -M mps3-an547', ('-DCOUNTER=0x58100000', 2.048)),
    'RV32': (RISCV + ['-march=rv32imac', '-mabi=ilp32'], 0x80000000, 0x200000, 0x80200000, 0x200000,
             'qemu-system-riscv32 -M virt -bios none', ('-DRV32_CLOCK', 1)),
}
STACK = 0x1000
WARNINGS = '-pedantic -Wall -Wextra -Wconversion -Werror'.split()


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def find_run(folder):
    """Returns the name of a bundle and of its run function."""
    test = glob.glob(os.path.join(folder, '*-test.c'))
    if len(test) != 1:
        sys.exit(f'{folder}: expected one file *-test.c, found {len(test)}; write the folder with cleave bundle -o')
    name = os.path.basename(test[0])[:-len('-test.c')]
    with open(os.path.join(folder, name + '.h')) as header:
        return name, re.search(r'^void (\w+_run) \(', header.read(), re.M).group(1)


def compile_parts(folder, name, prefix, flags, out):
    """Compiles the bundle without warnings. Returns the objects, and the bytes of code and tables."""
    objects, size = [], 0
    for source in sorted(glob.glob(os.path.join(folder, '*.[cS]'))):
        if source.endswith('-test.c'):
            continue
        target = os.path.join(out, os.path.basename(source)[:-2] + '.o')
        result = run([prefix + 'gcc', *flags, *WARNINGS, '-c', source, '-o', target])
        if result.returncode != 0:
            sys.exit(result.stdout)
        objects.append(target)
        if not source.endswith(('-weights.c', '-weights.S')):
            text, data, bss = run([prefix + 'size', target]).stdout.split('\n')[1].split()[:3]
            size += int(text) + int(data)
            if int(data) + int(bss) > 0:
                sys.exit(f'{source} has {data} + {bss} bytes of static memory, expected none')
    return objects, size


def link(folder, name, function, board, flags, objects, out):
    """Links the test program. Returns an error message, or None if linking succeeds."""
    compiler, flash, flash_size, ram, ram_size, _, clock = BOARDS[board]
    places = {'__flash': flash, '__flash_size': flash_size, '__ram': ram, '__ram_size': ram_size, '__stack_size': STACK}
    defines = [f'-Wl,--defsym={key}={value:#x}' for key, value in places.items()]
    result = run([compiler[0] + 'gcc', *flags, f'-DRUN={function}', f'-Wl,--wrap={function}', *defines,
                  *(clock[:1] if clock else []), '-I' + folder, os.path.join(folder, name + '-test.c'),
                  os.path.join(HERE, 'emulate.c'), *objects, '-lm', '-o', os.path.join(out, 'test.elf')])
    return None if result.returncode == 0 else result.stdout


def find_missing():
    """Returns a message that names the first missing program or library for running bundles on all boards. Returns None
    if nothing is missing."""
    for compiler, *_, emulator, _ in BOARDS.values():
        for program in (compiler[0] + 'gcc', emulator.split()[0]):
            if shutil.which(program) is None:
                return f'there is no {program}'
        if not os.path.isabs(run([compiler[0] + 'gcc', '-print-file-name=picolibc.specs']).stdout.strip()):
            return f'there is no picolibc for {compiler[0]}gcc'
    return None


def measure(folder, board, options):
    """Runs a bundle on a board. Returns figures by name, or None if the bundle does not fit the memory of the board.
    `verdict` is equal, DIFFERS, WROTE OUTSIDE OF THE ARENA or FAILED; `instructions` is None without a clock."""
    name, function = find_run(folder)
    compiler = BOARDS[board][0]
    flags = compiler[1:] + ['-std=c99', '-ffp-contract=off', *options]
    with tempfile.TemporaryDirectory() as out:
        objects, size = compile_parts(folder, name, compiler[0], flags, out)
        error = link(folder, name, function, board, flags, objects, out)
        if error is not None:
            if not re.search(r'will not fit in region|overflowed by|cannot move location counter', error):
                sys.exit(error)
            return None
        semihosting = '-nographic -monitor none -serial none -semihosting-config enable=on,target=native -icount shift=6'
        result = run([*BOARDS[board][5].split(), *semihosting.split(), '-kernel', os.path.join(out, 'test.elf')],
                     timeout=600)
    found = re.search(r'stack (\d+) ticks (\d+)', result.stdout)
    stack, ticks = (int(number) for number in found.groups()) if found else (0, 0)
    return {'name': name, 'board': board, 'size': size, 'stack': stack,
            'instructions': round(ticks / BOARDS[board][6][1]) if BOARDS[board][6] else None,
            'verdict': {0: 'equal', 1: 'DIFFERS', 2: 'WROTE OUTSIDE OF THE ARENA'}.get(result.returncode, 'FAILED'),
            'text': result.stdout}


def emulate(folder, board, options):
    """Runs a bundle on a board and prints a line. Returns whether its outputs are right."""
    figures = measure(folder, board, options)
    if figures is None:
        print(f'{find_run(folder)[0]:24} {board:5} skipped: does not fit the memory of the board')
        return True
    instructions = '-' if figures['instructions'] is None else f'{figures["instructions"]:,}'
    print(f'{figures["name"]:24} {board:5} code+tables {figures["size"]:6} stack {figures["stack"]:4} '
          f'instructions {instructions:>11} {figures["verdict"]}')
    if figures['verdict'] == 'FAILED':
        print(figures['text'])
    sys.stdout.flush()
    return figures['verdict'] == 'equal'


def print_table(folders, options):
    """Prints the table of docs/bundles.md: figures on a Cortex-M4."""
    print('| model | instructions, plain C | with DSP | code and tables | with `-Os` | stack |\n|---|---|---|---|---|---|')
    for folder in folders:
        plain, fast, small = (measure(folder, 'M4', flags) for flags in (
            [*options, '-DCLEAVE_PLAIN_C'], options, ['-Os']))
        if any(figures is None or figures['verdict'] != 'equal' for figures in (plain, fast, small)):
            sys.exit(f'{folder}: the bundle does not compute the bits of cleave run on a Cortex-M4; run emulate.py '
                     f'without --table')
        print(f'| {fast["name"]} | {plain["instructions"]:,} | {fast["instructions"]:,} | {fast["size"]:,} | '
              f'{small["size"]:,} | {max(plain["stack"], fast["stack"])} |')


def main():
    parser = argparse.ArgumentParser(description='Run bundles on emulated boards.')
    parser.add_argument('--board', default=','.join(BOARDS), help='boards, separated by commas (default: all)')
    parser.add_argument('--flags', default='-O2', help='options of the compiler (default: -O2)')
    parser.add_argument('--table', action='store_true', help='print the table of docs/bundles.md')
    parser.add_argument('folders', nargs='+', metavar='FOLDER', help='folder that cleave bundle -o wrote')
    arguments = parser.parse_args()
    if arguments.table:
        print_table(arguments.folders, arguments.flags.split())
        return
    boards = arguments.board.split(',')
    for board in boards:
        if board not in BOARDS:
            sys.exit(f'there is no board {board}; choose from {", ".join(BOARDS)}')
    results = [emulate(folder, board, arguments.flags.split()) for folder in arguments.folders for board in boards]
    sys.exit(0 if all(results) else 1)


if __name__ == '__main__':
    main()
