#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make.py DIR [--set used|held|small] [--half] [NAME,...]: writes a network of each class to DIR/SET/NAME.onnx.

Each class has two networks: one is used while kernels and passes are developed. The other, of different width,
depth, arrangement and seed, is held back, to distinguish tuning from general improvements. The small set has small
versions of the used networks, for tests. --half: writes networks that are not quantized in float16, to DIR/SET-half.
Needs Debian's python3-onnx; exits with 77 without it."""

import argparse
import os
import sys
import zlib

try:
    import onnx  # noqa: F401
except ImportError:
    # PATH may begin with a Python that is not Debian's; Debian's has python3-onnx.
    if sys.executable != '/usr/bin/python3' and os.path.exists('/usr/bin/python3'):
        os.execv('/usr/bin/python3', ['/usr/bin/python3'] + sys.argv)
    print('SKIP: python3-onnx is not installed')
    sys.exit(77)

import conformer
import convnext
import detector
import efficientnet
import graph
import mixer
import quantized
import quantizer
import resnet
import restore
import segment
import shufflenet
import speech
import superres
import swin
import transformer
import unet
import volume
from net import Net

FILES = [resnet, shufflenet, efficientnet, convnext, unet, detector, transformer, swin, speech, volume, superres, quantized, quantizer,
         mixer, conformer, graph, restore, segment]


def sizes(case, which):
    _, used, held, small = case
    return {'used': used, 'held': held, 'small': {**used, **small}}[which]


def main():
    arguments = argparse.ArgumentParser(usage=__doc__)
    arguments.add_argument('dir')
    arguments.add_argument('names', nargs='?')
    arguments.add_argument('--set', choices=['used', 'held', 'small'], action='append')
    arguments.add_argument('--half', action='store_true')
    options = arguments.parse_args()
    cases = {name: case for file in FILES for name, case in file.CASES.items()}
    halved = [name for name in cases if not options.half or name not in {**quantized.CASES, **quantizer.CASES}]
    names = options.names.split(',') if options.names else halved
    unknown = [name for name in names if name not in cases]
    if unknown:
        sys.exit(f'make.py: no class {", ".join(unknown)}; there are {", ".join(cases)}')
    for which in options.set or ['used', 'held', 'small']:
        folder = os.path.join(options.dir, f'{which}-half' if options.half else which)
        os.makedirs(folder, exist_ok=True)
        for name in names:
            build = dict(sizes(cases[name], which))
            net = Net(name, zlib.crc32(f'{which} {name}'.encode()), build.pop('opset', 13))
            cases[name][0](net, **build)
            if options.half:
                net.halve()
            net.save(os.path.join(folder, f'{name}.onnx'))


main()
