#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ranks-sweep.py CLEAVE FOLDER [MODEL.onnx[:SHAPE] ...] [--only NAME]: runs models on 1 to 4 ranks with 1 and 2
threads, in shared memory and over TCP only.

The models are the models that tests/peers/fetch.sh downloaded to FOLDER, and the given MODELs. Each run must have the
outputs of one process, bit for bit, and send the planned messages and bytes. Nodes are placed for a very fast network,
so that ranks send many values. Fails if a run fails. Exits with 77 without mpirun."""

import argparse
import json
import os
import shutil
import subprocess
import sys

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'peers', 'models.txt')
NETWORK = ['--bandwidth', '1000', '--latency', '0.1']
TRANSPORTS = {'memory': [], 'TCP': ['-x', 'CLEAVE_DEBUG=mpi', '--mca', 'btl', 'tcp,self']}
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1', OMPI_MCA_mpi_yield_when_idle='1',
                   OMPI_MCA_rmaps_base_oversubscribe='1', OMPI_MCA_hwloc_base_binding_policy='none')


# Returns the options --shape and --fix for the fifth field of a line of models.txt.
# The field "1,3,8,8" is the shape of the only input. In the field "x=1,8;n:5;m!6", x has a shape, and n and m have values.
def shape_options(text):
    options = []
    for one in text.split(';'):
        name = one.replace('!', ':').split(':')
        options += ['--fix', '='.join(name)] if len(name) == 2 else ['--shape', one]
    return options


def list_models(folder, more):
    with open(LIST, encoding='utf-8') as file:
        rows = [line.split() for line in file if line.strip() and not line.startswith('#')]
    found = [(row[1], os.path.join(folder, row[1] + '.onnx'), shape_options(row[4])) for row in rows]
    found += [(os.path.basename(path), path, shape_options(shape) if shape else [])
              for path, _, shape in (one.partition(':') for one in more)]
    return [model for model in found if os.path.exists(model[1])]


def load(*command):
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=600)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)


def find_fault(report, planned, outputs):
    if report['outputs'] != outputs:
        return 'other bits'
    for key in 'messages_sent', 'messages_received':
        if sum(rank[key] for rank in report['ranks']) != planned['messages']:
            return f'{key} are not as planned'
    for key in 'bytes_sent', 'bytes_received', 'arena_bytes':
        if [rank[key] for rank in report['ranks']] != [rank[key] for rank in planned['ranks']]:
            return f'{key} are not as planned'
    return None


def check_model(cleave, path, shape):
    outputs = load(cleave, 'run', path, *shape, '--json')['outputs']
    n_runs, n_messages, n_bytes, faults = 0, 0, 0, []
    for n in range(1, 5):
        for threads in '1', '2':
            given = [path, *shape, '--threads', threads, *NETWORK, '--json']
            planned = load(cleave, 'simulate', '--ranks', str(n), *given)
            n_messages = max(n_messages, planned['messages'])
            n_bytes = max(n_bytes, sum(rank['bytes_sent'] for rank in planned['ranks']))
            for name, options in TRANSPORTS.items():
                report = load('mpirun', '-n', str(n), *options, cleave, 'run', '--ranks', *given)
                fault = find_fault(report, planned, outputs)
                n_runs += 1
                faults += [f'{n} ranks of {threads} threads, {name}: {fault}'] if fault else []
    return n_runs, n_messages, n_bytes, faults


def main():
    arguments = argparse.ArgumentParser(usage=__doc__)
    arguments.add_argument('cleave')
    arguments.add_argument('folder')
    arguments.add_argument('models', nargs='*')
    arguments.add_argument('--only', default='', help='names begin with this')
    options = arguments.parse_args()
    n_bad = 0
    if shutil.which('mpirun') is None:
        print('SKIP: mpirun is not installed')
        sys.exit(77)
    for name, path, shape in list_models(options.folder, options.models):
        if not name.startswith(options.only):
            continue
        try:
            n_runs, n_messages, n_bytes, faults = check_model(os.path.abspath(options.cleave), path, shape)
        except RuntimeError as e:
            n_runs, n_messages, n_bytes, faults = 0, 0, 0, [str(e)]
        n_bad += len(faults)
        print(f'{name}: {n_runs} runs, at most {n_messages} messages and {n_bytes / 1e6:.2f} MB; ' +
              ('; '.join(faults) or 'good'), flush=True)
    print(f'ranks-sweep: {n_bad or "nothing"} wrong')
    sys.exit(n_bad > 0)


main()
