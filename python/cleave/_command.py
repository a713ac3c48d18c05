# SPDX-License-Identifier: GPL-2.0-or-later
"""The command `cleave`, which does what the library alone does not: reports as pages."""

import os
import shutil
import subprocess
import sys

from ._library import fail

try:
    from ._where import COMMAND
except ImportError:  # from the sources
    COMMAND = None


def find_command():
    """Returns the path of the command: of the wheel, of the installation, or of PATH."""
    path = None if COMMAND is None else os.path.join(os.path.dirname(__file__), COMMAND)
    if path is None or not os.access(path, os.X_OK):
        path = shutil.which('cleave')
    if path is None:
        fail('the command cleave is not installed')
    return path


def run_command(*args):
    """Runs the command and returns what it prints; its message is an Error."""
    ran = subprocess.run([find_command(), *map(os.fspath, args)], capture_output=True, text=True)
    if ran.returncode > 1 or ran.returncode < 0:
        fail(ran.stderr.strip().removeprefix('cleave: ') if sys.version_info >= (3, 9) else ran.stderr.strip())
    return ran.stdout
