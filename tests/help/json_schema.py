# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks JSON values against the schemas of tools/schemas. Supports only the keywords that these schemas use."""

import json
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parents[2] / 'tools' / 'schemas'
TYPES = {'object': dict, 'array': list, 'string': str, 'boolean': bool, 'null': type(None)}
KNOWN = {'$schema', 'title', 'description', 'type', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'minimum', 'pattern'}


def load(name):
    return json.loads((FOLDER / f'{name}.json').read_text(encoding='utf-8'))


def name_for(command, *args):
    """Returns the name of the schema of `cleave COMMAND ARGS --json`; None if the command has no schema of its own."""
    if command == 'fit' and '--frontier' in args:
        return 'frontier'
    if command == 'run' and '--ranks' in args:
        return 'run-ranks'
    return None if command == 'report' else command


def has_type(value, name):
    if name in ('integer', 'number'):
        return isinstance(value, int if name == 'integer' else (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def find_faults(value, schema, at='', seen=None):
    """Returns the faults of a value as texts that begin with the path of the fault. Adds the paths of all properties of the
    value to the set `seen`."""
    unknown = set(schema) - KNOWN
    assert not unknown, f'{at}: this checker does not know {unknown}'
    names = schema.get('type', [])
    names = [names] if isinstance(names, str) else names
    if names and not any(has_type(value, name) for name in names):
        return [f'{at}: {value!r} is no {" or ".join(names)}']
    faults = []
    if 'enum' in schema and value not in schema['enum']:
        faults.append(f'{at}: {value!r} is none of {schema["enum"]}')
    if 'minimum' in schema and value < schema['minimum']:
        faults.append(f'{at}: {value} is less than {schema["minimum"]}')
    if 'pattern' in schema and re.search(schema['pattern'], value) is None:
        faults.append(f'{at}: {value!r} does not match {schema["pattern"]}')
    if isinstance(value, dict):
        faults += [f'{at}: {name} is missing' for name in schema.get('required', []) if name not in value]
        others = schema.get('additionalProperties', True)
        for name, part in value.items():
            if seen is not None:
                seen.add(f'{at}/{name}')
            if name in schema.get('properties', {}):
                faults += find_faults(part, schema['properties'][name], f'{at}/{name}', seen)
            elif others is False:
                faults.append(f'{at}: {name} is not in the schema')
            elif isinstance(others, dict):
                faults += find_faults(part, others, f'{at}/{name}', seen)
    if isinstance(value, list) and 'items' in schema:
        for part in value:
            faults += find_faults(part, schema['items'], at, seen)
    return faults


def list_properties(schema, at=''):
    """Returns the paths of all properties of a schema. find_faults() adds paths of the same form to its set `seen`."""
    places = [place for name, part in schema.get('properties', {}).items()
              for place in (f'{at}/{name}', *list_properties(part, f'{at}/{name}'))]
    return places + (list_properties(schema['items'], at) if 'items' in schema else [])
