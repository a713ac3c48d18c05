#!/usr/bin/env python3
# mutate-models.py CLEAVE COUNT SEED MODEL[=SHAPE]…: breaks real models, COUNT times in all, and gives each to `cleave info` and
# `cleave split` with 4 GiB of memory: exit status 0 or 2 each time, within a minute.  What fails is kept as broken-N.onnx.
import collections
import os
import random
import resource
import subprocess
import sys
import tempfile

ODD = [0, 1, 2, 3, 7, 8, 127, 128, 255, 1 << 31, (1 << 31) - 1, 1 << 32, (1 << 62), (1 << 63) - 1, 1 << 63, (1 << 64) - 1]


def varint(value):
    out = b''
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


# Fields of a message as [tag, value, begin, end]; None: it is none.
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


# Changes one field somewhere inside; lengths around it are made right again.
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
    if rand.random() < 0.5:  # Where the structure is: near an end, behind and before the weights.
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
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


def main():
    cleave, count, seed = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    models = []
    for argument in sys.argv[4:]:
        path, _, shape = argument.partition('=')
        with open(path, 'rb') as file:
            models.append((file.read(), ['--shape', shape] if shape else []))
    others = [data for data, _ in models]
    seen, wrong = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'm.onnx')
        for i in range(count):
            rand = random.Random(seed * 1000003 + i)
            data, shape = rand.choice(models)
            kind, data = mutate(data, others, rand)
            with open(path, 'wb') as file:
                file.write(data)
            for args in (['info', path],
                         ['split', path, '--all', '--dims', '1', '--num-chunks', '2', '-o', os.path.join(folder, 'o.onnx')]):
                try:
                    run = subprocess.run([cleave, *args, *shape], capture_output=True, timeout=60, check=False, preexec_fn=limit)
                    status = run.returncode
                except subprocess.TimeoutExpired:
                    status = 'timeout'
                seen[kind, args[0], status] += 1
                if status not in (0, 2):
                    wrong += 1
                    print(f'{i} {kind} {args[0]}: {status}', run.stderr[-300:] if status != 'timeout' else '')
                    with open(f'broken-{i}.onnx', 'wb') as file:
                        file.write(data)
    for key, n in sorted(seen.items(), key=str):
        print(*key, n)
    print(f'{count} models, seed {seed}: {wrong} wrong')
    sys.exit(1 if wrong else 0)


main()
