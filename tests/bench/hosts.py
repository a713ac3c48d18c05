#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""hosts.py CLEAVE BENCH_MODEL [--into FILE.md] [--only NAME]: simulates four networks on 1 to 64 hosts with `cleave
simulate`, and prints tables.

The networks are VGG-16 (its convolutions and poolings), MobileNetV2, a detector for images of 1280 x 1280 and a BERT
for 384 words, all with random weights. With --into, the tables replace the text between the comments BEGIN and END in
FILE.md. Needs Debian's python3-onnx; exits with 77 without it."""

import argparse
import json
import os
import subprocess
import sys
import tempfile

try:
    import onnx  # noqa: F401
except ImportError:
    if sys.executable != '/usr/bin/python3' and os.path.exists('/usr/bin/python3'):
        os.execv('/usr/bin/python3', ['/usr/bin/python3'] + sys.argv)
    print('SKIP: python3-onnx is not installed')
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'peers', 'classes'))
import detector  # noqa: E402
import transformer  # noqa: E402
from net import Net  # noqa: E402

BEGIN, END = '<!-- hosts.py begin -->', '<!-- hosts.py end -->'
HOSTS = [1, 2, 4, 8, 16, 32, 64]
NETWORKS = [(1, 50), (10, 30), (100, 5)]  # networks: bandwidth in Gbit/s, latency in microseconds
THREADS = 4


def make_models(options, folder):
    def path(name):
        return os.path.join(folder, name + '.onnx')

    subprocess.run([options.bench_model, '--vgg', path('vgg')], check=True)
    subprocess.run([options.cleave, 'demo', '--repeat', '1', '--output-dir', folder, '--model', path('mobilenet')], check=True,
                   stdout=subprocess.DEVNULL)
    net = Net('detector', 1)
    detector.silu_detector(net, (1280, 1280), 32, [3, 6, 6, 3], True, False)
    net.save(path('detector'))
    net = Net('bert', 2)
    transformer.bert(net, 384, 768, 12, 12, True)
    net.save(path('bert'))
    return [('VGG-16, 224 × 224', path('vgg')), ('MobileNetV2, 224 × 224', path('mobilenet')),
            ('Detector, 1280 × 1280', path('detector')), ('BERT, 384 words', path('bert'))]


def simulate(options, model, n, bandwidth, latency, in_flight=1):
    done = subprocess.run([options.cleave, 'simulate', model, '--json', '--ranks', str(n), '--threads', str(THREADS), '--bandwidth',
                           str(bandwidth), '--latency', str(latency), '--in-flight', str(in_flight)], check=True, capture_output=True)
    return json.loads(done.stdout)


# Returns a letter for the cause that limits the latency, which is the time of a run:
# - 'c' (computation): the threads of at least one rank compute, on average, for at least 70 % of the latency.
# - 'n' (network): no rank computes for 70 % of the latency, and at least one rank sends messages for at least 50 %.
# - 'w' (wait): no rank computes for 70 % or sends for 50 % of the latency, so nodes wait for messages in transit.
def limit(report):
    time = report['latency_ms']
    if max(r['busy_ms'] for r in report['ranks']) / THREADS >= 0.7 * time:
        return 'c'
    return 'n' if max(r['sending_ms'] for r in report['ranks']) >= 0.5 * time else 'w'


def used(report):
    return sum(r['nodes'] > 0 for r in report['ranks'])


def table(options, name, model):
    lines = [f'{name}:', '', '| hosts | ' + ' | '.join(f'{b} Gbit/s' for b, _ in NETWORKS) + ' | largest, MB | stream, a second |',
             '|---|' + '---|' * (len(NETWORKS) + 2)]
    for n in HOSTS:
        cells = [simulate(options, model, n, *network) for network in NETWORKS]
        most = max(r['arena_bytes'] + r['weight_bytes'] for r in cells[1]['ranks']) / 1e6
        stream = simulate(options, model, n, *NETWORKS[1], in_flight=min(n + 2, 64))
        lines.append(f'| {n} | ' + ' | '.join(f'{t["latency_ms"]:.1f} ({used(t)} {limit(t)})' for t in cells) +
                     f' | {most:.1f} | {stream["per_second"]:.1f} |')
        print(lines[-1], file=sys.stderr)
    return lines + ['']


def main():
    arguments = argparse.ArgumentParser(usage=__doc__)
    arguments.add_argument('cleave')
    arguments.add_argument('bench_model')
    arguments.add_argument('--into')
    arguments.add_argument('--only', help='names begin with this', default='')
    options = arguments.parse_args()
    options.cleave, options.bench_model = map(os.path.abspath, (options.cleave, options.bench_model))
    with tempfile.TemporaryDirectory() as folder:
        lines = sum((table(options, *model) for model in make_models(options, folder)
                     if model[0].startswith(options.only)), [])
    if not options.into:
        print('\n'.join(lines))
        return
    with open(options.into, encoding='utf-8') as file:
        text = file.read()
    head, rest = text.split(BEGIN)
    with open(options.into, 'w', encoding='utf-8') as file:
        file.write(head + BEGIN + '\n\n' + '\n'.join(lines) + '\n' + END + rest.split(END)[1])


main()
