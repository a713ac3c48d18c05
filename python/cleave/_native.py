# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls the library by ctypes, without PyGObject. The wheel uses this module in place of `gi.repository`.

The build writes a table of the library's types and functions from the introspection data (wheel/bindings.py). From this
table, `open_library` makes namespaces with the names of PyGObject: `Cleave.Graph`, `Cleave.onnx_load (path, options)`.
Arguments and results follow the rules of PyGObject:

- The length of an array and the data of a callback are no arguments.
- A call returns its result and its out parameters as a tuple. If there is only one value, the call returns this value.
- A GError is raised as `GLib.Error`.
- ctypes releases the interpreter lock during each call."""

import ctypes
import enum
import itertools
import json
import operator
import sys
import types

from ._native_values import (NUMBERS, POINTERS, TEXTS, Bytes, Cancellable, Error, Field, GError, GPtrArray, HashTable, Held, Record,
                             Variant, check_number, check_text, read_table, text_at)

class Function:
    """A function of the library, as a Python callable."""

    def __init__(self, api, name, table):
        self.api, self.name = api, name
        self.parameters, self.returns = table['parameters'], table['returns']
        self.throws, self.instance = table.get('throws', False), table.get('instance')
        typed = [p['type'] for p in self.parameters]
        self.lengths = {t['length'] for t in typed + [self.returns['type']] if 'length' in t}
        data = {p[key] for p in self.parameters if p['type']['kind'] == 'callback' for key in ('closure', 'destroy') if key in p}
        self.given = [i for i, p in enumerate(self.parameters)
                      if p.get('direction') != 'out' and i not in self.lengths and i not in data]
        self.function = getattr(api.library, table['symbol'])
        self.function.argtypes = ([ctypes.c_void_p] if self.instance else []) + [
            ctypes.c_void_p if 'direction' in p else api.ctype_of(p['type']) for p in self.parameters
        ] + ([ctypes.c_void_p] if self.throws else [])
        kind = self.returns['type']
        self.function.restype = None if kind['kind'] == 'none' else api.ctype_of(kind)

    def arrange(self, args, named):
        """Returns a dictionary from the index of each given parameter to its value."""
        values = dict(zip(self.given, args))
        if len(args) > len(self.given):
            raise TypeError(f'{self.name}() takes {len(self.given)} arguments, {len(args)} are given')
        for i in self.given[len(args):]:
            name = self.parameters[i]['name']
            if name in named:
                values[i] = named.pop(name)
            elif self.parameters[i].get('nullable'):
                values[i] = None
            else:
                raise TypeError(f"{self.name}() misses the argument '{name}'")
        if named:
            raise TypeError(f"{self.name}() has no argument '{next(iter(named))}'")
        return values

    def __call__(self, instance, args, named):
        kept, outs, places = [instance], {}, [0] * len(self.parameters)
        for i, value in self.arrange(args, named).items():
            parameter = self.parameters[i]
            kind = parameter['type']
            if 'length' in kind:
                places[kind['length']] = 0 if value is None else len(value)
            if value is None and not parameter.get('nullable'):
                raise TypeError(f"{self.name}(): '{parameter['name']}' must not be None")
            if kind['kind'] == 'callback' and value is not None:
                places[parameter['closure']] = self.api.hold(value, parameter.get('scope') == 'async', kept)
            if 'direction' in parameter:
                kind = {**kind, 'pointers': kind['pointers'] - 1}
            places[i] = None if value is None else self.api.write(
                parameter['name'], kind, value, kept, parameter.get('transfer'))
        for i, parameter in enumerate(self.parameters):
            if 'direction' in parameter:
                outs[i] = self.room_for(parameter, places[i])
                places[i] = outs[i]._address if isinstance(outs[i], Record) else ctypes.addressof(outs[i])
        error = ctypes.c_void_p()
        first = [] if self.instance is None else [self.api.instance(instance, self.instance)]
        result = self.function(*first, *places, *([ctypes.addressof(error)] if self.throws else []))
        if error.value:
            raise self.api.take_error(error.value)
        return self.collect(result, outs, instance, kept)

    def room_for(self, parameter, value):
        kind = parameter['type']
        if parameter.get('caller_allocates'):
            return self.api.records[kind['name']]()
        ctype = NUMBERS.get(kind['kind'], ctypes.c_void_p) if kind.get('pointers') == 1 else ctypes.c_void_p
        return ctype(value) if parameter['direction'] == 'inout' else ctype()

    def collect(self, result, outs, instance, kept):
        """Returns the result and the out parameters as values of Python. A borrowed record keeps its owner alive."""
        values, kind = [], self.returns['type']
        keep = instance if instance is not None else kept
        if 'length' in kind:
            values.append(self.api.read_array(kind['of'], result, outs[kind['length']].value, keep))
        elif kind['kind'] != 'none':
            values.append(self.api.read(kind, result, self.returns.get('transfer'), keep))
        for i, out in outs.items():
            if isinstance(out, Record):
                values.append(out)
            elif i not in self.lengths:
                kind = self.parameters[i]['type']
                kind = {**kind, 'pointers': kind.get('pointers', 2) - 1}
                values.append(self.api.read(kind, out.value, self.parameters[i].get('transfer'), keep))
        return None if not values else values[0] if len(values) == 1 else tuple(values)


class Api:
    """The library, and the table of its types and functions."""

    def __init__(self, path, table):
        self.library, self.table = ctypes.CDLL(path), table
        self.known, self.held, self.keys, self.trampolines = {}, {}, itertools.count(1), {}
        self.enums = {name: enum.IntEnum(name, members) for name, members in table['enums'].items()}
        self.records = {name: type(name, (Record,), {'__module__': 'cleave.Cleave', '_struct': None}) for name in table['records']}
        for name in self.records:
            self.struct_of(name)
        for name, record in self.records.items():
            self.fill(name, record)

    def glib(self, symbol, restype, *argtypes):
        """Returns a function of GLib, from the copy of GLib that the library is linked with."""
        if symbol not in self.known:
            function = self.library[symbol]
            function.restype, function.argtypes = restype, argtypes
            self.known[symbol] = function
        return self.known[symbol]

    # The functions below choose ctypes for types of C.

    def ctype_of(self, kind):
        name = kind['kind']
        if 'fixed' in kind:
            return self.ctype_of(kind['of']) * kind['fixed']
        if name == 'enum':
            return ctypes.c_int
        if name == 'record' and kind['pointers'] == 0:
            return self.struct_of(kind['name'])
        return NUMBERS[name] if name in NUMBERS and kind['pointers'] == 0 else ctypes.c_void_p

    def struct_of(self, name):
        """Returns the ctypes structure of a record; None for a record whose fields are private."""
        record, fields = self.records[name], self.table['records'][name]['fields']
        if record._struct is None and fields:
            layout = [(field, self.ctype_of(kind)) for field, kind in fields]
            record._struct = type(name, (ctypes.Structure,), {'_fields_': layout})
        return record._struct

    def fill(self, name, record):
        table = self.table['records'][name]
        record._gtype = table['get_type']
        for index, (field, kind) in enumerate(table['fields']):
            setattr(record, field, Field(self, index, field, kind))
        for method, function in table['methods'].items():
            setattr(record, method, self.method(f'{name}.{method}', function))
        for function, how in table['functions'].items():
            setattr(record, function, staticmethod(self.function(f'{name}.{function}', how)))

    def method(self, name, table):
        made = []

        def call(self_, *args, **named):
            if not made:
                made.append(Function(self, name, table))
            return made[0](self_, args, named)
        return self.named(call, name)

    def function(self, name, table):
        made = []

        def call(*args, **named):
            if not made:
                made.append(Function(self, name, table))
            return made[0](None, args, named)
        return self.named(call, name)

    def named(self, function, name):
        function.__name__, function.__qualname__, function.__module__ = name.split('.')[-1], name, 'cleave.Cleave'
        return function

    # The functions below convert values of Python to values of C.

    def check_record(self, name, wanted, value):
        if not isinstance(value, self.records[wanted]):
            raise TypeError(f'{name}: must be Cleave.{wanted}, not {type(value).__name__}')

    def gtype_of(self, record):
        return None if record._gtype is None else self.glib(record._gtype, ctypes.c_size_t)()

    def copy(self, record, address):
        return self.glib('g_boxed_copy', ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)(self.gtype_of(record), address)

    def instance(self, record, transfer):
        return self.copy(type(record), record._address) if transfer == 'full' else record._address

    def write(self, name, kind, value, kept, transfer=None):
        """Returns the value of an argument in the form that C expects. `kept` holds the objects that must live as
        long as the argument."""
        what = kind['kind']
        kept.append(value)
        if what == 'gboolean' and kind['pointers'] == 0:
            return int(bool(value))
        if what in NUMBERS or what == 'enum':
            ctype = ctypes.c_int if what == 'enum' else NUMBERS[what]
            number = check_number(name, ctype, value)
            if kind.get('pointers', 0) == 0:
                return number
            kept.append(ctype(number))
            return ctypes.addressof(kept[-1])
        if what in TEXTS:
            data = ctypes.create_string_buffer(check_text(name, what, value))
            kept.append(data)
            return ctypes.addressof(data)
        if what == 'record':
            self.check_record(name, kind['name'], value)
            return self.copy(type(value), value._address) if transfer == 'full' else value._address
        if what == 'array':
            return self.write_array(name, kind, value, kept)
        if what == 'callback':
            return self.trampoline(kind['name'])
        if what in POINTERS:
            return value._address if isinstance(value, Record) else operator.index(value)
        return self.write_foreign(name, kind['name'], value, kept)

    def write_array(self, name, kind, values, kept):
        of, ends = kind['of'], 'length' not in kind
        if of['kind'] == 'record' and of['pointers'] == 0:
            array = (self.struct_of(of['name']) * len(values))()
            for i, value in enumerate(values):
                self.check_record(name, of['name'], value)
                ctypes.memmove(ctypes.addressof(array[i]), value._address, ctypes.sizeof(array[i]))
        else:
            ctype = NUMBERS.get(of['kind'], ctypes.c_void_p)
            array = (ctype * (len(values) + ends))(*(self.write(name, of, value, kept) for value in values))
        kept.append(array)
        return ctypes.addressof(array)

    def write_foreign(self, name, wanted, value, kept):
        if wanted != 'GLib.HashTable':
            if not isinstance(value, {'GLib.Bytes': Bytes, 'Gio.Cancellable': Cancellable}[wanted]):
                raise TypeError(f'{name}: must be {wanted}, not {type(value).__name__}')
            return value._address
        table = HashTable(self, name, value)
        kept.append(table)
        return table.address

    def hold(self, function, once, kept):
        """Stores a Python function for a callback, and returns the key by which the C function of trampoline() finds
        it. If `once`, the key is valid until the library calls the function, which may be after the current call. If
        not, the key is valid until the current call ends."""
        key = next(self.keys)
        self.held[key] = function, once
        if not once:
            kept.append(Held(self.held, key))
        return key

    def trampoline(self, name):
        """Returns the address of a C function for callbacks of type `name`. The C function calls the Python function
        that hold() stored under the callback data. Each type of callback has one C function, which lives as long as the
        library."""
        if name in self.trampolines:
            return ctypes.cast(self.trampolines[name], ctypes.c_void_p).value
        table = self.table['callbacks'][name]
        data = next(i for i, p in enumerate(table['parameters']) if 'closure' in p)
        kinds = [p['type'] for p in table['parameters']]

        def called(*values):
            function, once = self.held[values[data]]
            if once:
                del self.held[values[data]]
            try:
                result = function(*(self.read(kind, value) for i, (kind, value) in enumerate(zip(kinds, values)) if i != data))
            except BaseException:  # no caller can catch the exception, since C called this function
                sys.excepthook(*sys.exc_info())
                result = False
            return None if table['returns']['type']['kind'] == 'none' else bool(result)

        result = table['returns']['type']
        made = ctypes.CFUNCTYPE(None if result['kind'] == 'none' else self.ctype_of(result), *map(self.ctype_of, kinds))(called)
        self.trampolines[name] = made
        return ctypes.cast(made, ctypes.c_void_p).value

    # The functions below convert values of C to values of Python.

    def free(self, address):
        self.glib('g_free', None, ctypes.c_void_p)(address)

    def read(self, kind, value, transfer=None, keep=None):
        """Converts a value of C to a value of Python."""
        what = kind['kind']
        if what == 'enum':
            return self.enum_of(kind['name'], value)
        if what in NUMBERS and kind['pointers'] == 0:
            return bool(value) if what == 'gboolean' else value
        if not value:
            return None if what != 'array' or transfer is None else []
        if what in TEXTS:
            text = text_at(value, what)
            if transfer == 'full':
                self.free(value)
            return text
        if what == 'record':
            return self.read_record(kind, value, transfer, keep)
        if what == 'array':
            return self.read_container(kind, value, transfer)
        if what == 'foreign' and kind['name'] == 'GLib.HashTable':
            return read_table(self, value, transfer)
        if what == 'foreign':
            return {'GLib.Bytes': Bytes, 'GLib.Variant': Variant}[kind['name']](self, value)
        return value

    def enum_of(self, name, value):
        try:
            return self.enums[name](value)
        except ValueError:  # the enumeration has no name for this value
            return value

    def read_record(self, kind, value, transfer, keep):
        record = self.records[kind['name']]
        gtype = self.gtype_of(record)
        if gtype is None:
            return record._at(value, self.free if transfer == 'full' else None, keep)
        if transfer != 'full':
            value = self.copy(record, value)
        free = self.glib('g_boxed_free', None, ctypes.c_size_t, ctypes.c_void_p)
        return record._at(value, lambda address: free(gtype, address))

    def read_array(self, kind, address, length, keep):
        """Returns a list of the elements of an array. The array stays in the memory of the library."""
        ctype = self.ctype_of(kind)
        if not address:
            return []
        if kind['kind'] == 'record' and kind['pointers'] == 0:
            return [self.records[kind['name']]._at(address + i * ctypes.sizeof(ctype), keep=keep) for i in range(length)]
        return [self.read(kind, value, keep=keep) for value in (ctype * length).from_address(address)]

    def read_container(self, kind, address, transfer):
        """Returns the elements of a GPtrArray, a GArray or an array of strings. Frees the container if the caller owns it. The
        caller does not own a container that is the field of a record."""
        if kind['container'] is None:
            count = next(i for i in itertools.count() if not ctypes.c_void_p.from_address(address + 8 * i).value)
            values = self.read_array({'kind': 'utf8', 'pointers': 1}, address, count, None)
            if transfer == 'full':
                self.glib('g_strfreev', None, ctypes.c_void_p)(address)
            return values
        array, of = GPtrArray.from_address(address), kind['of']
        if kind['container'] == 'GLib.PtrArray':
            values = self.read_array({**of, 'pointers': 1}, array.data, array.length, None)
            if transfer in ('full', 'container'):
                self.glib('g_ptr_array_unref', None, ctypes.c_void_p)(address)
            return values
        if of['kind'] != 'record':
            values = self.read_array(of, array.data, array.length, None)
            if transfer in ('full', 'container'):
                self.glib('g_array_unref', None, ctypes.c_void_p)(address)
            return values
        values = [self.records[of['name']]() for _ in range(array.length)]
        for i, value in enumerate(values):
            size = ctypes.sizeof(self.struct_of(of['name']))
            ctypes.memmove(value._address, array.data + i * size, size)
        if transfer in ('full', 'container'):
            self.glib('g_array_unref', None, ctypes.c_void_p)(address)
        return values

    def take_error(self, address):
        error = GError.from_address(address)
        raised = Error(error.message.decode(), self.quark_to_string(error.domain), error.code)
        self.glib('g_error_free', None, ctypes.c_void_p)(address)
        return raised

    def quark_to_string(self, quark):
        return self.glib('g_quark_to_string', ctypes.c_char_p, ctypes.c_uint32)(quark).decode()

    def new_bytes(self, data):
        data = bytes(data)
        return Bytes(self, self.glib('g_bytes_new', ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t)(data, len(data)))


def open_library(path, table):
    """Returns the namespaces Cleave, GLib and Gio, for a library and the table of its types and functions."""
    with open(table, encoding='utf-8') as file:
        api = Api(path, json.load(file))
    functions = {name: api.function(name, function) for name, function in api.table['functions'].items()}
    cleave = types.SimpleNamespace(**api.table['constants'], **api.enums, **functions)
    vars(cleave).update(api.records)
    glib = types.SimpleNamespace(
        Error=Error, Bytes=types.SimpleNamespace(new=api.new_bytes), quark_to_string=api.quark_to_string,
        get_num_processors=lambda: api.glib('g_get_num_processors', ctypes.c_uint)())
    gio = types.SimpleNamespace(Cancellable=type('Cancellable', (Cancellable,), {'api': api}))
    return cleave, glib, gio
