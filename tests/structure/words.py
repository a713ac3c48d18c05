#!/usr/bin/env python3
"""words.py [--list]: checks the words of code, comments, documentation, help texts, messages and test names.

- No identifier has a word that docs/glossary.md retired, and none has British spelling.
- No text has a phrase of PHRASES, and no comment begins with one of BEGINNINGS.
- No sentence of the documentation or of a comment has more than MAX_WORDS words.
- A file or a `function ()` that a comment names exists.

The lists of exceptions give a reason for each. An exception that no text needs any more is an error, too."""
import bisect
import functools
import io
import os
import re
import shutil
import subprocess
import sys
import tokenize

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))

MAX_WORDS = 30

# Files of other projects, and raw results, which contain names of models.
SKIPPED = ('LICENSE', 'bench/results/', 'debian/', 'lib/onnx/onnx.proto', 'lib/tflite/schema',
           'tests/structure/words.py')

# Phrases that comments, documentation, help texts, messages and names of tests must not contain.
# Each entry is a pattern and the words to write instead.
PHRASES = [
    (r'foresee\w*|foresaw|thought to', 'estimated, predicted'),
    (r'(is|are|was|were|be|been|than) told|hears?', 'reported'),
    (r'parted|made apart|made in parts', 'split per reader'),
    (r'made (again|twice|anew)|anew', 'recomputed, regenerated'),
    (r'waits? long|wait long', 'rematerialization candidate'),
    (r'(lies?|lay|lain|lying) over', 'overlay, in-place reuse'),
    (r'lapped|bold search', 'overlay (conservative, aggressive)'),
    (r'leaves? to the next', 'carried rows'),
    (r'(the|an?|each|another) otherwise', 'graph variant'),
    (r'as (it|they) stands?', 'unchanged; keeps node order'),
    (r'hopeless', 'upper bound, cutoff'),
    (r'the (turns? of (a|the) )?turns? of (a|the|each) Loop|turn to turn', 'iteration'),
    (r'quads?', 'dot-4 groups'),
    (r'zones?', 'uniform-tap region'),
    (r'widened', 'upcast; expanded'),
    (r'spare', 'dominated, unused'),
    (r'kin|troubles?|houses?|doors?', 'similar, problem, module, interface'),
    (r'who', 'the caller, the function'),
    (r'mend(s|ed|ing)?', 'fix'),
    (r'stands? against( less)?', 'limits the budget'),
    (r'by itself|by themselves|of its own accord', 'automatically, alone'),
    (r'be it|but that', 'a plain condition'),
    (r'(is|are|was|were) to be', 'must be, is'),
    (r'by turns', 'alternating'),
    (r'comes? to (less|more|that|this|what|nothing)', 'is'),
    (r'no matter (how|what|which)', 'for any'),
    (r'so many(?! (that|as))', 'a number, with its name'),
    (r'(those|that) of (what|which|those|that)', 'a noun'),
    (r'likewise', 'the noun'),
    (r'such (is|are|that)|as such', 'a noun'),
    (r'is no (plan|matter|use|case)', 'a positive sentence'),
]

ANY_PHRASE = re.compile(rf'(?<![\w-])({"|".join(pattern for pattern, _ in PHRASES)})(?![\w-])', re.I)

# A clause in place of a noun. A clause after one of the words in QUESTIONS is an indirect question, which the check allows.
CLAUSE = re.compile(
    r'(?<![\w-])(\w+,? )?(what (is|are|was|were|it|they|that|those|others?|one|nothing|all|an?|the|each|no|more|strips?'
    r'|lies|reads?|makes?|needs?))(?![\w-])', re.I)
QUESTIONS = {'say', 'says', 'said', 'tell', 'tells', 'node,', 'expected,', 'names', 'decides', 'knows', 'shows', 'explains',
             'describes', 'asks', 'on', 'and', 'or'}

