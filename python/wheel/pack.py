#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""pack.py BUILD-DIR OUT-DIR: packs a wheel from a build directory and prints its path.

The wheel needs Python, numpy and glibc, nothing else:

- The wheel contains the library, the command, the module for pictures with the plug-ins of Graphviz, and every shared
  library that these binaries need, except the libraries of glibc. The name of each library gets a hash of its content,
  so the loader never takes a library of the system in its place. Each library finds the other libraries by $ORIGIN.
- `_api.json` is made from the introspection data of the same build.

The tag has the newest version of glibc that a file of the wheel requires. pack.py needs patchelf, strip and readelf.

With --root and --machine, pack.py packs a wheel for another machine: ROOT is a folder with Debian's packages for that
machine, BUILD-DIR is a cross-compiled build, and --gir is the introspection data of a build for this machine. The
introspection data of both builds is the same."""

import argparse
import base64
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import zipfile

import bindings

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# The libraries of glibc, which the wheel does not contain.
GLIBC = re.compile(r'(ld-linux.*|lib(c|m|dl|rt|pthread|util|resolv|mvec|anl|nsl|BrokenLocale))\.so.*')
# Plug-ins of Graphviz: the writers of .dot and .svg, and the layout engines that lib/dot uses.
PLUGINS = ('core', 'dot_layout', 'neato_layout')


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


class Host:
    """The machine that the wheel is for: this machine, or the machine whose packages are in the folder `root`."""

    def __init__(self, root=None, machine=None):
        self.root, self.machine = root, machine or os.uname().machine
        self.prefix = f'{machine}-linux-gnu-' if root else ''
        folder = f'{self.machine}-linux-gnu'
        self.libdirs = [root / top / folder / sub for top in ('usr/lib', 'lib') for sub in ('', 'blas', 'lapack')] if root else []

    def find_library(self, name, beside):
        for folder in [beside, *self.libdirs]:
            if (folder / name).exists():
                return (folder / name).resolve()
        raise SystemExit(f'{name} is not in {self.root}: add its package')

    def package_of(self, file):
        """Returns the Debian package of a library, and the package's folder of documents. Packages have the same names for
        all machines."""
        path = str(file)
        if self.root:
            path = path.removeprefix(str(self.root)).replace(f'{self.machine}-linux-gnu', f'{os.uname().machine}-linux-gnu')
        for known in (path, f'/usr{path}'):
            found = subprocess.run(['dpkg-query', '-S', known], capture_output=True, text=True).stdout
            if found:
                package = found.split(':')[0]
                return package, (self.root or pathlib.Path('/')) / 'usr/share/doc' / package
        return None, None


def needed_elsewhere(binary, host):
    """Returns the shared libraries that a binary of another machine needs, as needed() does for this machine."""
    libraries, todo = {}, [binary]
    while todo:
        file = todo.pop()
        for name in re.findall(r'\(NEEDED\).*\[(.*)\]', run('readelf', '--dynamic', '--wide', file)):
            if name not in libraries and not GLIBC.fullmatch(name):
                libraries[name] = host.find_library(name, build_folder_of(binary))
                todo.append(libraries[name])
    return libraries


def build_folder_of(binary):
    return binary.parent.parent if binary.parent.name == 'tools' else binary.parent


def needed(binary, host):
    """Returns a dictionary from the name to the file of each shared library that a binary needs, directly or indirectly."""
    if host.root:
        return needed_elsewhere(binary, host)
    libraries = {}
    for line in run('ldd', binary).splitlines():
        found = re.match(r'\s*(\S+) => (/\S+)', line)
        if found and not GLIBC.fullmatch(found[1]):
            libraries[found[1]] = pathlib.Path(found[2]).resolve()
        elif 'not found' in line:
            raise SystemExit(f'{binary}: {line.strip()}')
    return libraries


def hashed(name, file):
    """Returns the name of the copy of a library, such as libz-1a2b3c4d.so.1 for libz.so.1."""
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:8]
    stem, ending = name.split('.so', 1)
    return f'{stem}-{digest}.so{ending}'


class Bundle:
    """The binaries of a wheel: copies that load each other."""

    def __init__(self, folder, host):
        self.host = host
        self.libraries = folder / '_libs'
        self.libraries.mkdir(parents=True)
        self.names, self.sources = {}, []

    def add_libraries(self, libraries):
        for name, file in libraries.items():
            if name not in self.names:
                self.names[name] = hashed(name, file)
                self.copy(file, self.libraries / self.names[name], '$ORIGIN')
                run('patchelf', '--set-soname', self.names[name], self.libraries / self.names[name])

    def add(self, file, target):
        """Copies a binary and the libraries that it needs."""
        self.add_libraries(needed(file, self.host))
        self.copy(file, target, '$ORIGIN/' + os.path.relpath(self.libraries, target.parent))

    def copy(self, file, target, path):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
        run(f'{self.host.prefix}strip', '--strip-unneeded', target)
        target.chmod(0o755)
        run('patchelf', '--set-rpath', path, target)
        self.sources.append((file, target))

    def rename_needed(self):
        """Replaces the names of libraries that each binary needs by the names of their copies."""
        for _, target in self.sources:
            wanted = run('patchelf', '--print-needed', target).split()
            renames = [word for name in wanted if name in self.names for word in ('--replace-needed', name, self.names[name])]
            if renames:
                run('patchelf', *renames, target)

    def glibc(self):
        """Returns the newest version of glibc that a binary of the wheel requires."""
        versions = set()
        for _, target in self.sources:
            versions |= set(re.findall(r'GLIBC_(\d+)\.(\d+)', run('readelf', '--version-info', '--wide', target)))
        return max((int(major), int(minor)) for major, minor in versions)

    def licenses(self):
        """Returns a dictionary from the name of each library's Debian package to the package's copyright file."""
        texts = {}
        for file, _ in self.sources:
            package, folder = self.host.package_of(file)
            if package and (folder / 'copyright').exists():
                texts[package] = (folder / 'copyright').read_text(errors='replace')
        return texts


def version_of(build):
    project = json.loads((build / 'meson-info' / 'intro-projectinfo.json').read_text())
    return project['version']


def add_pictures(bundle, build):
    """Adds the module that draws pictures, with the plug-ins that it loads from a folder beside it."""
    module = build / 'libcleave-render.so'
    host = bundle.host
    plugins = host.libdirs[0] if host.root else pathlib.Path(run('pkg-config', '--variable=libdir', 'libgvc').strip())
    if not module.exists():
        return
    bundle.add(module, bundle.libraries / 'cleave' / module.name)
    for name in PLUGINS:
        plugin = next((plugins / 'graphviz').glob(f'libgvplugin_{name}.so.[0-9]')).resolve()
        bundle.add(plugin, bundle.libraries / 'cleave' / 'graphviz' / f'libgvplugin_{name}.so')


def fill(package, build, version, host, gir):
    """Writes the package into a folder and returns its binaries."""
    shutil.copytree(SOURCE / 'python' / 'cleave', package, ignore=shutil.ignore_patterns('__pycache__', '*.in'))
    bundle = Bundle(package, host)
    library = (build / 'libcleave.so.0').resolve()
    bundle.add_libraries({**needed(library, host), 'libcleave.so.0': library})
    bundle.add(build / 'tools' / 'cleave', package / '_bin' / 'cleave')
    add_pictures(bundle, build)
    bundle.rename_needed()
    bindings.main(gir or build / 'Cleave-0.1.gir', package / '_api.json')
    where = {'TYPELIBS': None, 'LIBRARIES': '_libs/' + bundle.names['libcleave.so.0'],
             'COMMAND': '_bin/cleave', '__version__': version}
    lines = ['# SPDX-License-Identifier: GPL-2.0-or-later', '"""The places of files in this wheel."""', '']
    (package / '_where.py').write_text('\n'.join(lines + [f'{name} = {value!r}' for name, value in where.items()]) + '\n')
    return bundle


def metadata(version):
    head = {'Metadata-Version': '2.1', 'Name': 'cleave', 'Version': version,
            'Summary': 'Splits neural-network graphs to run in less memory, with exactly the same results',
            'License': 'GPL-2.0-or-later', 'Requires-Python': '>=3.8', 'Requires-Dist': 'numpy',
            'Description-Content-Type': 'text/markdown'}
    body = (SOURCE / 'README.md').read_text(encoding='utf-8')
    return ''.join(f'{key}: {value}\n' for key, value in head.items()) + '\n' + body


def describe(folder, version, tag, licenses):
    """Writes the .dist-info folder, without its RECORD."""
    folder.mkdir()
    (folder / 'METADATA').write_text(metadata(version), encoding='utf-8')
    (folder / 'WHEEL').write_text(f'Wheel-Version: 1.0\nGenerator: cleave\nRoot-Is-Purelib: false\nTag: {tag}\n')
    (folder / 'entry_points.txt').write_text('[console_scripts]\ncleave = cleave.__main__:main\n')
    (folder / 'licenses').mkdir()
    shutil.copyfile(SOURCE / 'LICENSE', folder / 'licenses' / 'LICENSE')
    for package, text in licenses.items():
        (folder / 'licenses' / f'{package}.copyright').write_text(text, encoding='utf-8')


def digest_of(data):
    return 'sha256=' + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()


def write_zip(root, info, out):
    """Writes an archive of all files below a folder and their RECORD, in the order of names. All files get one date."""
    date = time.gmtime(max(int(os.environ.get('SOURCE_DATE_EPOCH', 315532800)), 315532800))[:6]
    record = []
    with zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        def add(name, data, mode):
            entry = zipfile.ZipInfo(name, date)
            entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)

        for file in sorted(path for path in root.rglob('*') if path.is_file()):
            name, data = file.relative_to(root).as_posix(), file.read_bytes()
            record.append(f'{name},{digest_of(data)},{len(data)}\n')
            add(name, data, 0o755 if os.access(file, os.X_OK) else 0o644)
        add(f'{info}/RECORD', ''.join(record) + f'{info}/RECORD,,\n', 0o644)


def pack(build, out, root=None, machine=None, gir=None):
    """Packs a wheel and returns its path."""
    host = Host(root, machine)
    version = version_of(build)
    info = f'cleave-{version}.dist-info'
    with tempfile.TemporaryDirectory() as folder:
        files = pathlib.Path(folder)
        bundle = fill(files / 'cleave', build, version, host, gir)
        tag = 'py3-none-manylinux_{}_{}_{}'.format(*bundle.glibc(), host.machine)
        describe(files / info, version, tag, bundle.licenses())
        out.mkdir(parents=True, exist_ok=True)
        wheel = out / f'cleave-{version}-{tag}.whl'
        write_zip(files, info, wheel)
    return wheel


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('build', type=pathlib.Path)
    parser.add_argument('out', type=pathlib.Path)
    parser.add_argument('--root', type=lambda text: pathlib.Path(text).resolve(), help='packages of the other machine')
    parser.add_argument('--machine', help='the other machine, as aarch64')
    parser.add_argument('--gir', type=pathlib.Path, help='introspection data of a build for this machine')
    given = parser.parse_args()
    if (given.root is None) != (given.machine is None):
        parser.error('--root and --machine belong together')
    print(pack(given.build.resolve(), given.out.resolve(), given.root, given.machine, given.gir))
