# SPDX-License-Identifier: GPL-2.0-or-later
"""Values of the library that _native.py passes by ctypes: numbers, texts, records and objects of GLib."""

import ctypes
import operator
import os

NUMBERS = {
    'gboolean': ctypes.c_int, 'gint': ctypes.c_int, 'guint': ctypes.c_uint, 'gint8': ctypes.c_int8,
    'guint8': ctypes.c_uint8, 'gint16': ctypes.c_int16, 'guint16': ctypes.c_uint16, 'gint32': ctypes.c_int32,
    'guint32': ctypes.c_uint32, 'gint64': ctypes.c_int64, 'guint64': ctypes.c_uint64, 'gsize': ctypes.c_size_t,
    'gssize': ctypes.c_ssize_t, 'gulong': ctypes.c_ulong, 'glong': ctypes.c_long, 'gfloat': ctypes.c_float,
    'gdouble': ctypes.c_double, 'gchar': ctypes.c_char,
}
TEXTS = ('utf8', 'filename')
POINTERS = ('gpointer', 'gconstpointer')


class GError(ctypes.Structure):
    _fields_ = [('domain', ctypes.c_uint32), ('code', ctypes.c_int), ('message', ctypes.c_char_p)]


class GPtrArray(ctypes.Structure):
    _fields_ = [('data', ctypes.c_void_p), ('length', ctypes.c_uint)]


class Error(Exception):
    """A GError: `message`, `domain` and `code`."""

    def __init__(self, message='unknown error', domain='pygi-error', code=0):
        super().__init__(message, domain, code)
        self.message, self.domain, self.code = message, domain, code

    def __str__(self):
        return f'{self.domain}: {self.message} ({self.code})'

    def matches(self, domain, code):
        return (self.domain, self.code) == (domain, code)


def check_number(name, ctype, value):
    """Returns the value of an argument as a number of the C type. Raises an OverflowError if the value does not fit."""
    if ctype in (ctypes.c_double, ctypes.c_float):
        return float(value)
    value = operator.index(value)
    bits = 8 * ctypes.sizeof(ctype)
    low, high = (-1 << bits - 1, (1 << bits - 1) - 1) if ctype(-1).value < 0 else (0, (1 << bits) - 1)
    if not low <= value <= high:
        raise OverflowError(f'{name}: {value} not in range {low} to {high}')
    return value


def check_text(name, kind, value):
    data = os.fsencode(value) if kind == 'filename' else value.encode() if isinstance(value, str) else None
    if data is None:
        raise TypeError(f'{name}: must be str, not {type(value).__name__}')
    if b'\0' in data:
        raise ValueError(f'{name}: embedded null byte')
    return data


def text_at(address, kind='utf8'):
    data = None if not address else ctypes.string_at(address)
    return data if data is None else os.fsdecode(data) if kind == 'filename' else data.decode()


class Record:
    """A struct of the library: its address, and the objects that keep the address valid.

    `_kept` holds the objects that must live as long as this object: memory of Python, or the record that contains this
    record. `_release` frees a record that this object owns."""

    _release = None

    def __init__(self):
        if self._struct is None:
            raise TypeError(f'cannot create {type(self).__name__} instances')
        self._kept = {'memory': self._struct()}
        self._address = ctypes.addressof(self._kept['memory'])

    @classmethod
    def _at(cls, address, release=None, keep=None):
        record = cls.__new__(cls)
        record._address, record._release, record._kept = address, release, {'lender': keep}
        return record

    def __del__(self):
        if self._release is not None:
            self._release(self._address)

    def __eq__(self, other):
        return isinstance(other, type(self)) and self._address == other._address

    def __hash__(self):
        return hash(self._address)


class Field:
    """A field of a record."""

    def __init__(self, api, index, name, kind):
        self.api, self.index, self.name, self.kind = api, index, name, kind

    def place(self, record):
        struct = type(record)._struct
        return record._address + getattr(struct, self.name).offset, struct._fields_[self.index][1]

    def __get__(self, record, owner=None):
        if record is None:
            return self
        address, ctype = self.place(record)
        if self.kind['kind'] == 'record' and self.kind['pointers'] == 0:
            return self.api.records[self.kind['name']]._at(address, keep=record)
        if 'fixed' in self.kind:
            return self.api.read_array(self.kind['of'], address, self.kind['fixed'], record)
        value = ctype.from_address(address).value
        if 'length' in self.kind:
            names = [name for name, _ in type(record)._struct._fields_]
            return self.api.read_array(self.kind['of'], value, getattr(record, names[self.kind['length']]), record)
        return self.api.read(self.kind, value, keep=record)

    def __set__(self, record, value):
        address, ctype = self.place(record)
        if self.kind['kind'] == 'record' and self.kind['pointers'] == 0:
            self.api.check_record(self.name, self.kind['name'], value)
            ctypes.memmove(address, value._address, ctypes.sizeof(ctype))
            return
        if 'fixed' in self.kind:
            ctype.from_address(address)[:] = [self.api.write(self.name, self.kind['of'], v, []) for v in value]
            return
        kept = record._kept[self.name] = []
        ctype.from_address(address).value = None if value is None else self.api.write(self.name, self.kind, value, kept)


