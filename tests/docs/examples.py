#!/usr/bin/env python3
# examples.py CLEAVE PAGE [--write]: runs what a page of the guide shows.  A block of the kind `graph FILE` is written to that
# file; of each block of the kind `sh` the next block without a kind must be all that it prints.  With --write, that is put there.
import os
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r'^```([^\n]*)\n(.*?)^```$', re.M | re.S)


def run(cleave, script, folder):
    env = dict(os.environ, PATH=os.path.dirname(os.path.abspath(cleave)) + os.pathsep + os.environ['PATH'])
    done = subprocess.run(['sh', '-ec', script], cwd=folder, env=env, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=60, check=False)
    return done.stdout if done.returncode == 0 else f'{done.stdout}(exit status {done.returncode})\n'


def main(cleave, page, write):
    with open(page, encoding='utf-8') as file:
        text = file.read()
    wrong, n, printed, parts, end = 0, 0, None, [], 0
    with tempfile.TemporaryDirectory() as folder:
        for block in BLOCK.finditer(text):
            kind, body = block[1], block[2]
            if kind.startswith('graph '):
                with open(os.path.join(folder, kind[6:]), 'w', encoding='utf-8') as file:
                    file.write(body)
            elif kind == 'sh':
                printed, script = run(cleave, body, folder), body
            elif kind == '' and printed is not None:
                n += 1
                if printed != body:
                    wrong += 1
                    print(f'{script}prints\n{printed}and not\n{body}')
                parts += [text[end:block.start(2)], printed]
                end, printed = block.end(2), None
    if write:
        with open(page, 'w', encoding='utf-8') as file:
            file.write(''.join(parts) + text[end:])
        return 0
    print(f'{n} examples, {wrong} wrong')
    return 0 if wrong == 0 and n > 0 else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1], sys.argv[2], '--write' in sys.argv))
