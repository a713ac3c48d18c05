#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# reference.py GI-DOCGEN CONFIG CONTENT GIR FOLDER: the guide and the reference as pages in FOLDER.  Pages of the guide link
# each other as files of Markdown, as they are read elsewhere; here these are pages, too.  A dead link is an error.

import pathlib
import re
import shutil
import subprocess
import sys

gi_docgen, config, content, gir, folder = sys.argv[1:]
content, folder = pathlib.Path(content), pathlib.Path(folder)
LINK = re.compile(r'(href|src)="([^"#]+)(#[^"]*)?"')

shutil.rmtree(folder, ignore_errors=True)
subprocess.run([gi_docgen, 'generate', '--quiet', '--no-namespace-dir', '--config', config, '--content-dir', content,
                '--output-dir', folder, gir], check=True)
for name in ('drawings', 'examples'):
    shutil.copytree(content / name, folder / name)
shutil.copy(content / 'example.c', folder)

dead = []


def mend(match):
    kind, target, rest = match[1], match[2], match[3] or ''
    if re.match('[a-z]+:', target):
        return match[0]
    if target.endswith('.md'):
        target = target[:-3] + '.html'
    if not (folder / target).exists():
        dead.append(f'{page.name}: {match[2]}')
    return f'{kind}="{target}{rest}"'


for page in sorted(folder.glob('*.html')):
    page.write_text(LINK.sub(mend, page.read_text(encoding='utf-8')), encoding='utf-8')
if dead:
    sys.exit('dead links:\n' + '\n'.join(sorted(set(dead))))
