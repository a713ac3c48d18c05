# SPDX-License-Identifier: GPL-2.0-or-later
# Reads the declarations of the public headers, except <cleave/cleave-mpi.h>, which belongs to a library of its own.

import glob
import re


def split_declaration(text):
    """Returns the type, the name and the array brackets of a declaration."""
    m = re.match(r'(.*?)(\w+)((?:\[[^\]]*\])*)$', text.strip(), re.S)
    return re.sub(r'\s+', ' ', m[1]).strip(), m[2], m[3]


class Headers:
    """The declarations. `functions` is a list of (type of the result, name, [(type, name) of each parameter]).
    `structs` maps the name of a struct to its fields (type, name, array), and `enums` maps the name of an enumeration
    to its values. `exported` has the names of the functions that are not inline."""

    def __init__(self, root):
        self.functions, self.structs, self.enums, self.exported = [], {}, {}, set()
        for name in sorted(glob.glob(f'{root}/include/cleave/*.h')):
            if not name.endswith('/cleave-mpi.h'):
                with open(name, encoding='utf-8') as f:
                    self.read(re.sub(r'/\*.*?\*/', '', f.read(), flags=re.S))

    def read(self, text):
        for body, name in re.findall(r'typedef enum \{([^}]*)\} (\w+);', text):
            self.enums[name] = re.findall(r'\b(CLEAVE_\w+)', body)
        for body, name in re.findall(r'typedef struct\s*\{([^}]*)\} (\w+);', text):
            self.structs[name] = [field for line in body.split(';')
                                  if line.strip() and '(' not in line for field in self.read_fields(line)]
        declared = re.findall(r'CLEAVE_API\s+([^;{]*?)(\w+)\s*\(([^;]*)\)\s*;', text, re.S)
        inline = re.findall(r'static inline (\w+[\s*]+)(\w+)\s*\(([^{;]*)\)\s*\{', text, re.S)
        self.exported |= {name for _, name, _ in declared}
        for result, name, arguments in declared + inline:
            arguments = [a for a in arguments.split(',') if a.strip() != 'void']
            self.functions.append((re.sub(r'\s+', ' ', result).strip(), name, [split_declaration(a)[:2] for a in arguments]))

    def read_fields(self, line):
        first, *others = [part.strip() for part in line.split(',')]
        kind, name, array = split_declaration(first)
        yield kind, name, array
        for other in others:
            yield kind.rstrip('* ') + (' *' if '*' in other else ''), other.strip('* '), ''
