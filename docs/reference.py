#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""reference.py GI-DOCGEN CONFIG CONTENT GIR FOLDER [SAMPLES]: writes the guide and the reference as pages in FOLDER.

The guide begins at guide.html, the reference of the C library at index.html. Each page has links to both and a search box.
Pages of the guide link each other as files of Markdown; here the links lead to pages. A dead link is an error. The pages
work from a folder, without a server. SAMPLES is a folder of reports, as `cleave report` writes them; a page links them.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

gi_docgen, config, content, gir, folder = sys.argv[1:6]
samples = pathlib.Path(sys.argv[6]) if len(sys.argv) > 6 else None
content, folder = pathlib.Path(content), pathlib.Path(folder)
LINK = re.compile(r'(href|src)="([^"#]+)(#[^"]*)?"')
# The generator has a page index.html of its own, so the first page of the guide gets another name.
PAGES = {'index.md': 'guide.md'}


def write_content(to):
    """Copies the pages of the guide to a folder, adds the page of samples, and returns the configuration for them."""
    for page in content.glob('*.md'):
        # "```graph FILE" begins a block of code that the tests load from FILE. gi-docgen does not know this form.
        text = re.sub('^```graph .*', '```text', page.read_text(encoding='utf-8'), flags=re.M)
        (to / PAGES.get(page.name, page.name)).write_text(text, encoding='utf-8')
    text = pathlib.Path(config).read_text(encoding='utf-8').replace('"index.md"', '"guide.md"')
    if samples is not None:
        lines = [f'- [{page.stem.replace("-", " ")}](samples/{page.name})' for page in sorted(samples.glob('*.html'))]
        (to / 'samples.md').write_text('Title: Samples of reports\n\n# Samples of reports\n\n`cleave report` wrote these pages.\n\n' +
                                       '\n'.join(lines) + '\n', encoding='utf-8')
        text = text.replace('"guide.md"', '"guide.md", "samples.md"')
    (to / 'cleave.toml').write_text(text, encoding='utf-8')
    return to / 'cleave.toml'


def generate():
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        adapted = write_content(pathlib.Path(scratch))
        subprocess.run([gi_docgen, 'generate', '--quiet', '--no-namespace-dir', '--config', adapted, '--content-dir', scratch,
                        '--output-dir', folder, gir], check=True)
    for name in ('drawings', 'examples'):
        shutil.copytree(content / name, folder / name)
    for name in ('example.c', 'site.css'):
        shutil.copy(content / name, folder)
    if samples is not None:
        shutil.copytree(samples, folder / 'samples')


def make_search_local():
    """Turns the index of the search into a script: a browser does not let a page of a folder request a file."""
    index = json.loads((folder / 'index.json').read_text(encoding='utf-8'))
    (folder / 'search-data.js').write_text(f'window.searchData = {json.dumps(index)};\n', encoding='utf-8')
    script = folder / 'search.js'
    text = script.read_text(encoding='utf-8')
    request = "fetchJSON('index.json', onDidLoadSearchIndex);"
    assert request in text, 'the search of this gi-docgen is unknown'
    script.write_text(text.replace(request, 'onDidLoadSearchIndex(window.searchData);'), encoding='utf-8')


def add_navigation(text):
    """Adds our style, links to the guide and the reference to the sidebar, and the data of the search."""
    links = [('guide.html', 'Guide'), ('index.html', 'Reference of the C library'), ('python-reference.html', 'Reference of Python')]
    links += [('samples.html', 'Samples of reports')] if samples is not None else []
    items = ''.join(f'<li><a class="link" href="{target}">{name}</a></li>' for target, name in links)
    style = '<link rel="stylesheet" href="style.css" type="text/css" />'
    assert style in text, 'the style of this gi-docgen is unknown'
    text = text.replace(style, style + '\n  <link rel="stylesheet" href="site.css" type="text/css" />')
    text = re.sub(r'(<nav class="sidebar[^>]*>)', rf'\1<div class="section"><ul class="sidebar-list">{items}</ul></div>', text, count=1)
    return text.replace('<script src="search.js">', '<script src="search-data.js"></script>\n  <script src="search.js">')


def link_pages():
    """Lets links to Markdown lead to pages. Returns the dead links."""
    dead = []
    for page in sorted(folder.glob('*.html')):
        def adapt(match):
            kind, target, rest = match[1], match[2], match[3] or ''
            if re.match('[a-z]+:', target):
                return match[0]
            if target.endswith('.md'):
                target = PAGES.get(target, target)[:-3] + '.html'
            if not (folder / target).exists():
                dead.append(f'{page.name}: {match[2]}')
            return f'{kind}="{target}{rest}"'
        text = page.read_text(encoding='utf-8')
        if '``' in text:
            raise SystemExit(f'{page.name}: a block of code is shown as text')
        page.write_text(LINK.sub(adapt, add_navigation(text)), encoding='utf-8')
    return sorted(set(dead))


generate()
make_search_local()
missing = link_pages()
if missing:
    sys.exit('dead links:\n' + '\n'.join(missing))