# A comment that begins with one of these has no subject, or a hidden one.
BEGINNINGS = re.compile(r'(Of|What|Whether all|Those|The same|Likewise|That of|As \w+ ?\(\))(?!\w| each\b)')

BRITISH = re.compile(
    r'(normali|quanti|materiali|optimi|initiali|seriali|minimi|maximi|recogni|organi|vectori|paralleli|generali|summari'
    r'|synchroni|utili|tokeni|factori|reali|visuali|emphasi|stabili|finali|locali|canonicali|lineari|randomi|memori'
    r'|prioriti|equali|symboli|categori|authori)s(e|ed|es|ing|er|ers|ation|ations)(?![a-z])'
    r'|analys(e|ed|er|ing)(?![a-z])|colour|neighbour|behaviour|favour|honour|(?<![a-z])(centre|grey)(?![a-z])', re.I)

# Texts in which a forbidden phrase is right: a file, the text, and the reason.
ALLOWED = {
    ('lib/dot/draw.c', 'house'): 'a shape of Graphviz',
    ('lib/dot/overview.c', 'house'): 'a shape of Graphviz',
    ('lib/ops/elementwise.def', 'FOLD one operand or more'): 'rows of a table',
}

# Files and functions that comments may name although the tree does not have them, with the reason.
# The check also ignores names that begin with `reference/`, which are files of TensorFlow Lite for Microcontrollers.
ELSEWHERE = {
    'levels.h': 'meson writes it',
    'Changelog.md': 'of the ONNX repository',
    'FILE.md': 'an argument',
    'calloc': 'of the C library',
    'new_copy': 'short for cleave_tensor_new_copy ()',
    '_get_type': 'the end of a name',
    'g_atomic_rc_box_new': 'of GLib',
}


def tracked():
    """Returns the files that git tracks. Without git, or outside a checkout, the check is skipped."""
    listed = shutil.which('git') and subprocess.run(['git', 'ls-files'], capture_output=True, text=True)
    if not listed or listed.returncode != 0:
        print('SKIP words: there is no git, or this is no checkout of a repository')
        sys.exit(77)
    return listed.stdout.split('\n')


def files():
    """Returns the tracked files that this check reads."""
    return [file for file in tracked() if file and not file.startswith(SKIPPED) and os.path.exists(file)]


# The functions below return the texts of a file as (line, kind, text), where kind is comment, string or prose.

C_TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def c_texts(source):
    """Yields comments and string literals of C or JavaScript. Adjacent literals are one string."""
    string = None  # the string so far: its line, text and end
    starts = [0] + [end.end() for end in re.finditer('\n', source)]
    for token in C_TOKEN.finditer(source):
        text, line = token.group(0), bisect.bisect(starts, token.start())
        if text[0] == '"' and string and re.fullmatch(r'(\s|PRI\w+|G_G\w+_FORMAT)*', source[string[2]:token.start()]):
            string = string[0], string[1] + text[1:-1], token.end()
        elif text[0] == '"':
            if string:
                yield string[0], 'string', string[1]
            string = line, text[1:-1], token.end()
        elif text.startswith('/*'):
            yield line, 'comment', re.sub(r'\n[ \t]*\*?[ \t]?', '\n', text[2:-2].strip('* \n'))
        elif text.startswith('//'):
            yield line, 'comment', text[2:].strip()
    if string:
        yield string[0], 'string', string[1]


def hash_texts(lines):
    """Yields the comments in `lines`, tuples (line, column, text) of # comments; adjacent lines are one comment."""
    run = None  # the comment so far: its first line, last line, column and text
    for line, column, text in lines:
        if run and (line, column) == (run[1] + 1, run[2]):
            run = run[0], line, column, f'{run[3]}\n{text}'
            continue
        if run:
            yield run[0], 'comment', run[3]
        run = line, line, column, text
    if run:
        yield run[0], 'comment', run[3]


