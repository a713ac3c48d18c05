#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""aarch64-loops.py OBJECT…: estimates the inner loops of aarch64 kernels by llvm-mca, without hardware.

Prints for each object the loops with the most multiply-adds. For each loop and processor, prints the multiply-adds per
cycle as a share of the processor's peak. The peak is the rate of independent instructions of the same kind, which
llvm-mca also estimates. With --at-least SHARE, the script fails if a loop has a smaller share. An estimate assumes that
all loads hit the first-level cache. The Cortex-A76 has the pipelines of the Neoverse N1; LLVM 19 has no description of
the A76 and takes the description of the A57."""

import argparse
import re
import subprocess
import sys

# Number of multiply-adds that one instruction computes on full vectors.
# A key is the name of the instruction and the shape of its result.
MACS = {
    ('fmla', '4s'): 4, ('fmla', '2d'): 2, ('sdot', '4s'): 16, ('udot', '4s'): 16, ('usdot', '4s'): 16, ('sudot', '4s'): 16,
    ('smull', '4s'): 4, ('smull2', '4s'): 4, ('smlal', '4s'): 4, ('smlal2', '4s'): 4,
}
# For the name of an instruction: its text, in which {0} is the number of the result register.
# The peak rate of an instruction is the rate of sixteen copies with different result registers.
PEAK = {
    'fmla': 'fmla v{0}.4s, v30.4s, v31.4s',
    'sdot': 'sdot v{0}.4s, v30.16b, v31.16b',
    'udot': 'udot v{0}.4s, v30.16b, v31.16b',
    'usdot': 'usdot v{0}.4s, v30.16b, v31.16b',
    'sudot': 'sudot v{0}.4s, v30.16b, v31.4b[0]',
    'smull': 'smull v{0}.4s, v30.4h, v31.4h',
}
BRANCH = re.compile(r'^(b\.\w+|b|cbn?z|tbn?z|bl|br|blr|ret)\b')
N_ITERATIONS = 200


def read_functions(path, objdump):
    """Returns the instructions of each named function, as pairs of an address and a text. The instructions after a
    function without a name belong to the last named function."""
    text = subprocess.run([objdump, '-d', '--no-show-raw-insn', path], capture_output=True, text=True, check=True).stdout
    functions = {}
    for line in text.split('\n'):
        begin = re.match(r'[0-9a-f]+ <(.+)>:', line)
        if begin:
            code = functions.setdefault(begin.group(1), [])
            continue
        found = re.match(r'\s*([0-9a-f]+):\s+(\S.*)', line)
        if found:
            code.append((int(found.group(1), 16), re.sub(r'\s*//.*', '', found.group(2)).strip()))
    return functions


def find_loops(code):
    """Returns the innermost loops: loops whose only branch is their last instruction."""
    place = {address: i for i, (address, _) in enumerate(code)}
    for i, (address, text) in enumerate(code):
        target = re.search(r'([0-9a-f]+) <', text)
        begin = place.get(int(target.group(1), 16)) if target and BRANCH.match(text) else None
        if begin is not None and begin < i and not any(BRANCH.match(t) for _, t in code[begin:i]):
            yield [t for _, t in code[begin:i + 1]]


def count_macs(loop):
    """Returns the multiply-adds of an iteration, and the name of the instruction that computes most of them."""
    macs = {}
    for text in loop:
        found = re.match(r'(\w+)\s+v\d+\.(\w+)', text)
        n = MACS.get(found.groups(), 0) if found else 0
        if n:
            name = re.sub(r'^(smull|smlal)2?$', 'smull', found.group(1))
            macs[name] = macs.get(name, 0) + n
    return (sum(macs.values()), max(macs, key=macs.get)) if macs else (0, None)


def cycles(mca, cpu, lines):
    """Returns the number of cycles that llvm-mca estimates for one iteration of a loop."""
    source = 'loop:\n' + '\n'.join(re.sub(r'[0-9a-f]+ <[^>]*>', 'loop', line) for line in lines) + '\n'
    command = [mca, '-mtriple=aarch64', f'-mcpu={cpu}', '-mattr=+dotprod,+i8mm,+fullfp16', f'-iterations={N_ITERATIONS}']
    done = subprocess.run(command, input=source, capture_output=True, text=True)
    total = re.search(r'Total Cycles:\s+(\d+)', done.stdout)
    if not total:
        sys.exit(f'llvm-mca failed: {done.stderr.strip()}')
    return int(total.group(1)) / N_ITERATIONS


def main():
    arguments = argparse.ArgumentParser(usage=__doc__)
    arguments.add_argument('objects', nargs='+')
    arguments.add_argument('--mca', default='llvm-mca-19')
    arguments.add_argument('--objdump', default='aarch64-linux-gnu-objdump')
    arguments.add_argument('--cpus', default='cortex-a53,neoverse-n1')
    arguments.add_argument('--top', type=int, default=4, help='loops of each object')
    arguments.add_argument('--functions', default='', metavar='PATTERN', help='functions whose names match the pattern')
    arguments.add_argument('--at-least', type=float, default=0, metavar='PERCENT', help='the smallest share that passes')
    options = arguments.parse_args()
    cpus = options.cpus.split(',')
    low = []
    print('| object | function | instructions | multiply-adds | ' + ' | '.join(cpus) + ' |')
    print('|---' * (4 + len(cpus)) + '|')
    for path in options.objects:
        best = {}
        for function, code in read_functions(path, options.objdump).items():
            for loop in find_loops(code) if re.search(options.functions, function) else []:
                n, name = count_macs(loop)
                if n > best.get(function, (0,))[0]:
                    best[function] = (n, name, loop)
        for function, (n, name, loop) in sorted(best.items(), key=lambda item: -item[1][0])[:options.top]:
            shares = []
            for cpu in cpus:
                block = [PEAK[name].format(i) for i in range(16)]
                peak = count_macs(block)[0] / cycles(options.mca, cpu, block)
                share = round(100 * n / cycles(options.mca, cpu, loop) / peak)
                shares.append(f'{share} %')
                if share < options.at_least:
                    low.append(f'{path.split("/")[-1]}: {function}: {share} % on {cpu}')
            print(f'| {path.split("/")[-1]} | {function} | {len(loop)} | {n} {name} | ' + ' | '.join(shares) + ' |')
    if low:
        sys.exit(f'less than {options.at_least:g} % of the peak:\n' + '\n'.join(low))


main()
