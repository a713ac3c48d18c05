# SPDX-License-Identifier: GPL-2.0-or-later
# Undefined symbols of bundles: the functions that the header of a bundle names, and the functions that its objects call.
import glob
import os
import re
import subprocess
import tempfile


def read_header(bundle):
    """Returns the functions of the C library and of CMSIS-NN that the header of a bundle names."""
    test, = glob.glob(os.path.join(bundle, '*-test.c'))
    with open(test.replace('-test.c', '.h')) as file:
        text = file.read()
    names = re.search(r'functions of the C library: ([\w, \n*]+)\.', text).group(1)
    return set(re.findall(r'\w+', names)) | set(re.findall(r'arm_\w+', text))


def find_undefined(bundle, compiler):
    """Compiles a bundle without its test, by the command `compiler`. Returns the symbols that no object defines."""
    undefined, defined = set(), set()
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, 'part.o')
        for source in glob.glob(os.path.join(bundle, '*.c')):
            if source.endswith('-test.c'):
                continue
            subprocess.run([*compiler, '-c', source, '-o', target], check=True)
            symbols = subprocess.run(['nm', target], check=True, stdout=subprocess.PIPE, text=True).stdout
            for line in symbols.splitlines():
                kind, symbol = line.split()[-2:]
                (undefined if kind == 'U' else defined).add(symbol)
    return undefined - defined - {'_GLOBAL_OFFSET_TABLE_'}
