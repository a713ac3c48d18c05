#!/usr/bin/env python3
# mutate-models.py CLEAVE COUNT SEED MODEL[=SHAPE]...: changes a few bytes or fields of real models, COUNT times.
# Runs the commands of COMMANDS on each changed model. A command must end with status 0, 1 or 2.
# A command may use BYTES of memory.
# The processor time of a command must be at most SECONDS, or at most FACTOR times its processor time for the unchanged model.
# A model on which a command fails is kept as broken-SEED-N.onnx.
# If `cleave info` refuses a model, the other commands do not run on that model.
import collections
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

SECONDS = 5
FACTOR = 3
BYTES = 2 << 30
# Processor seconds after which the kernel kills a command.
SECONDS_AT_MOST = 30
BYTES_AT_MOST = 4 << 30
# MODEL and OUT are paths; SIZE is one of SIZES, drawn for each model.
COMMANDS = [
    'info MODEL',
    'dot MODEL -o OUT.dot',
    'split MODEL --all --dims 1 --num-chunks 2 -o OUT.onnx',
    'split MODEL --all --max-memory SIZE -o OUT.onnx',
    'split MODEL --all --max-memory SIZE --max-schedule-memory SIZE -n',
    'split MODEL --all --dims 2 --chunk-size 1 -n',
    'split MODEL --for-threads 4 -n',
    'fit MODEL',
    'fit MODEL --max-memory SIZE --threads 2',
    'fit MODEL --frontier --exclude-inputs',
    'fit MODEL --for ort',
    'memory MODEL --json',
    'opt MODEL -p simplify,parallelize{num-chunks=2},clean-up -o OUT.cleave',
    'partition MODEL -d OUT',
    'partition MODEL -d OUT --parts 2',
    'partition MODEL -d OUT --max-bytes 64KiB',
    'simulate MODEL',
    'report MODEL -o OUT.html',
    'compile MODEL -o OUT.plan',
    'bundle MODEL -o OUT',
    'diff MODEL MODEL',
    'run MODEL --threads 1',
    'run MODEL --threads 2 --max-memory 40MiB',
]
SIZES = ['1KiB', '16KiB', '256KiB', '4MiB']

ODD = [0, 1, 2, 3, 7, 8, 127, 128, 255, 1 << 31, (1 << 31) - 1, 1 << 32, (1 << 62), (1 << 63) - 1, 1 << 63, (1 << 64) - 1]


def varint(value):
    out = b''
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


# Returns the fields of a message as [tag, value, begin, end]; None if the data is no protobuf message.
def parse(data):
    fields, at = [], 0

    def take():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise IndexError

    try:
        while at < len(data):
            tag = take()
            kind = tag & 7
            if tag >> 3 == 0 or kind in (3, 4, 6, 7):
                return None
            if kind == 0:
                value = take()
            else:
                n = take() if kind == 2 else 8 if kind == 1 else 4
                if at + n > len(data):
                    return None
                value = data[at:at + n]
                at += n
            fields.append([tag, value])
    except IndexError:
        return None
    return fields


def build(fields):
    out = []
    for tag, value in fields:
        out.append(varint(tag))
        if tag & 7 == 0:
            out.append(varint(value))
        else:
            out.append((varint(len(value)) if tag & 7 == 2 else b'') + value)
    return b''.join(out)


