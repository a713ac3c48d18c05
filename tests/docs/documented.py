#!/usr/bin/env python3
# documented.py GIR: checks that every type, field, value, function, argument and result of the API is documented.
# Also checks that each function says since which version it exists.
import re
import sys
from xml.etree import ElementTree

CORE = '{http://www.gtk.org/introspection/core/1.0}'
C = '{http://www.gtk.org/introspection/c/1.0}'
# Tag names of the GIR elements that the reference shows to users, without the namespace.
READ = {'record', 'enumeration', 'bitfield', 'callback', 'member', 'field', 'function', 'method', 'constructor'}
CALLS = {'function', 'method', 'constructor', 'callback'}

complaints = []


def has_document(element):
    document = element.find(CORE + 'doc')
    return document is not None and bool(document.text.strip())


def returns_nothing(result):
    kind = result.find(CORE + 'type')
    return kind is not None and kind.get('name') == 'none'


def check_call(element, name):
    parameters = element.find(CORE + 'parameters')
    for parameter in ([] if parameters is None else parameters):
        if not has_document(parameter):
            complaints.append(f'{name}: @{parameter.get("name")}')
    result = element.find(CORE + 'return-value')
    if not returns_nothing(result) and not has_document(result) and element.get('throws') is None:
        complaints.append(f'{name}: its return value')


def check(element, path):
    kind = element.tag.replace(CORE, '')
    name = element.get(C + 'identifier') or element.get(C + 'type') or f'{path}.{element.get("name")}'
    hidden = element.get('opaque') == '1' or element.get('introspectable') == '0' and kind == 'field'
    if kind in READ and name.endswith(('_get_gtype', '_quark')):
        return
    # A function, method or constructor needs no summary. check_call() checks its arguments and its result.
    if kind in READ and not hidden and not has_document(element) and kind not in ('function', 'method', 'constructor'):
        complaints.append(name)
    if kind in CALLS:
        check_call(element, name)
        if kind != 'callback' and not re.fullmatch(r'\d+\.\d+', element.get('version', '')):
            complaints.append(f'{name}: since which version it exists, as in "Since: 0.2"')
    else:
        for child in element:
            check(child, name)


check(ElementTree.parse(sys.argv[1]).getroot().find(CORE + 'namespace'), 'Cleave')
print('\n'.join(f'no document: {c}' for c in complaints) or 'documented: good')
sys.exit(1 if complaints else 0)
