#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ranks-net.py BENCH_RANKS MODEL.onnx ... [--repeat N]: runs two ranks in two network namespaces, with links of three
bandwidths between them. Prints the measured and the simulated time of a run, and for how many of the bandwidths the two
times agree within 15 %. The script never fails because of a figure, since the figures are right only on a machine with
a free core for each rank. If there is chrt, the ranks have priority over other processes, for some seconds at each
bandwidth. Needs root, ip, tc with tbf, and mpirun; exits with 77 without them."""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

# Linux's token bucket filter (tbf) limits the bandwidth of the simulated link.
# For each bandwidth, the option `burst` of tbf: the number of bytes that tbf passes at full speed after a pause.
# These bursts are the number of bytes that the link transfers in 0.1 ms, but at least two frames.
# A real link has no bursts: a link of 1 Gbit/s transfers 64 KiB in 0.54 ms.
# A larger burst makes the simulated link too fast: with a burst of 50 kB (0.4 ms at 1 Gbit/s), tbf passed 64 KiB in only 0.26 ms.
RATES = {'200mbit': '4kb', '500mbit': '6kb', '1gbit': '12kb'}
PLACED_FOR = ['10', '30']  # Gbit/s and microseconds; for a slower network, one rank would get all nodes
SPACES = ['cleave-a', 'cleave-b']
LINK = 'veth0'
ADDRESSES = ['10.77.0.1', '10.77.0.2']
BY_MPI = ['-x', 'CLEAVE_DEBUG=mpi']  # without this option, the ranks would read each other's memory, since they are on one host
FIRST = ['chrt', '-f', '1'] if shutil.which('chrt') else []

# A program that mpirun calls instead of ssh. It starts Open MPI's daemon in the namespace of the given address.
# Each daemon has its own folder for temporary files, as on separate hosts.
AGENT = '''#!/bin/sh
case $1 in {0}) space={2} ;; *) space={3} ;; esac
shift
mkdir -p "{4}/$space"
exec {5} ip netns exec "$space" env TMPDIR="{4}/$space" sh -c "$*"
'''


def ip(*arguments):
    subprocess.run(['ip', *arguments], check=True, capture_output=True)


def set_rate(space, rate):
    subprocess.run(['tc', '-n', space, 'qdisc', 'replace', 'dev', LINK, 'root', 'tbf', 'rate', rate, 'burst',
                    RATES[rate], 'latency', '400ms'], check=True, capture_output=True)


def take_down():
    for space in SPACES:
        with contextlib.suppress(subprocess.CalledProcessError):
            ip('netns', 'del', space)


def set_up():
    try:
        make_spaces()
    except subprocess.CalledProcessError as e:
        print('SKIP: no such network here:', e.stderr.decode())
        sys.exit(77)


def make_spaces():
    for space in SPACES:
        ip('netns', 'add', space)
    ip('link', 'add', LINK, 'netns', SPACES[0], 'type', 'veth', 'peer', 'name', LINK, 'netns', SPACES[1])
    for space, address in zip(SPACES, ADDRESSES):
        ip('-n', space, 'addr', 'add', address + '/24', 'dev', LINK)
        ip('-n', space, 'link', 'set', 'lo', 'up')
        ip('-n', space, 'link', 'set', LINK, 'up')
        set_rate(space, next(iter(RATES)))


def run(bench, model, repeat, agent):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1',
                       OMPI_MCA_hwloc_base_binding_policy='none', OMPI_MCA_mpi_yield_when_idle='1')
    done = subprocess.run([*FIRST, 'ip', 'netns', 'exec', SPACES[0], 'mpirun', *BY_MPI, '--mca', 'plm_rsh_agent', agent, '--mca',
                           'oob_tcp_if_include', '10.77.0.0/24', '--mca', 'btl', 'tcp,self', '--mca', 'btl_tcp_if_include',
                           '10.77.0.0/24', '-H', ':1,'.join(ADDRESSES) + ':1', '-n', '2', bench, model, *PLACED_FOR, repeat],
                          check=True, capture_output=True, text=True, env=environment, timeout=600)
    return json.loads(done.stdout)


def check_rates(bench, model, repeat, agent):
    n_good = 0
    for rate in RATES:
        for space in SPACES:
            set_rate(space, rate)
        report = run(bench, model, repeat, agent)
        n_good += abs(report['ratio'] - 1) <= 0.15
        print(f'{rate}: {report["ms"]:.1f} ms, simulated {report["simulated_ms"]:.1f} ms ({report["ratio"]:.2f}); '
              f'{report["messages"]} messages, measured {report["gbit"]} Gbit/s and {report["latency_us"]} us; '
              f'alone {report["alone_ms"]:.1f} ms', flush=True)
    print(f'{os.path.basename(model)}: {n_good} of {len(RATES)} within 15 %', flush=True)


def main():
    arguments = argparse.ArgumentParser(usage=__doc__)
    arguments.add_argument('bench_ranks')
    arguments.add_argument('models', nargs='+')
    arguments.add_argument('--repeat', default='20')
    options = arguments.parse_args()
    bench = os.path.abspath(options.bench_ranks)
    if os.geteuid() != 0 or not all(map(shutil.which, ('ip', 'tc', 'mpirun'))):
        print('SKIP: root, ip, tc and mpirun are needed')
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        agent = os.path.join(folder, 'agent')
        with open(agent, 'w', encoding='utf-8') as file:
            file.write(AGENT.format(*ADDRESSES, *SPACES, folder, ' '.join(FIRST)))
        os.chmod(agent, 0o755)
        take_down()
        try:
            set_up()
            for model in options.models:
                check_rates(bench, os.path.abspath(model), options.repeat, agent)
        finally:
            take_down()


main()
