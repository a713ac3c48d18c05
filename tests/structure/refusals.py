#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that each message of the importers with "not supported" has a row in docs/operators.md, and that each row has a
message. In both, "…" stands for the parts of a message that vary."""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
root = root if root.is_dir() else root.parents[2]
LITERALS = re.compile(r'(?:(?:"(?:[^"\\]|\\.)*"|G_GINT64_FORMAT|G_GSIZE_FORMAT|PRI\w+)\s*)+')
FORMAT = re.compile(r'%[-0-9.]*[a-zA-Z]*')


def messages():
    for path in sorted(root.glob('lib/onnx/**/*.c')) + sorted(root.glob('lib/tflite/*.c')):
        code = re.sub(r'/\*.*?\*/', '', path.read_text(), flags=re.S)
        for literal in LITERALS.findall(code):
            text = ''.join(re.findall(r'"((?:[^"\\]|\\.)*)"|(?:G_|PRI)\w+', literal))
            if 'not supported' in text:
                yield path.relative_to(root), FORMAT.sub('…', text)


page = (root / 'docs' / 'operators.md').read_text()
rows = re.findall(r'^\| `([^`]*not supported[^`]*)` \|', page, flags=re.M)
found = list(messages())
bad = [f'{path}: docs/operators.md has no row for the message "{text}"' for path, text in found
       if not any(row in text for row in rows)]
bad += [f'docs/operators.md: no importer has the message "{row}"' for row in rows
        if not any(row in text for _, text in found)]
bad += [f'only {len(found)} messages were found'] if len(found) < 40 else []
print('\n'.join(bad) or f'refusals: {len(found)} messages, {len(rows)} rows, good')
sys.exit(1 if bad else 0)
