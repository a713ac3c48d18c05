#!/usr/bin/env python3
# words.py: checks that code contains no word that docs/glossary.md has retired.
import os
import re
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))

with open('docs/glossary.md', encoding='utf-8') as f:
    RETIRED = dict(re.findall(r'^\| `(\w+)` \| (.+) \|$', f.read().split('## Retired')[1], re.M))

complaints = [] if len(RETIRED) >= 10 else ['the list of retired words is not read']
for folder in ['include', 'lib', 'passes', 'tools', 'tests', 'docs/examples']:
    for path, _, names in os.walk(folder):
        for name in sorted(n for n in names if n.endswith(('.c', '.h'))):
            file = os.path.join(path, name)
            with open(file, encoding='utf-8') as f:
                for number, line in enumerate(f, 1):
                    for word, better in RETIRED.items():
                        if re.search(rf'(?<![a-z]){word}s?(?![a-z])', line):
                            complaints.append(f'{file}:{number}: {word} is retired: {better}')

print('\n'.join(complaints) or 'words: good')
sys.exit(1 if complaints else 0)