def python_texts(source):
    comments, before = [], None
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith('#!'):
            comments.append((token.start[0], token.start[1], token.string.lstrip('#').strip()))
        elif token.type == tokenize.STRING:
            kind = 'comment' if before in (None, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT) else 'string'
            yield token.start[0], kind, re.sub(r'^\w*("""|\'\'\'|"|\')|("""|\'\'\'|"|\')$', '', token.string)
        before = before if token.type in (tokenize.COMMENT, tokenize.NL) else token.type
    yield from hash_texts(comments)


def script_texts(source):
    found = []
    for number, line in enumerate(source.split('\n'), 1):
        comment = re.match(r'(\s*)#(?!!)\s?(.*)', line) or re.match(r'([^\'"#]*\s)#\s(.*)', line)
        if comment:
            found.append((number, len(comment.group(1)), comment.group(2)))
    yield from hash_texts(found)


def prose_texts(source):
    """Yields the paragraphs of a page, without blocks of code."""
    source = re.sub(r'```.*?```|~~~.*?~~~', lambda block: '\n' * block.group(0).count('\n'), source, flags=re.S)
    for paragraph in re.finditer(r'(?:[^\n]+\n?)+', source):
        yield source.count('\n', 0, paragraph.start()) + 1, 'prose', paragraph.group(0)


READERS = [
    (r'\.(c|h|def|mjs|js)$', c_texts),
    (r'\.pyi?$', python_texts),
    (r'\.(md|1)$', prose_texts),
    (r'\.sh$|(^|/)meson(_options)?\.(build|txt)$|^\.ci/', script_texts),
]


def sentences(file, text):
    """Splits a text into sentences. The end of a table row, a heading, an item of a list or a description of a
    parameter also ends a sentence."""
    if file.endswith('.1'):
        text = re.sub(r'(?m)^\.(B|I|BI|BR|IR|RB|RI|IB)\s', '', text)
        text = re.sub(r'(?ms)^\.nf$.*?^\.fi$', '', text)
        text = re.sub(r'(?m)^\.TP\n(.*)$', r'\n\n\1\n\n', text)
        text = re.sub(r'(?m)^\.[A-Z][A-Z].*$|^\.br.*$', '\n\n', text)
    text = re.sub(r'(?m)^\s*\|.*$', '\n\n', text)
    text = re.sub(r'(?m)^(.*\S {3,}\S.*)$', r'\n\n\1', text)
    text = re.sub(r'(?m)^(#+ .*)$', r'\n\n\1\n\n', text)
    text = re.sub(r'(?m)^\s*(?:[-*+]|\d+\.) ', '\n\n', text)
    text = re.sub(r'(?m)^\s*(@\w+|cleave_\w+|Returns|Since|[A-Z]\w+):', r'\n\n\1:', text)
    for paragraph in re.split(r'\n\s*\n', text):
        yield from re.split(r'(?<=[.!?:;])["\')\]*]*\s+(?=["\'`(\[*]*[A-Z0-9`@%])|(?<=[.!?])["\')\]*]*\s+',
                            re.sub(r'\s+', ' ', paragraph).strip())


def count_words(sentence):
    """Returns the number of words of a sentence. Code between backquotes is one word. The target of a link is no word,
    and a name in capitals, as in a list of operators, is none."""
    sentence = re.sub(r'`[^`]*`', 'x', re.sub(r'\]\([^)]*\)', ']', sentence))
    return sum(re.search(r'[a-z]|^[AI]$', word) is not None for word in sentence.split())


def is_drawing(text):
    return re.search(r'[─│┬┴┼→└┌]|-->|\+--|={3}', text) is not None


def check_phrases(kind, text, complain):
    def around(found):
        return text[max(0, found.start() - 30):found.end() + 30]

    for found in ANY_PHRASE.finditer(text):
        better = next(better for pattern, better in PHRASES if re.fullmatch(pattern, found.group(0), re.I))
        complain(f'"{found.group(0)}": write {better}', around(found))
    for found in CLAUSE.finditer(text):
        if (found.group(1) or '').strip().lower() not in QUESTIONS:
            complain(f'"{found.group(2)}": write a noun in place of the clause', around(found))
    for found in BRITISH.finditer(text) if kind != 'string' else ():
        complain(f'"{found.group(0)}" is British spelling', around(found))
    if kind == 'comment' and BEGINNINGS.match(text):
        complain('a comment begins with its subject and a verb', text[:60])


