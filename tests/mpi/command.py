#!/usr/bin/env python3
# command.py MPIRUN CLEAVE: tests `cleave run --ranks`: the bits of one process, the planned messages, and errors.
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

import json_schema

mpirun, cleave = sys.argv[1:3]
MODEL = '''graph g
%x = Input : float32 1x16x48x48
%w = Constant seed=1 : float32 32x16x3x3
%v = Constant seed=2 : float32 32x32x3x3
%a = Conv %x, %w pads=1,1,1,1
%b = Relu %a
%c = Conv %b, %v pads=1,1,1,1
%d = Add %c, %a
output %d
output %b
'''
FAST = ['--bandwidth', '1000', '--latency', '0.1', '--threads', '1']


def run(n, *arguments):
    return subprocess.run([mpirun, '-n', str(n), cleave, *arguments], capture_output=True, text=True, timeout=60)


def load(done):
    """Checks the JSON object that a run printed against its schema: the schema of a run on one rank, or of a run on
    several ranks. Returns the object."""
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    name = 'run-ranks' if 'ranks' in found else 'run'
    assert json_schema.find_faults(found, json_schema.load(name), name) == []
    return found


def children(pid):
    found = []
    for entry in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{entry}/stat', encoding='utf-8') as f:
                if int(f.read().rsplit(')', 1)[1].split()[1]) == pid:
                    found.append(int(entry))
        except OSError:
            pass
    return found


def is_alive(pid):
    try:
        with open(f'/proc/{pid}/stat', encoding='utf-8') as f:
            return f.read().rsplit(')', 1)[1].split()[0] not in 'ZX'
    except OSError:
        return False


def check_bits(model):
    alone = load(subprocess.run([cleave, 'run', model, '--json'], capture_output=True, text=True, timeout=60))
    for n in [3]:
        report = load(run(n, 'run', model, '--ranks', '--json', '--repeat', '3', *FAST))
        assert report['outputs'] == alone['outputs'], 'other bits'
        ranks = report['ranks']
        assert len(ranks) == n
        planned = json.loads(subprocess.run([cleave, 'simulate', model, '--json', '--ranks', str(n), *FAST],
                                            capture_output=True, text=True, check=True).stdout)
        assert planned['messages'] > 0
        assert sum(r['messages_sent'] for r in ranks) == planned['messages']
        assert sum(r['messages_received'] for r in ranks) == planned['messages']
        assert [r['bytes_sent'] for r in ranks] == [r['bytes_sent'] for r in planned['ranks']]
        assert [r['bytes_received'] for r in ranks] == [r['bytes_received'] for r in planned['ranks']]
        assert [r['arena_bytes'] for r in ranks] == [r['arena_bytes'] for r in planned['ranks']]


# Several runs in flight give the same bits and messages as single runs, and need several arenas.
def check_stream(model):
    alone = load(subprocess.run([cleave, 'run', model, '--json'], capture_output=True, text=True, timeout=60))
    one, two = (load(run(3, 'run', model, '--ranks', '--json', '--stream', '9', '--in-flight', str(k), *FAST)) for k in (1, 2))
    for report in one, two:
        assert report['outputs'] == alone['outputs'], 'other bits'
        assert report['per_second'] > 0 and report['latency_ms']['min'] > 0
        assert any(r['messages_sent'] > 0 for r in report['ranks'])
    assert [one['in_flight'], two['in_flight']] == [1, 2]
    planned = json.loads(subprocess.run([cleave, 'simulate', model, '--json', '--ranks', '3', '--in-flight', '2', *FAST],
                                        capture_output=True, text=True, check=True).stdout)
    assert [r['bytes_sent'] for r in two['ranks']] == [r['bytes_sent'] for r in planned['ranks']]
    assert [r['arena_bytes'] for r in two['ranks']] == [2 * r['arena_bytes'] for r in planned['ranks']]
    done = run(2, 'run', model, '--stream', '3')
    assert done.returncode != 0 and '--stream has no effect without --ranks' in done.stderr, done.stderr


# Without --bandwidth and --latency, ranks measure the bandwidth and the latency.
# The options can give the measured values to a later run.
def check_measured(model):
    report = run(2, 'run', model, '--ranks', '--threads', '1')
    assert report.returncode == 0, report.stderr
    line = next(x for x in report.stdout.splitlines() if x.startswith('network   measured: '))
    options = line.split(': ')[1].split()
    assert options[0] == '--bandwidth' and options[2] == '--latency', line
    again = load(run(2, 'run', model, '--ranks', '--threads', '1', '--json', *options))
    assert f'{again["bandwidth_gbit"]:g}' == options[1] and f'{again["network_latency_us"]:g}' == options[3], line


def check_mistakes(model, folder):
    # When one rank ends, mpirun kills the other rank. The other rank has then already printed its message.
    for _ in range(3):
        done = run(2, 'run', os.path.join(folder, 'missing.onnx'), '--ranks')
        assert done.returncode != 0
        assert done.stderr.count('cleave: rank 0: ') == 2, done.stderr
    # Only the first rank writes files. If the first rank cannot write a file, all ranks report the error.
    done = run(2, 'run', model, '--ranks', '--output-dir', '/dev/null/none')
    assert done.returncode != 0
    assert done.stderr.count("cleave: rank 0: cannot make the folder '/dev/null/none'") == 2, done.stderr


def check_killed(model, folder):
    chance = random.Random(1)
    for i in range(10):
        out = os.path.join(folder, f'out{i}')
        begun = subprocess.Popen([mpirun, '-n', '3', cleave, 'run', model, '--ranks', *FAST, '--repeat', '1000000',
                                  '--output-dir', out], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while len(children(begun.pid)) < 3:
            assert begun.poll() is None
            time.sleep(0.01)
        ranks = children(begun.pid)
        time.sleep(chance.uniform(0, 0.5))
        os.kill(chance.choice(ranks), signal.SIGKILL)
        end = time.monotonic() + 5
        assert begun.wait(timeout=5) != 0
        while any(map(is_alive, ranks)):
            assert time.monotonic() < end, 'a rank lives on'
            time.sleep(0.01)
        assert not os.path.exists(out) or os.listdir(out) == []


with tempfile.TemporaryDirectory() as here:
    path = os.path.join(here, 'model.cleave')
    with open(path, 'w', encoding='utf-8') as text:
        text.write(MODEL)
    check_bits(path)
    check_stream(path)
    check_measured(path)
    check_mistakes(path, here)
    check_killed(path, here)
print('command: good')