# Changes one field at any depth, and updates the lengths of the messages that contain the field.
def change_field(data, rand, depth=0):
    fields = parse(data)
    if not fields:
        return bytes(rand.randrange(256) for _ in range(rand.randrange(9))) if len(data) < 64 else data[:len(data) // 2]
    i = rand.randrange(len(fields))
    tag, value = fields[i]
    choice = rand.randrange(8)
    if tag & 7 == 2 and len(value) > 1 and choice < 5 and depth < 8:
        if len(value) < 1 << 16 or depth < 2:
            fields[i][1] = change_field(value, rand, depth + 1)
            return build(fields)
    if tag & 7 == 0 and choice < 5:
        fields[i][1] = rand.choice(ODD + [value + 1, max(value - 1, 0)])
    elif choice == 5:
        del fields[i]
    elif choice == 6:
        fields.insert(rand.randrange(len(fields) + 1), list(fields[i]))
    elif choice == 7:
        fields[i][0] = (rand.randrange(1, 16) << 3) | (tag & 7)
    else:
        j = rand.randrange(len(fields))
        fields[i], fields[j] = fields[j], fields[i]
    return build(fields)


def mutate(data, others, rand):
    kind = rand.choice(['flip', 'cut', 'splice', 'remove', 'fill', 'field', 'field', 'field', 'field'])
    data = bytearray(data)
    at = rand.randrange(len(data))
    if rand.random() < 0.5:  # The structure of a file is near its begin and its end; the weights are in the middle.
        at = rand.choice([min(rand.randrange(4096), len(data) - 1), max(0, len(data) - 1 - rand.randrange(8192))])
    if kind == 'flip':
        for _ in range(rand.randrange(1, 9)):
            data[min(len(data) - 1, max(0, at + rand.randrange(-32, 32)))] ^= 1 << rand.randrange(8)
    elif kind == 'cut':
        del data[at:]
    elif kind == 'splice':
        other = rand.choice(others)
        begin = rand.randrange(len(other))
        data[at:at + rand.randrange(64)] = other[begin:begin + rand.randrange(1, 4096)]
    elif kind == 'remove':
        del data[at:at + rand.randrange(1, 64)]
    elif kind == 'fill':
        n = rand.randrange(1, 16)
        data[at:at + n] = bytes([rand.choice([0, 1, 127, 128, 255])]) * n
    else:
        for _ in range(rand.randrange(1, 4)):
            data = change_field(bytes(data), rand)
    return kind, bytes(data)


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (BYTES_AT_MOST, BYTES_AT_MOST))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_AT_MOST, SECONDS_AT_MOST))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)


# Returns the options --shape and --fix for a text such as "x=1,8;n:5;m!6", the format of tests/peers/models.txt.
def shape_arguments(text):
    words = []
    for part in filter(None, text.split(';')):
        if '!' in part:
            words += ['--fix', part.replace('!', '=')]
        elif ':' not in part:
            words += ['--shape', part]
    return words


# Runs a command. Returns the exit status, seconds of processor time, bytes of memory and the end of standard error.
def run(folder, cleave, command, size, model, shape):
    words = {'MODEL': model, 'OUT': 'out', 'OUT.dot': 'out.dot', 'OUT.onnx': 'out.onnx', 'OUT.html': 'out.html',
             'OUT.plan': 'out.plan', 'OUT.cleave': 'out.cleave', 'SIZE': size}
    with open(os.path.join(folder, 'stderr'), 'wb') as stderr:
        child = subprocess.Popen([cleave, *(words.get(word, word) for word in command.split()), *shape], cwd=folder,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr, preexec_fn=limit)
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    shutil.rmtree(os.path.join(folder, 'out'), ignore_errors=True)
    with open(os.path.join(folder, 'stderr'), 'rb') as stderr:
        text = stderr.read()[-300:].decode(errors='replace').strip()
    return child.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, text


class Model:
    def __init__(self, argument):
        self.path, _, shape = argument.partition('=')
        self.path = os.path.abspath(self.path)
        self.shape = shape_arguments(shape)
        self.seconds = {}
        with open(self.path, 'rb') as file:
            self.data = file.read()

    # Returns the seconds that a command takes for the unchanged model.
    def get_seconds(self, folder, cleave, command, size):
        key = command, size
        if key not in self.seconds:
            self.seconds[key] = run(folder, cleave, command, size, self.path, self.shape)[1]
        return self.seconds[key]


def main():
    cleave, count, seed = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    models = [Model(argument) for argument in sys.argv[4:]]
    others = [model.data for model in models]
    seen, wrong = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(count):
            rand = random.Random(seed * 1000003 + i)
            model = rand.choice(models)
            kind, data = mutate(model.data, others, rand)
            size = rand.choice(SIZES)
            with open(os.path.join(folder, 'm.onnx'), 'wb') as file:
                file.write(data)
            for command in COMMANDS:
                status, seconds, n_bytes, text = run(folder, cleave, command, size, 'm.onnx', model.shape)
                seen[command, status] += 1
                slow = seconds > SECONDS and seconds > FACTOR * model.get_seconds(folder, cleave, command, size)
                if status not in (0, 1, 2) or slow or n_bytes > BYTES:
                    wrong += 1
                    print(f'{i} {os.path.basename(model.path)} {kind}: {command.replace("SIZE", size)}: status {status}, '
                          f'{seconds:.1f} s, {n_bytes >> 20} MiB {text}', flush=True)
                    with open(f'broken-{seed}-{i}.onnx', 'wb') as file:
                        file.write(data)
                if command == COMMANDS[0] and status == 2:
                    break
    for key, n in sorted(seen.items(), key=str):
        print(*key, n)
    print(f'{count} models, seed {seed}: {wrong} wrong')
    sys.exit(1 if wrong else 0)


main()
