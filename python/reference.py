#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""reference.py: prints docs/python-reference.md, from the docstrings and signatures of the package."""

import inspect
import textwrap

import cleave

HEAD = '''Title: Python reference

# Python reference

This reference page lists every name of the package `cleave`. [From Python](python.md) is the introduction.
`python/reference.py` makes this page, and a test compares the page with the package.
'''
# The classes and functions in the order of the page. The methods of a class follow the class.
CLASSES = ['Graph', 'Program', 'ShapedProgram', 'FitReport', 'Bundle', 'SplitReport', 'Partition', 'Differences', 'LimitError',
           'Node', 'Result', 'Operand', 'Tensor']
TUPLES = ['Memory', 'Timeline', 'MemoryStep', 'Buffer', 'Part', 'Difference', 'Port']
ERRORS = ['Error', 'ModelError', 'NotFoundError']
SPECIAL = {'Graph': ['__len__', '__iter__', '__getitem__', '__contains__', '__str__', '__call__'], 'Program': ['__call__'],
           'ShapedProgram': ['__call__'],
           'Tensor': ['__array__', '__dlpack__']}
SPECIAL_TEXT = {
    '__len__': 'The number of nodes, inputs and constants included.', '__iter__': 'The nodes, in the order of the file.',
    '__getitem__': 'The node of this name. If the graph has no such node, a NotFoundError suggests similar names.',
    '__contains__': 'Whether the graph has a node of this name.', '__str__': 'The graph as text, a line for each node.'}
# Methods of the library's classes that the package does not wrap: signature and text.
INHERITED = {'Graph': {'copy': ('()', 'Returns a copy of the graph. Constants are shared.')},
             'FitReport': {'apply': ('(graph)', 'Splits the graph as planned. Returns a SplitReport.')}}


def own_members(cls):
    """Returns the functions and properties that the package adds to a class, by name."""
    found = {}
    for name, value in vars(cls).items():
        function = value.fget if isinstance(value, property) else value
        module = getattr(function, '__module__', None) or ''
        if not name.startswith('_') and (isinstance(value, property) or (inspect.isfunction(value) and module.startswith('cleave._'))):
            found[name] = value
    return found


def paragraph(text):
    return '\n\n'.join(textwrap.fill(' '.join(part.split()), 118) for part in inspect.cleandoc(text or '').split('\n\n'))


def signature(name, function, drop_self):
    parameters = list(inspect.signature(function).parameters.values())[1 if drop_self else 0:]
    return f'{name}({", ".join(str(p) for p in parameters)})'


def of_member(owner, name, value):
    prefix = owner[0].lower() + owner[1:]
    if isinstance(value, property):
        return f'### `{prefix}.{name}`\n\n{paragraph(value.__doc__)}\n'
    shown = {'__call__': prefix, '__len__': f'len({prefix})', '__iter__': f'for node in {prefix}', '__str__': f'str({prefix})',
             '__getitem__': f'{prefix}[name]', '__contains__': f'name in {prefix}'}
    if name in SPECIAL_TEXT:
        return f'### `{shown[name]}`\n\n{SPECIAL_TEXT[name]}\n'
    title = signature(shown.get(name, f'{prefix}.{name}'), value, True)
    return f'### `{title}`\n\n{paragraph(value.__doc__)}\n'


def of_class(name):
    cls = getattr(cleave, name)
    text = cls.__doc__ if (cls.__module__ or '').startswith('cleave._') else {
        'Graph': 'A graph: a collection of nodes.', 'FitReport': 'A plan that `fit` found.', 'Bundle': 'A model as C99 source files for a small device.',
        'SplitReport': 'A report of the changes of a split.', 'Node': 'A node of a graph, with at least one result.',
        'Result': 'A value that a node computes.', 'Operand': 'A use of a value, by a node or by an output.',
        'Tensor': 'A typed array of the library, which shares its memory with numpy.'}[name]
    parts = [f'## {name}\n\n{paragraph(text)}\n']
    for member, (arguments, doc) in INHERITED.get(name, {}).items():
        parts.append(f'### `{name[0].lower() + name[1:]}.{member}{arguments}`\n\n{doc}\n')
    parts += [of_member(name, member, vars(cls)[member]) for member in SPECIAL.get(name, [])]
    parts += [of_member(name, member, value) for member, value in sorted(own_members(cls).items())]
    return '\n'.join(parts)


def table_of_tuples():
    rows = ['| name | fields | meaning |', '|---|---|---|']
    for name in TUPLES:
        cls = getattr(cleave, name)
        rows.append(f'| `{name}` | {", ".join(f"`{field}`" for field in cls._fields)} | {" ".join(cls.__doc__.split())} |')
    return '## Named tuples\n\n' + '\n'.join(rows) + '\n'


def make():
    functions = [f'### `{signature("cleave." + name, getattr(cleave, name), False)}`\n\n{paragraph(getattr(cleave, name).__doc__)}\n'
                 for name in ('load', 'parse', 'compile', 'load_program', 'as_tensor', 'split_op')]
    errors = [f'### `{name}`\n\n{paragraph(getattr(cleave, name).__doc__)}\n' for name in ERRORS]
    return '\n'.join([HEAD, '## Functions\n', *functions, *map(of_class, CLASSES), table_of_tuples(), '## Errors\n', *errors])


if __name__ == '__main__':
    print(make(), end='')
