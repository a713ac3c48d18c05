# SPDX-License-Identifier: GPL-2.0-or-later
# The stub file matches the package: it lists every public name, method, property and argument, and nothing else.
import ast
import importlib.util
import inspect
import pathlib
import re

import cleave

STUBS = ast.parse((pathlib.Path(cleave.__file__).parent / '__init__.pyi').read_text())
# Members of the stub file that are not Python code of the package: the C library or Python defines these members.
INTROSPECTED = {'Graph': {'copy'}, 'FitReport': {'apply'}, 'Error': {'message', 'domain', 'code'}}


def names_of(function):
    args = function.args
    return [a.arg for a in args.posonlyargs + args.args + args.kwonlyargs]


def test_every_name_is_there():
    stubbed = {n.name for n in STUBS.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))} | {'Cleave', '__version__'}
    assert stubbed == set(cleave.__all__)


def test_methods_have_the_arguments_that_stubs_say():
    checked = 0
    for item in STUBS.body:
        members = [item] if isinstance(item, ast.FunctionDef) else getattr(item, 'body', [])
        for member in members:
            if not isinstance(member, ast.FunctionDef):
                continue
            owner = cleave if item is member else getattr(cleave, item.name)
            real = getattr(owner, member.name)
            if not inspect.isfunction(real) or member.name in INTROSPECTED.get(item.name, ()):
                continue
            assert not any(getattr(d, 'id', None) == 'property' for d in member.decorator_list), member.name
            parameters = inspect.signature(real).parameters
            takes_any = any(p.kind == p.VAR_KEYWORD for p in parameters.values())
            first = 0 if owner is cleave else 1
            said, there = names_of(member)[first:], list(parameters)[first:]
            assert takes_any or said == there, (item.name, member.name)
            checked += 1
    assert checked > 20


def test_stubs_say_all_that_the_overlay_adds():
    for item in STUBS.body:
        if isinstance(item, ast.ClassDef) and item.name != 'Error':
            said = {m.name for m in item.body if isinstance(m, ast.FunctionDef)}
            added = {name for name, value in vars(getattr(cleave, item.name)).items()
                     if (isinstance(value, property) or inspect.isfunction(value)) and not name.startswith('_')
                     and getattr(value, '__module__', 'cleave').startswith('cleave')
                     and (isinstance(value, property) or value.__module__.startswith('cleave._'))}
            assert added <= said, (item.name, added - said)


def test_the_options_of_a_split_are_those_of_the_pass():
    split = next(m for c in STUBS.body if getattr(c, 'name', '') == 'Graph' for m in c.body
                 if getattr(m, 'name', '') == 'split')
    info = cleave.Cleave.pass_lookup('split')
    of_pass = {info.get_option(i).name.replace('-', '_') for i in range(info.get_n_options())}
    of_pass = of_pass - {'max_memory'} | {'max_piece_memory'}  # as in the command
    assert set(names_of(split)) - {'self', 'nodes'} == of_pass - {'node', 'all'}


def test_the_reference_page_is_that_of_the_package():
    source = pathlib.Path(__file__).resolve().parents[1]
    spec = importlib.util.spec_from_file_location('reference', source / 'reference.py')
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    page = source.parent / 'docs' / 'python-reference.md'
    assert page.read_text() == reference.make(), 'run python/reference.py >docs/python-reference.md'


def test_the_reference_page_has_every_name():
    page = (pathlib.Path(__file__).resolve().parents[2] / 'docs' / 'python-reference.md').read_text()
    for name in set(cleave.__all__) - {'Cleave', '__version__'}:
        assert f'## {name}\n' in page or f'`{name}`' in page or f'`cleave.{name}(' in page, name
    assert not re.search('^### [^\n]*\n\n(\n|#)', page, re.M), 'a member has no docstring'
