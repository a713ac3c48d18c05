#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""fit-corpus.py make FOLDER                        writes the networks of the corpus to FOLDER
fit-corpus.py measure CLEAVE RESULTS.json PATH…  fits each network of the paths (files or folders) with the command CLEAVE
fit-corpus.py compare OLD.json NEW.json          compares two results: bytes, latency, processor time
fit-corpus.py goals CLEAVE PATH…                 fits the networks that have a goal, runs them, and checks the goal
fit-corpus.py table RESULTS.json                 prints memory and search time of a result as Markdown

`measure` asks `cleave fit` for the least memory of each network. There are four limits: no added MACs, no added MACs
with the inputs excluded, a tenth more MACs, any number of MACs. Small networks come first. A run is killed after
--seconds of processor time. RESULTS.json is written after each run, so that an interrupted measurement continues where
it stopped."""

import argparse
import collections
import hashlib
import json
import math
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))

# The options of each limit.
# 'EXCLUDE' stands for the option that excludes the inputs; its name depends on the version of `cleave`.
LIMITS = {'+0 %': ['--max-added-macs', '0'], '+0 %, inputs excluded': ['--max-added-macs', '0', 'EXCLUDE'],
          '+10 %': ['--max-added-macs', '10'], 'any MACs': []}
EXCLUDE = ['--exclude-inputs', '--inputs-apart']

# The comparison lists at most this many slow runs.
LISTED_RUNS = 40

# A run may take PATIENCE times as many seconds of wall-clock time as its limit of processor seconds; then it is killed.
# The factor is large, since a run may wait for a processor.
PATIENCE = 20

# A goal: the search in a network of at most SMALL_NODES nodes takes at most SMALL_SECONDS processor seconds.
SMALL_NODES, SMALL_SECONDS = 500, 0.3

# The rows of the table of times, by the number of nodes of a network.
# A row (a, b) has the networks with more than a and at most b nodes.
SIZES = [(0, 50), (50, 100), (100, 200), (200, 500), (500, math.inf)]

# Each goal is a regular expression for the labels of networks, a budget, and the largest latency.
# The budget is a fraction of the unsplit arena. The latency is a multiple of the unsplit latency.
GOALS = [(r'networks/(tcn|wavenet)', 0.15, 1.25), (r'networks/yolov5', 0.60, math.inf), (r'networks/centernet', 0.35, math.inf)]
# The goals for the search time of large networks: a pattern of labels, and the most processor seconds of a search.
SECONDS = [(r'networks/chain-10000', 3.0), (r'networks/bert-base', 1.0)]
ELEMENT_BYTES = {'float32': 4, 'int64': 8}  # bytes of an element of the inputs and outputs of networks with goals

# A latency is the minimum over this many rounds. Each round runs the whole model and the split one.
ROUNDS = 5

# The functions below find the networks of the corpus.

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
    """Returns the models in a folder and its subfolders. If fetch.sh has made links in the folder, returns only the
    links."""
    files = []
    for folder, folders, names in os.walk(path):
        models = [os.path.join(folder, name) for name in names if os.path.splitext(name)[1] in ('.onnx', '.tflite')]
        links = [model for model in models if os.path.islink(model)]
        files += links or models
        folders[:] = [] if links else folders
    return sorted(files)


def networks(paths, word):
    """Returns label, file and options of each network in the paths whose label contains `word`."""
    zoo, found = zoo_options(), {}
    for path in paths:
        for file in [path] if os.path.isfile(path) else files_below(path):
            label = os.path.relpath(file, path if os.path.isdir(path) else os.path.dirname(path)).removesuffix('.onnx')
            if label in found:
                sys.exit(f'fit-corpus: two networks are called {label}: {found[label][0]} and {file}')
            found[label] = (file, zoo.get(os.path.basename(label), []) if os.path.islink(file) else [])
    return [(label, *found[label]) for label in found if word in label]


# The functions below measure the networks.

def run(command, seconds):
    """Runs a command with a limit of processor seconds. Returns its status, output, errors and used processor seconds."""
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
        return {**result, 'error': f'over {seconds} s' if status == -signal.SIGXCPU else f'signal {-status}'}
    if status != 0:
        return {**result, 'error': errors.strip()[:400]}
    report = json.loads(output)
    nodes, arena, macs, latency = (report[key] for key in ('nodes', 'arena_bytes', 'macs', 'latency_ms'))
    ratio = lambda pair: round(pair['after'] / pair['before'], 4) if pair['before'] else 1.0
    return {**result, 'bytes': arena['after'], 'bytes_before': arena['before'], 'nodes': nodes['after'],
            'nodes_before': nodes['before'], 'macs_ratio': ratio(macs), 'latency_ratio': ratio(latency)}


def count_nodes(cleave, file, options):
    """Returns the number of nodes of a network, or None if the command cannot read the network. Also returns the
    processor seconds of the command."""
    status, output, _, used = run([cleave, 'info', file, *options, '--json'], 60)
    return (json.loads(output)['nodes'] if status == 0 else None), round(used, 3)


def identify(cleave):
    """Returns a hash of the command and of the Cleave libraries that it loads."""
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
                outcome = f'{one["bytes_before"]} -> {one["bytes"]}' if 'bytes' in one else one['error']
                print(f'{label}, {limit}: {outcome}, {one["seconds"]:.2f} s', flush=True)


# The functions below compare two files of results.

def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else 1.0


def both(old, new, limit):
    """Yields label, old fit and new fit of each network that both results fitted under a limit."""
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


def size_name(least, most):
    return f'{least + 1} to {most}' if most < math.inf else f'over {least}'


def seconds_of(results):
    """Returns processor seconds, nodes, label and limit of each run, the slowest first."""
    return sorted(((one['seconds'], network['nodes'], label, limit) for label, network in results.items()
                   for limit, one in network['fits'].items()), reverse=True)


def compare_times(old, new):
    print('\nprocessor seconds per run:')
    print(f'  {"nodes":>12} {"runs":>6} {"old sum":>10} {"new sum":>10} {"old most":>10} {"new most":>10}')
    for least, most in SIZES:
        runs = [(before['seconds'], after['seconds']) for limit in LIMITS for label, network in old.items()
                if least < (network['nodes'] or 0) <= most and label in new
                for before, after in [(network['fits'].get(limit), new[label]['fits'].get(limit))] if before and after]
        if runs:
            sums = [sum(column) for column in zip(*runs)] + [max(column) for column in zip(*runs)]
            print(f'  {size_name(least, most):>12} {len(runs):>6} ' + ' '.join(f'{value:>10.2f}' for value in sums))
    slow = [run for run in seconds_of(new) if run[0] > SMALL_SECONDS and run[1] <= SMALL_NODES]
    print(f'  new runs of up to {SMALL_NODES} nodes over {SMALL_SECONDS} s: {len(slow)}')
    for seconds, nodes, label, limit in slow[:LISTED_RUNS]:
        print(f'    {seconds:8.2f} s  {label} ({nodes} nodes), {limit}')


def compare_seconds(new):
    """Prints the slowest run of each network that has a goal of search time."""
    for label, network in sorted(new.items()):
        goal = next((seconds for pattern, seconds in SECONDS if re.search(pattern, label)), None)
        if goal is not None:
            worst = max((one['seconds'] for one in network['fits'].values()), default=math.nan)
            print(f'  {label} ({network["nodes"]} nodes): {worst:.2f} s of {goal} s')


def compare(options):
    old, new = (json.load(open(path, encoding='utf-8'))['networks'] for path in (options.old, options.new))
    for limit in LIMITS:
        compare_limit(limit, old, new)
    compare_times(old, new)
    compare_seconds(new)


# The functions below check the goals.

def clock(cleave, file, repeat):
    output = run([cleave, 'run', file, '--as-is', '--threads', '1', '--repeat', str(repeat), '--json'], 600)[1]
    return json.loads(output)['latency_ms']['min']


def time_both(cleave, file, split):
    """Returns the measured latency of the split model divided by the latency of the whole model, on one thread."""
    repeat = max(3, min(50, math.ceil(300 / clock(cleave, file, 1))))
    pairs = [(clock(cleave, file, repeat), clock(cleave, split, repeat)) for _ in range(ROUNDS)]
    whole, pieces = (min(column) for column in zip(*pairs))
    return pieces / whole


def check_goal(cleave, file, part, latency):
    """Fits a network into the fraction `part` of its unsplit arena. Returns whether the latency of the split network is
    at most `latency` times the unsplit latency, and a line of figures."""
    arena = json.loads(run([cleave, 'memory', file, '--json'], 60)[1])['models'][0]['arena_bytes']
    info = json.loads(run([cleave, 'info', file, '--json'], 60)[1])
    borders = sum(ELEMENT_BYTES[one['type']] * math.prod(one['shape']) for one in info['inputs'] + info['outputs'])
    with tempfile.TemporaryDirectory() as folder:
        split = os.path.join(folder, 'split.onnx')
        status, output, errors, used = run([cleave, 'fit', file, '--max-memory', str(int(part * arena)), '-o', split, '--json'], 60)
        if status != 0:
            return False, f'{part} of {arena} bytes, inputs and outputs {borders / arena:.3f}: {errors.strip()[:200] or "over 60 s"}'
        report = json.loads(output)
        clocked = time_both(cleave, file, split)
    found, estimated = report['arena_bytes']['after'] / arena, report['latency_ms']['after'] / report['latency_ms']['before']
    added = 100 * (report['macs']['after'] / report['macs']['before'] - 1)
    return clocked <= latency, (f'{found:.3f} of {arena} bytes, inputs and outputs {borders / arena:.3f}, latency ratio {clocked:.2f} by the clock ({estimated:.2f} estimated) '
                                f'of {latency}, MACs +{added:.1f} %, {report["nodes"]["after"]} nodes, {used:.2f} s')


def goals(options):
    missed = 0
    for label, file, _ in networks(options.paths, options.only):
        for pattern, part, latency in GOALS:
            if re.search(pattern, label):
                met, outcome = check_goal(options.cleave, file, part, latency)
                print(f'{"met   " if met else "MISSED"} {label}: {outcome}', flush=True)
                missed += not met
    sys.exit(1 if missed else 0)


# The functions below print the tables of bench/results/fit-search-time.md.

# each_network() prints a row only for networks whose labels begin with one of these words.
# seconds_by_size() prints statistics of all networks.
LISTED = r'^(networks|zoo|demo)/'
BEGIN, END = '<!-- fit-corpus.py table: begin -->', '<!-- fit-corpus.py table: end -->'


def quantile(values, part):
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def seconds_by_size(results, limits):
    """Yields the rows of a table of processor seconds of the runs under `limits`, by number of nodes."""
    yield '| nodes | networks | runs | median, s | 90 % within, s | most, s | over the limit of a run |'
    yield '|---|---|---|---|---|---|---|'
    for least, most in SIZES:
        chosen = [network for network in results.values() if least < (network['nodes'] or 0) <= most and network['fits']]
        fits = [network['fits'][limit] for network in chosen for limit in limits if limit in network['fits']]
        seconds = [one['seconds'] for one in fits]
        if seconds:
            over = sum(one.get('error', '').startswith('over') for one in fits)
            yield (f'| {size_name(least, most)} | {len(chosen)} | {len(fits)} | {quantile(seconds, 0.5):.2f} | '
                   f'{quantile(seconds, 0.9):.2f} | {max(seconds):.2f} | {over} |')


def cell(one):
    if 'bytes' not in one:
        return f'{one.get("error", "-")[:10]} | - | -' if one.get('error', '').startswith('over') else '- | - | -'
    return f'{one["bytes"] / max(1, one["bytes_before"]):.2f} | {one["latency_ratio"]:.2f} | {one["seconds"]:.2f}'


def each_network(results, limits):
    """Yields the rows of a table of networks. For each limit, a row has the arena as a fraction of the unsplit arena, the
    estimated latency ratio and the processor seconds."""
    yield '| network | nodes | arena, KiB | ' + ' | '.join(f'{limit}: part | latency | s' for limit in limits) + ' |'
    yield '|---|---|---|' + '---|---|---|' * len(limits)
    for label, network in sorted(results.items()):
        arena = next((one['bytes_before'] for one in network['fits'].values() if 'bytes' in one), None)
        if arena and re.search(LISTED, label):
            cells = [cell(network['fits'].get(limit, {})) for limit in limits]
            yield f'| {label} | {network["nodes"]} | {arena / 1024:.1f} | ' + ' | '.join(cells) + ' |'


def table(options):
    with open(options.results, encoding='utf-8') as file:
        results = json.load(file)['networks']
    limits = options.limit or LIMITS
    text = '\n'.join([*seconds_by_size(results, limits), '', *each_network(results, limits)])
    if not options.into:
        print(text)
        return
    with open(options.into, encoding='utf-8') as file:
        page = file.read()
    head, rest = page.split(BEGIN)
    with open(options.into, 'w', encoding='utf-8') as file:
        file.write(f'{head}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}')


def make(options):
    """Writes the classes of tests/peers to FOLDER/classes and the networks of tests/bench to FOLDER/networks."""
    try:
        import onnx  # noqa: F401
    except ImportError:
        # Debian's python3-onnx is for /usr/bin/python3. PATH may begin with another Python.
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
    one.add_argument('--limit', action='append', choices=list(LIMITS), help='only these limits')
    one.add_argument('--seconds', type=int, default=60, help='processor seconds of a run (60)')
    one.set_defaults(call=measure)
    one = commands.add_parser('compare')
    one.add_argument('old')
    one.add_argument('new')
    one.set_defaults(call=compare)
    one = commands.add_parser('goals')
    one.add_argument('cleave')
    one.add_argument('paths', nargs='+')
    one.add_argument('--only', default='', help='only networks whose label holds this word')
    one.set_defaults(call=goals)
    one = commands.add_parser('table')
    one.add_argument('results')
    one.add_argument('--limit', action='append', choices=list(LIMITS), help='only these columns')
    one.add_argument('--into', help='replace the tables of this page instead')
    one.set_defaults(call=table)
    options = parser.parse_args()
    options.call(options)


if __name__ == '__main__':
    main()