class Bytes:
    """GLib's bytes: `Bytes.new (data)`, and `get_data ()`."""

    def __init__(self, api, address):
        self.api, self._address = api, address

    def get_data(self):
        size = ctypes.c_size_t()
        data = self.api.glib('g_bytes_get_data', ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(
            self._address, ctypes.addressof(size))
        return ctypes.string_at(data, size.value) if size.value else b''

    def get_size(self):
        return len(self.get_data())

    def __del__(self):
        self.api.glib('g_bytes_unref', None, ctypes.c_void_p)(self._address)


class Cancellable:
    """Ends a long call when the user interrupts it. Gio.Cancellable is a subclass whose `api` is the loaded library."""

    def __init__(self, address=None):
        self._address = address or self.api.glib('g_cancellable_new', ctypes.c_void_p)()

    @classmethod
    def get_current(cls):
        """Returns the cancellable that the thread pushed last, or None."""
        address = cls.api.glib('g_cancellable_get_current', ctypes.c_void_p)()
        return address and cls(cls.api.glib('g_object_ref', ctypes.c_void_p, ctypes.c_void_p)(address))

    def cancel(self):
        self.api.glib('g_cancellable_cancel', None, ctypes.c_void_p)(self._address)

    def push_current(self):
        """Makes this the cancellable of the thread, until pop_current()."""
        self.api.glib('g_cancellable_push_current', None, ctypes.c_void_p)(self._address)

    def pop_current(self):
        self.api.glib('g_cancellable_pop_current', None, ctypes.c_void_p)(self._address)

    def is_cancelled(self):
        return bool(self.api.glib('g_cancellable_is_cancelled', ctypes.c_int, ctypes.c_void_p)(self._address))

    def __del__(self):
        self.api.glib('g_object_unref', None, ctypes.c_void_p)(self._address)


class Variant:
    """A GVariant that a call returned."""

    def __init__(self, api, address):
        self.api, self._address = api, address

    def get(self, name, restype, *args):
        return self.api.glib('g_variant_' + name, restype, ctypes.c_void_p, *(ctypes.c_size_t for _ in args))(
            self._address, *args)

    def children(self):
        return [Variant(self.api, self.get('get_child_value', ctypes.c_void_p, i))
                for i in range(self.get('n_children', ctypes.c_size_t))]

    def unpack(self):
        """Returns the value as numbers, strings, lists, tuples and dictionaries."""
        text = self.get('get_type_string', ctypes.c_char_p).decode()
        numbers = {'b': 'boolean', 'y': 'byte', 'n': 'int16', 'q': 'uint16', 'i': 'int32', 'u': 'uint32', 'x': 'int64',
                   't': 'uint64', 'd': 'double'}
        ctypes_of = {'boolean': ctypes.c_int, 'byte': ctypes.c_uint8}
        if text in numbers:
            name = numbers[text]
            value = self.get('get_' + name, ctypes_of.get(name) or NUMBERS['g' + name])
            return bool(value) if name == 'boolean' else value
        if text in 'sog':
            return self.api.glib('g_variant_get_string', ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p)(
                self._address, None).decode()
        values = [child.unpack() for child in self.children()]
        if text.startswith('a{'):
            return dict(values)
        if text == 'v':
            return values[0]
        return tuple(values) if text[0] in '({' else values[0] if text[0] == 'm' and values else \
            None if text[0] == 'm' else values

    def __del__(self):
        self.api.glib('g_variant_unref', None, ctypes.c_void_p)(self._address)


class Held:
    """Deletes a callback from the table `held` when this object is deleted, at the end of the call that took the callback."""

    def __init__(self, held, key):
        self.held, self.key = held, key

    def __del__(self):
        self.held.pop(self.key, None)


class HashTable:
    """A GHashTable of strings, freed with this object."""

    def __init__(self, api, name, values):
        void = ctypes.c_void_p
        free = ctypes.cast(api.library['g_free'], void)
        of = [ctypes.cast(api.library[symbol], void) for symbol in ('g_str_hash', 'g_str_equal')]
        copy = api.glib('g_strdup', void, ctypes.c_char_p)
        self.unref = api.glib('g_hash_table_unref', None, void)
        self.address = api.glib('g_hash_table_new_full', void, void, void, void, void)(*of, free, free)
        for key, value in values.items():
            api.glib('g_hash_table_insert', ctypes.c_int, void, void, void)(
                self.address, copy(check_text(name, 'utf8', key)), copy(check_text(name, 'utf8', value)))

    def __del__(self):
        self.unref(self.address)


def read_table(api, address, transfer):
    """Returns a dictionary of the strings of a GHashTable. Frees the GHashTable if the caller owns it."""
    void = ctypes.c_void_p
    count = ctypes.c_uint()
    keys = api.glib('g_hash_table_get_keys_as_array', void, void, void)(address, ctypes.addressof(count))
    lookup = api.glib('g_hash_table_lookup', ctypes.c_char_p, void, void)
    values = {ctypes.string_at(key).decode(): lookup(address, key).decode() for key in (void * count.value).from_address(keys)}
    api.free(keys)
    if transfer in ('full', 'container'):
        api.glib('g_hash_table_unref', None, void)(address)
    return values
