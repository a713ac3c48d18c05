# SPDX-License-Identifier: GPL-2.0-or-later
"""The build backend of `python3 -m build` and `pip install .` (PEP 517): builds with meson, and packs with pack.py.

The backend needs no Python package. CLEAVE_WHEEL_BUILD is the build directory (default: `build-wheel`)."""

import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

import pack

# Options of the build that no wheel needs. The backend disables them.
OPTIONS = ['tests', 'docs', 'mpi', 'images', 'python', 'completions']


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    build = pathlib.Path(os.environ.get('CLEAVE_WHEEL_BUILD', pack.SOURCE / 'build-wheel'))
    environment = {**os.environ, 'PATH': os.environ['PATH'] + ':/usr/bin'}
    # Removes the variables with which pip isolates a build: with them, g-ir-scanner does not find its libraries.
    for name in ('PYTHONPATH', 'PYTHONHOME', 'PYTHONNOUSERSITE'):
        environment.pop(name, None)
    if not (build / 'build.ninja').exists():
        subprocess.run(['meson', 'setup', build, pack.SOURCE, '-Dintrospection=enabled', '-Dtools=enabled',
                        *(f'-D{option}=disabled' for option in OPTIONS)], check=True, env=environment, stdout=sys.stderr)
    subprocess.run(['meson', 'compile', '-C', build], check=True, env=environment, stdout=sys.stderr)
    return pack.pack(build.resolve(), pathlib.Path(wheel_directory)).name


def build_sdist(sdist_directory, config_settings=None):
    """Packs the files that git tracks. Without git, or in an unpacked source archive, packs all files except builds."""
    version = next(line.split("'")[1] for line in (pack.SOURCE / 'meson.build').read_text().splitlines()
                   if line.strip().startswith('version:'))
    name = f'cleave-{version}'
    listed = shutil.which('git') and subprocess.run(['git', '-C', pack.SOURCE, 'ls-files', '-z'], capture_output=True, text=True)
    files = listed.stdout.split('\0')[:-1] if listed and listed.returncode == 0 else sorted(
        name for name in (str(path.relative_to(pack.SOURCE)) for path in pack.SOURCE.rglob('*') if path.is_file())
        if not name.startswith(('build', 'dist', '.git/')))
    target = pathlib.Path(sdist_directory) / f'{name}.tar.gz'
    with tarfile.open(target, 'w:gz', format=tarfile.PAX_FORMAT) as archive:
        for file in files:
            archive.add(pack.SOURCE / file, f'{name}/{file}')
        text = pathlib.Path(sdist_directory) / 'PKG-INFO'
        text.write_text(pack.metadata(version), encoding='utf-8')
        archive.add(text, f'{name}/PKG-INFO')
        text.unlink()
    return target.name