def check_length(file, text, complain):
    for sentence in () if is_drawing(text) else sentences(file, text):
        if count_words(sentence) > MAX_WORDS:
            complain(f'a sentence of {count_words(sentence)} words, more than {MAX_WORDS}', sentence[:80])


def check_names(text, names, identifiers, complain):
    for found in re.findall(r'(?<![\w*<./-])(?!reference/)([\w-]+(?:/[\w.-]+)*\.(?:c|h|py|md|sh|mjs|def))(?![\w*.-])', text):
        if os.path.basename(found) not in names and found not in ELSEWHERE:
            complain(f'there is no file {found}', text[:60])
    for found in re.findall(r'(?<![\w.])([a-z_]\w+) ?\(\)', text):
        if found not in identifiers and found not in ELSEWHERE:
            complain(f'there is no function {found} ()', text[:60])


def check_code(code, retired, complain):
    """Checks the identifiers of C, given without comments and strings."""
    words = re.compile(rf'(?<![a-z])({"|".join(retired)})s?(?![a-z])')
    for number, line in enumerate(code.split('\n'), 1):
        for found in words.finditer(line):
            complain(number, f'{found.group(1)} is retired: {retired[found.group(1)]}', line.strip())
        for found in BRITISH.finditer(line):
            complain(number, f'"{found.group(0)}" is British spelling', line.strip())


def read_retired():
    with open('docs/glossary.md', encoding='utf-8') as f:
        return dict(re.findall(r'^\| `(\w+)` \| (.+) \|$', f.read().split('## Retired')[1], re.M))


def main():
    retired, sources = read_retired(), {}
    complaints, used = [] if len(retired) >= 10 else ['the list of retired words is not read'], set()
    for file in files():
        with open(file, encoding='utf-8', errors='replace') as f:
            sources[file] = f.read()
    sources['docs/glossary.md'] = sources['docs/glossary.md'].split('## Retired')[0]
    codes = {file: C_TOKEN.sub(lambda token: '\n' * token.group(0).count('\n'), source)
             for file, source in sources.items() if file.endswith(('.c', '.h'))}
    names = {os.path.basename(file) for file in tracked()}
    identifiers = {word for file, source in sources.items() if not file.endswith(('.md', '.1'))
                   for word in re.findall(r'[A-Za-z_]\w+', codes.get(file, source))}

    for file, source in sources.items():
        def complain(line, message, around, file=file):
            allowed = next((one for one in ALLOWED if one[0] == file and one[1] in around), None)
            used.add(allowed)
            if allowed is None:
                complaints.append(f'{file}:{line}: {message}: …{around}…')

        reader = next((reader for pattern, reader in READERS if re.search(pattern, file)), lambda source: ())
        for line, kind, raw in reader(source):
            text, at_line = re.sub(r'\s+', ' ', raw), functools.partial(complain, line)
            check_phrases(kind, text, at_line)
            if kind != 'string':
                check_length(file, raw, at_line)
            if kind == 'comment':
                check_names(text, names, identifiers, at_line)
        if file in codes:
            check_code(codes[file], retired, complain)
        for test in re.findall(r'START_TEST \((\w+)\)|def test_(\w+)', source):
            check_phrases('name', ''.join(test).replace('_', ' '), functools.partial(complain, ''.join(test)))

    complaints += [f'tests/structure/words.py: no text of {file} has "{text}" any more: delete the exception'
                   for file, text in ALLOWED if (file, text) not in used]
    print('\n'.join(complaints) or 'words: good')
    sys.exit(1 if complaints else 0)


main()
