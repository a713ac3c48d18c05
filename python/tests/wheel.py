#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""wheel.py BUILD-DIR: packs a wheel, installs it into a virtual environment with numpy and pytest, and runs the package's
tests and the pages about Python there. The environment has no PyGObject."""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
MAX_BYTES = 40 << 20
# Packages of this machine that the virtual environment can import: numpy, and pytest with its dependencies.
SEEN = ['numpy', 'pytest', '_pytest', 'py', 'iniconfig', 'pluggy', 'packaging', 'attr', 'attrs']
PAGES = ['docs/python.md', 'docs/tutorial-python.md']


def skip(reason):
    print(f'SKIP wheel: {reason}')
    sys.exit(77)


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, text=True, timeout=280, **options)


def look_at_libraries(package):
    """Checks that each binary of the wheel finds all its libraries in the wheel, except the libraries of glibc."""
    sys.path.insert(0, str(SOURCE / 'python' / 'wheel'))
    import pack
    binaries = [file for folder in ('_libs', '_bin') for file in (package / folder).rglob('*') if file.is_file()]
    assert len(binaries) > 10
    for file in binaries:
        for line in subprocess.run(['ldd', file], capture_output=True, text=True).stdout.splitlines():
            name, found = line.split()[0], re.search('=> (\\S+)', line)
            assert found is None or found[1].startswith(str(package)) or pack.GLIBC.fullmatch(name), f'{file}: {line}'


def make_environment(folder, wheel):
    """Makes a virtual environment with the wheel; returns its Python."""
    import venv
    venv.create(folder / 'venv', with_pip=True)
    python = folder / 'venv' / 'bin' / 'python'
    run(python, '-m', 'pip', 'install', '--quiet', '--no-index', '--no-deps', wheel)
    (folder / 'seen').mkdir()
    for name in SEEN:
        spec = importlib.util.find_spec(name)
        origin = None if spec is None else pathlib.Path(spec.origin)
        if origin is not None:
            shown = origin.parent if origin.name == '__init__.py' else origin
            (folder / 'seen' / shown.name).symlink_to(shown)
    return python


def run_page(page, python, folder, environment):
    """Runs `cleave demo`, and then the blocks of Python of a page in their order."""
    text = (SOURCE / page).read_text()
    work = folder / pathlib.Path(page).stem
    work.mkdir()
    run(python, '-m', 'cleave', 'demo', '--repeat', '1', '--model', 'model.onnx', cwd=work, env=environment, stdout=subprocess.DEVNULL)
    code = '\n'.join(re.findall('^```python\n(.*?)^```', text, re.M | re.S))
    assert 'import cleave' in code
    run(python, '-c', code, cwd=work, env=environment, stdout=subprocess.DEVNULL)


def main(build):
    for need in ('patchelf', 'strip', 'readelf', 'ldd'):
        if shutil.which(need) is None:
            skip(f'no {need}')
    for module in ('ensurepip', 'numpy', 'pytest'):
        if importlib.util.find_spec(module) is None:
            skip(f'no Python module {module}')
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        wheel = pathlib.Path(run(sys.executable, SOURCE / 'python' / 'wheel' / 'pack.py', build, folder, stdout=subprocess.PIPE).stdout.strip())
        size = wheel.stat().st_size
        print(f'{wheel.name}: {size} bytes')
        assert size <= MAX_BYTES
        python = make_environment(folder, wheel)
        command = folder / 'venv' / 'bin' / 'cleave'
        environment = {'PATH': os.environ['PATH'], 'CLEAVE': str(command), 'PYTHONDONTWRITEBYTECODE': '1', 'HOME': name,
                       'PYTHONPATH': os.pathsep.join([str(folder / 'seen'), str(SOURCE / 'tests' / 'help')])}
        look_at_libraries(next((folder / 'venv').glob('lib/python*/site-packages/cleave')))
        assert subprocess.run([python, '-c', 'import gi'], env=environment, capture_output=True).returncode == 1
        version = run(command, '--version', env=environment, stdout=subprocess.PIPE).stdout
        assert run(python, '-m', 'cleave', '--version', env=environment, stdout=subprocess.PIPE).stdout == version
        run(python, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', SOURCE / 'python' / 'tests', cwd=name, env=environment)
        for page in PAGES:
            run_page(page, python, folder, environment)


if __name__ == '__main__':
    main(pathlib.Path(sys.argv[1]).resolve())
