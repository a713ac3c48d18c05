#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""bindings.py FILE.gir OUT.json: writes the table from which cleave/_native.py calls the library without PyGObject.

The table has the constants, enumerations, records and functions that the .gir calls introspectable, with the names that
PyGObject gives them. A type that the table cannot express is an error, so a new function either works in the wheel or
fails the build."""

import json
import keyword
import sys
import xml.etree.ElementTree as ElementTree

CORE = '{http://www.gtk.org/introspection/core/1.0}'
C = '{http://www.gtk.org/introspection/c/1.0}'
GLIB = '{http://www.gtk.org/introspection/glib/1.0}'

BASIC = {'none', 'gboolean', 'gint', 'guint', 'gint8', 'guint8', 'gint16', 'guint16', 'gint32', 'guint32', 'gint64',
         'guint64', 'gsize', 'gssize', 'gulong', 'glong', 'gfloat', 'gdouble', 'gchar', 'gpointer', 'gconstpointer',
         'utf8', 'filename'}
ALIASES = {'GLib.Quark': 'guint32', 'GType': 'gsize'}
FOREIGN = {'GLib.Bytes', 'GLib.HashTable', 'GLib.Variant', 'Gio.Cancellable'}
CONTAINERS = {'GLib.PtrArray', 'GLib.Array'}


class Unknown(Exception):
    """A type that cleave/_native.py cannot pass."""


class Table:
    def __init__(self, namespace):
        self.namespace = namespace
        self.passed = set()  # names of the callback types that functions take
        self.kinds = {item.get('name'): item.tag.replace(CORE, '') for item in namespace}

    def type_of(self, holder):
        """Returns the type inside a parameter, a field or a return value as a dictionary with its `kind`."""
        array = holder.find(CORE + 'array')
        if array is not None:
            return self.array_of(array)
        inner = holder.find(CORE + 'type')
        if inner is None:
            raise Unknown('no type')
        name = ALIASES.get(inner.get('name'), inner.get('name'))
        pointers = (inner.get(C + 'type') or '').count('*')
        if name in BASIC:
            # A pointer to a number that is not an output parameter is an optional number: NULL or its address.
            return {'kind': name, 'pointers': pointers}
        if name in FOREIGN:
            return {'kind': 'foreign', 'name': name}
        kind = self.kinds.get(name)
        if kind == 'enumeration':
            return {'kind': 'enum', 'name': name}
        if kind == 'record':
            return {'kind': 'record', 'name': name, 'pointers': pointers}
        if kind == 'callback':
            return {'kind': 'callback', 'name': name}
        raise Unknown(name)

    def array_of(self, array):
        name = array.get('name')
        if name is not None and name not in CONTAINERS:
            raise Unknown(name)
        whole = {'kind': 'array', 'container': name, 'of': self.type_of(array)}
        for key, attribute in (('length', 'length'), ('fixed', 'fixed-size')):
            if array.get(attribute) is not None:
                whole[key] = int(array.get(attribute))
        whole['pointers'] = (array.get(C + 'type') or '').count('*')
        return whole

    def parameter_of(self, item):
        parameter = {'name': item.get('name'), 'type': self.type_of(item)}
        if parameter['type']['kind'] == 'callback':
            self.passed.add(parameter['type']['name'])
        for key, attribute in (('direction', 'direction'), ('transfer', 'transfer-ownership'), ('scope', 'scope')):
            value = item.get(attribute)
            if value not in (None, 'in', 'none'):
                parameter[key] = value
        if item.get('caller-allocates') == '1':
            parameter['caller_allocates'] = True
        if item.get('nullable') == '1' or item.get('allow-none') == '1' or item.get('optional') == '1':
            parameter['nullable'] = True
        for key in ('closure', 'destroy'):
            if item.get(key) is not None:
                parameter[key] = int(item.get(key))
        return parameter

    def signature_of(self, item):
        parameters = item.find(CORE + 'parameters')
        listed = [p for p in (parameters if parameters is not None else []) if p.tag == CORE + 'parameter']
        signature = {'parameters': [self.parameter_of(p) for p in listed],
                     'returns': self.parameter_of(item.find(CORE + 'return-value'))}
        signature['returns'].pop('name')
        if item.get('throws') == '1':
            signature['throws'] = True
        return signature

    def function_of(self, item):
        """Returns the function as a dictionary, or None if PyGObject does not offer the function either."""
        if item.get('introspectable') == '0' or item.get('shadowed-by') is not None:
            return None
        function = {'symbol': item.get(C + 'identifier'), **self.signature_of(item)}
        instance = item.find(CORE + 'parameters/' + CORE + 'instance-parameter')
        if instance is not None:
            function['instance'] = instance.get('transfer-ownership', 'none')
        return function

    def functions_of(self, owner, tags):
        functions = {}
        for item in owner:
            if item.tag.replace(CORE, '') in tags:
                function = self.function_of(item)
                if function is not None:
                    functions[python_name(item.get('shadows') or item.get('name'))] = function
        return functions

    def record_of(self, record):
        fields = []
        for item in record.findall(CORE + 'field'):
            if item.get('bits') is not None:
                raise Unknown('bit field')
            callback = item.find(CORE + 'callback') is not None
            fields.append([item.get('name'), {'kind': 'gpointer', 'pointers': 0} if callback else self.type_of(item)])
        return {'get_type': record.get(GLIB + 'get-type'), 'fields': fields,
                'methods': self.functions_of(record, {'method'}),
                'functions': self.functions_of(record, {'constructor', 'function'})}

    def whole(self):
        table = {'constants': {}, 'enums': {}, 'records': {}}
        for item in self.namespace:
            name, tag = item.get('name'), item.tag.replace(CORE, '')
            try:
                if tag == 'constant':
                    table['constants'][name] = constant_of(item)
                elif tag == 'enumeration':
                    table['enums'][name] = {member.get('name').upper(): int(member.get('value'))
                                            for member in item.findall(CORE + 'member')}
                elif tag == 'record':
                    table['records'][name] = self.record_of(item)
            except Unknown as unknown:
                raise Unknown(f'{name}: {unknown}') from None
        table['functions'] = self.functions_of(self.namespace, {'function'})
        table['callbacks'] = {name: self.signature_of(self.namespace.find(f"{CORE}callback[@name='{name}']"))
                              for name in sorted(self.passed)}
        return table


def constant_of(item):
    kind, value = item.find(CORE + 'type').get('name'), item.get('value')
    if kind in ('gdouble', 'gfloat'):
        return float(value)
    return value == 'true' if kind == 'gboolean' else value if kind == 'utf8' else int(value)


def python_name(name):
    """Returns the name that PyGObject gives a function. PyGObject renames `print`, which was a keyword."""
    return name + '_' if keyword.iskeyword(name) or name in ('print', 'exec') else name


def main(source, out):
    namespace = ElementTree.parse(source).getroot().find(CORE + 'namespace')
    try:
        table = Table(namespace).whole()
    except Unknown as unknown:
        sys.exit(f'{source}: {unknown} is a type that python/cleave/_native.py cannot pass')
    with open(out, 'w', encoding='utf-8') as file:
        json.dump(table, file, separators=(',', ':'), sort_keys=True)


if __name__ == '__main__':
    main(*sys.argv[1:])
