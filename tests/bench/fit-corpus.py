#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""fit-corpus.py make FOLDER                        writes the networks of the corpus to FOLDER
fit-corpus.py measure CLEAVE RESULTS.json PATH…  fits each network of the paths (files or folders) with the command CLEAVE
fit-corpus.py compare OLD.json NEW.json          compares two results: bytes, latency, processor time
fit-corpus.py table RESULTS.json                 prints memory and search time of one result as Markdown

`measure` asks `cleave fit` for the least memory of each network under four limits: no added MACs, no added MACs with the
inputs excluded, 10 % added MACs, any MACs. Small networks come first. Each run ends after --seconds of processor time.
RESULTS.json is written after each run; an interrupted measurement goes on where it stopped."""

import argparse
import collections
import hashlib
import json
import math
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))

# The options of each limit. EXCLUDE stands for the option that excludes the inputs.
LIMITS = {'+0 %': ['--max-added-macs', '0'], '+0 %, inputs excluded': ['--max-added-macs', '0', 'EXCLUDE'],
          '+10 %': ['--max-added-macs', '10'], 'any MACs': []}
EXCLUDE = ['--exclude-inputs', '--inputs-apart']

# A run may wait this many times its processor seconds before it is killed: other processes use the machine too.
PATIENCE = 20

# Networks of up to 500 nodes are searched within 0.3 s of processor time on one core.
SMALL_NODES, SMALL_SECONDS = 500, 0.3

# Pattern of a label, the largest part of the unsplit arena at +10 % MACs, the largest latency ratio, the most seconds.
GOALS = [(r'networks/(tcn|wavenet)', 0.15, 1.25, None), (r'networks/yolov5', 0.60, None, None),
         (r'networks/centernet', 0.35, None, None), (r'networks/chain-10000', None, None, 3.0),
         (r'networks/bert-base', None, None, 1.0)]


# Networks

def zoo_options():
    """Returns the shape options of each model of tests/peers/models.txt by name."""
    options = {}
    with open(os.path.join(HERE, '..', 'peers', 'models.txt'), encoding='utf-8') as file:
        rows = [line.split() for line in file if line.strip() and not line.startswith('#')]
    for _, name, _, _, text, _ in rows:
        if re.fullmatch('[0-9,]+', text):
            options[name] = ['--shape', text]
            continue
        options[name] = []
        for part in text.split(';'):
            input, sign, value = re.fullmatch('(.*?)([=:!])(.*)', part).groups()
            if sign != ':':
                options[name] += ['--fix' if sign == '!' else '--shape', f'{input}={value}']
    return options


def files_below(path):
    """Returns the models below a folder. Where fetch.sh has put links to models, only those."""
    files = []
    for folder, folders, names in os.walk(path):
        models = [os.path.join(folder, name) for name in names if os.path.splitext(name)[1] in ('.onnx', '.tflite')]
        links = [model for model in models if os.path.islink(model)]
        files += links or models
        folders[:] = [] if links else folders
    return sorted(files)


def networks(paths, word):
    """Returns label, file and options of each network of the paths."""
    zoo, found = zoo_options(), {}
    for path in paths:
        for file in [path] if os.path.isfile(path) else files_below(path):
            label = os.path.relpath(file, path if os.path.isdir(path) else os.path.dirname(path)).removesuffix('.onnx')
            if label in found:
                sys.exit(f'fit-corpus: two networks are called {label}: {found[label][0]} and {file}')
            found[label] = (file, zoo.get(os.path.basename(label), []) if os.path.islink(file) else [])
    return [(label, *found[label]) for label in found if word in label]


# Measuring

def run(command, seconds):
    """Runs a command within so many processor seconds. Returns its status, output, errors and processor seconds."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=output, stderr=errors, stdin=subprocess.DEVNULL,
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1)))
        timer = threading.Timer(PATIENCE * seconds, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = status
        output.seek(0)
        errors.seek(0)
        used = usage.ru_utime + usage.ru_stime
        return os.waitstatus_to_exitcode(status), output.read(), errors.read().decode(errors='replace'), used


def fit(cleave, exclude, file, options, limit, seconds):
    arguments = [exclude if option == 'EXCLUDE' else option for option in LIMITS[limit]]
    status, output, errors, used = run([cleave, 'fit', file, *options, *arguments, '--json'], seconds)
    result = {'seconds': round(used, 3)}
    if status < 0:
        return {**result, 'error': f'over {seconds} s' if used >= seconds else f'signal {-status}'}
    if status != 0:
        return {**result, 'error': errors.strip()[:400]}
    report = json.loads(output)
    nodes, arena, macs, latency = (report[key] for key in ('nodes', 'arena_bytes', 'macs', 'latency_ms'))
    ratio = lambda pair: round(pair['after'] / pair['before'], 4) if pair['before'] else 1.0
    return {**result, 'bytes': arena['after'], 'bytes_before': arena['before'], 'nodes': nodes['after'],
            'nodes_before': nodes['before'], 'macs_ratio': ratio(macs), 'latency_ratio': ratio(latency)}


def count_nodes(cleave, file, options):
    """Returns the nodes of a network and the processor seconds that it takes to read it; no nodes if it cannot be read."""
    status, output, _, used = run([cleave, 'info', file, *options, '--json'], 60)
    return (json.loads(output)['nodes'] if status == 0 else None), round(used, 3)


def identify(cleave):
    """Returns a hash of the command and of the project's libraries that it loads."""
    lines = subprocess.run(['ldd', cleave], capture_output=True, text=True).stdout
    digest = hashlib.sha256()
    for file in [cleave, *sorted(re.findall(r'=> (\S*libcleave\S*)', lines))]:
        with open(file, 'rb') as data:
            digest.update(data.read())
    return digest.hexdigest()[:16]


def store(path, results):
    with open(path + '.new', 'w', encoding='utf-8') as file:
        json.dump(results, file, indent=1)
    os.replace(path + '.new', path)


def measure(options):
    usage = subprocess.run([options.cleave, 'fit', '--help'], capture_output=True, text=True, check=True).stdout
    exclude = next(option for option in EXCLUDE if option in usage)
    identity, results = identify(options.cleave), None
    if os.path.exists(options.results):
        with open(options.results, encoding='utf-8') as file:
            results = json.load(file)
        if results['identity'] != identity:
            sys.exit(f'fit-corpus: {options.results} was measured with another build; give another file, or remove it')
    results = results or {'cleave': options.cleave, 'identity': identity, 'seconds': options.seconds, 'networks': {}}
    known, found = results['networks'], networks(options.paths, options.only)
    for label, file, more in found:
        if label not in known:
            nodes, used = count_nodes(options.cleave, file, more)
            known[label] = {'nodes': nodes, 'bytes_of_file': os.path.getsize(file), 'read_seconds': used, 'fits': {}}
    store(options.results, results)
    readable = [(known[label]['nodes'], label, file, more) for label, file, more in found if known[label]['nodes']]
    for _, label, file, more in sorted(readable):
        for limit in options.limit or LIMITS:
            if limit not in known[label]['fits']:
                one = known[label]['fits'][limit] = fit(options.cleave, exclude, file, more, limit, options.seconds)
                store(options.results, results)
                told = f'{one["bytes_before"]} -> {one["bytes"]}' if 'bytes' in one else one['error']
                print(f'{label}, {limit}: {told}, {one["seconds"]:.2f} s', flush=True)


# Comparing

def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else 1.0


def both(old, new, limit):
    """Yields label and the fits under a limit of each network that both results fitted."""
    for label, network in sorted(old.items()):
        before, after = network['fits'].get(limit, {}), new.get(label, {'fits': {}})['fits'].get(limit, {})
        if before.get('bytes') and after.get('bytes'):
            yield label, before, after


def compare_limit(limit, old, new):
    pairs = list(both(old, new, limit))
    if not pairs:
        return
    ratios = {label: after['bytes'] / before['bytes'] for label, before, after in pairs}
    latency = mean([after['latency_ratio'] / before['latency_ratio'] for _, before, after in pairs if before['latency_ratio']])
    print(f'\n{limit}: bytes {mean(ratios.values()):.4f}, estimated latency {latency:.4f} '
          f'(geometric means of new / old, {len(pairs)} networks)')
    groups = collections.defaultdict(list)
    for label, ratio in ratios.items():
        groups[os.path.dirname(label) or '.'].append(ratio)
    print('  by folder: ' + ', '.join(f'{group} {mean(values):.4f} ({len(values)})' for group, values in sorted(groups.items())))
    worst = sorted(((ratio, label) for label, ratio in ratios.items() if ratio > 1.01), reverse=True)
    for least, most, what in ((1.05, math.inf, 'more than 5 % worse'), (1.01, 1.05, '1 to 5 % worse')):
        lines = [(ratio, label) for ratio, label in worst if least < ratio <= most]
        print(f'  {what}: {len(lines)}')
        for ratio, label in lines:
            before, after = old[label]['fits'][limit], new[label]['fits'][limit]
            print(f'    {ratio:8.4f}  {label}: {before["bytes"]} -> {after["bytes"]} bytes, latency ratio '
                  f'{before["latency_ratio"]:.2f} -> {after["latency_ratio"]:.2f}, nodes {before["nodes"]} -> {after["nodes"]}')
    print(f'  more than 1 % better: {sum(ratio < 0.99 for ratio in ratios.values())}')
    for label in sorted(old):
        before, after = old[label]['fits'].get(limit, {}), new.get(label, {'fits': {}})['fits'].get(limit, {})
        if 'bytes' in before and 'error' in after:
            print(f'  fails now: {label}: {after["error"]}')


def seconds_of(results):
    """Returns processor seconds, nodes, label and limit of each run, the slowest first."""
    return sorted(((one['seconds'], network['nodes'], label, limit) for label, network in results.items()
                   for limit, one in network['fits'].items()), reverse=True)


def compare_times(old, new):
    print('\nprocessor seconds per run:')
    print(f'  {"nodes":>12} {"runs":>6} {"old sum":>10} {"new sum":>10} {"old most":>10} {"new most":>10}')
    for least, most in ((0, 50), (50, 100), (100, 200), (200, 500), (500, math.inf)):
        runs = [(before['seconds'], after['seconds']) for limit in LIMITS for label, network in old.items()
                if least < (network['nodes'] or 0) <= most and label in new
                for before, after in [(network['fits'].get(limit), new[label]['fits'].get(limit))] if before and after]
        if runs:
            sums = [sum(column) for column in zip(*runs)] + [max(column) for column in zip(*runs)]
            print(f'  {f"{least + 1} to {most}":>12} {len(runs):>6} ' + ' '.join(f'{value:>10.2f}' for value in sums))
    slow = [run for run in seconds_of(new) if run[0] > SMALL_SECONDS and run[1] <= SMALL_NODES]
    print(f'  new runs of up to {SMALL_NODES} nodes over {SMALL_SECONDS} s: {len(slow)}')
    for seconds, nodes, label, limit in slow:
        print(f'    {seconds:8.2f} s  {label} ({nodes} nodes), {limit}')


def compare_goals(new):
    print('\ngoals at +10 % MACs:')
    for pattern, part, latency, seconds in GOALS:
        for label, network in sorted(new.items()):
            one = network['fits'].get('+10 %', {})
            if not re.search(pattern, label) or not one:
                continue
            values = [('part', one['bytes'] / one['bytes_before'] if 'bytes' in one else math.inf, part),
                      ('latency', one.get('latency_ratio', math.inf), latency), ('seconds', one['seconds'], seconds)]
            good = all(goal is None or value <= goal for _, value, goal in values)
            told = ', '.join(f'{name} {value:.2f} of {goal}' for name, value, goal in values if goal is not None)
            print(f'  {"met   " if good else "MISSED"}  {label}: {told}')


def compare(options):
    old, new = (json.load(open(path, encoding='utf-8'))['networks'] for path in (options.old, options.new))
    for limit in LIMITS:
        compare_limit(limit, old, new)
    compare_times(old, new)
    compare_goals(new)


# A table for docs/benchmarks.md

def cell(one):
    if 'bytes' not in one:
        return f'- | - | {one["error"] if one.get("error", "").startswith("over") else "-"}'
    return f'{one["bytes"] / max(1, one["bytes_before"]):.2f} | {one["latency_ratio"]:.2f} | {one["seconds"]:.2f}'


def table(options):
    with open(options.results, encoding='utf-8') as file:
        results = json.load(file)
    print('| network | nodes | arena, KiB | ' + ' | '.join(f'{limit}: part | latency | s' for limit in LIMITS) + ' |')
    print('|---|---|---|' + '---|---|---|' * len(LIMITS))
    for label, network in sorted(results['networks'].items()):
        fits = network['fits']
        arena = next((one['bytes_before'] for one in fits.values() if 'bytes' in one), None)
        if arena:
            cells = [cell(fits.get(limit, {})) for limit in LIMITS]
            print(f'| {label} | {network["nodes"]} | {arena / 1024:.1f} | ' + ' | '.join(cells) + ' |')


def make(options):
    """Writes the classes of tests/peers to FOLDER/classes and the networks of tests/bench to FOLDER/networks."""
    try:
        import onnx  # noqa: F401
    except ImportError:
        # Debian's python3-onnx is for this interpreter; another one may come first in PATH.
        if sys.executable != '/usr/bin/python3' and os.path.exists('/usr/bin/python3'):
            os.execv('/usr/bin/python3', ['/usr/bin/python3', *sys.argv])
        print('SKIP: python3-onnx is not installed')
        sys.exit(77)
    classes = os.path.join(options.folder, 'classes')
    if not options.only and not os.path.exists(classes):
        subprocess.run([sys.executable, os.path.join(HERE, '..', 'peers', 'classes', 'make.py'), classes], check=True)
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.join(HERE, 'networks'))
    import corpus
    corpus.write(os.path.join(options.folder, 'networks'), options.only)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser('make')
    one.add_argument('folder')
    one.add_argument('--only', default='', help='only networks whose name holds this word')
    one.set_defaults(call=make)
    one = commands.add_parser('measure')
    one.add_argument('cleave')
    one.add_argument('results')
    one.add_argument('paths', nargs='+')
    one.add_argument('--only', default='', help='only networks whose label holds this word')
    one.add_argument('--limit', action='append', choices=list(LIMITS))
    one.add_argument('--seconds', type=int, default=60, help='processor seconds of a run (60)')
    one.set_defaults(call=measure)
    one = commands.add_parser('compare')
    one.add_argument('old')
    one.add_argument('new')
    one.set_defaults(call=compare)
    one = commands.add_parser('table')
    one.add_argument('results')
    one.set_defaults(call=table)
    options = parser.parse_args()
    options.call(options)


main()
