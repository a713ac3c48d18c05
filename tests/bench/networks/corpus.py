# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the networks on which `cleave fit` is measured: classes with long time axes, detection heads, many nodes. Each is
an ONNX file with seeded weights. tests/peers/classes has more networks, and the class Net that builds them."""

import os
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
CLASSES = os.path.join(HERE, '..', '..', 'peers', 'classes')
sys.path += [CLASSES, os.path.join(HERE, '..', '..', 'help')]

import networks  # noqa: E402
from net import Net  # noqa: E402

import detectors  # noqa: E402
import pictures  # noqa: E402
import sequences  # noqa: E402
import text  # noqa: E402

CASES = {name: case for file in (sequences, detectors, pictures, text) for name, case in file.CASES.items()}
DENSE = {'densenet-121': {}, 'densenet-small': dict(blocks=(4, 4, 4), growth=12, first=24, size=96)}


def write(folder, word):
    """Writes the networks whose names contain `word`, except networks whose files exist."""
    os.makedirs(folder, exist_ok=True)
    for name in [name for name in (*CASES, *DENSE) if word in name]:
        path = os.path.join(folder, f'{name}.onnx')
        if os.path.exists(path):
            continue
        if name in DENSE:
            with open(path, 'wb') as file:
                file.write(networks.densenet(**DENSE[name]))
            continue
        build, sizes = CASES[name]
        sizes = dict(sizes)
        net = Net(name, zlib.crc32(name.encode()), sizes.pop('opset', 13))
        build(net, **sizes)
        net.save(path)
