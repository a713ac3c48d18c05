#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ranks-here.py BENCH_RANKS BENCH_MODEL [FOLDER] [--repeat N]: compares two kinds of runs on this machine: two ranks of
one thread each, and one process of two threads.

Runs on ranks alternate with runs of one process, and the script takes the shortest time of each. The models are the
convolutions of VGG-16, DenseNet-121 with random weights, and the text detector that tests/peers/fetch.sh downloaded to
FOLDER, at 640 x 640. If there is chrt, all runs have priority over other processes. Exits with 77 without mpirun."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'help'))
import networks  # noqa: E402

FIRST = ['chrt', '-f', '1'] if shutil.which('chrt') else []
MEASURED = ['0', '0']  # GBIT and LATENCY of bench-ranks; 0: the model is placed for the measured network
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1', OMPI_MCA_mpi_yield_when_idle='1',
                   OMPI_MCA_rmaps_base_oversubscribe='1', OMPI_MCA_hwloc_base_binding_policy='none')


def make_models(options, folder):
    vgg, dense = (os.path.join(folder, name) for name in ('vgg.onnx', 'dense.onnx'))
    subprocess.run([options.bench_model, '--vgg', vgg], check=True)
    with open(dense, 'wb') as file:
        file.write(networks.densenet())
    yield 'VGG-16, convolutions', [vgg], []
    yield 'DenseNet-121', [dense], []
    if options.folder:
        yield 'text detector, 640 x 640', [os.path.join(options.folder, 'det.onnx')], ['1,3,640,640']


def main():
    arguments = argparse.ArgumentParser(usage=__doc__)
    arguments.add_argument('bench_ranks')
    arguments.add_argument('bench_model')
    arguments.add_argument('folder', nargs='?')
    arguments.add_argument('--repeat', default='12')
    options = arguments.parse_args()
    if shutil.which('mpirun') is None:
        print('SKIP: mpirun is not installed')
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        for name, model, shape in make_models(options, folder):
            done = subprocess.run([*FIRST, 'mpirun', '-n', '2', options.bench_ranks, *model, *MEASURED, options.repeat, *shape],
                                  check=True, capture_output=True, text=True, env=ENVIRONMENT)
            report = json.loads(done.stdout)
            print(f'{name}: {report["ms"]:.1f} ms, one process {report["one_process_ms"]:.1f} ms: {report["of_one_process"]:.2f} of the time, '
                  f'{report["memory_of_one_process"]:.2f} of the memory; {report["messages"]} messages', flush=True)


main()
