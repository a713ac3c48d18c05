# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the command `cleave`, for `Graph.report`: only the command can write a report as a page."""

import os
import shutil
import subprocess

from ._library import DOMAIN, Cleave, LimitError, fail

try:
    from ._where import COMMAND
except ImportError:  # the package is not installed: it runs from the source tree
    COMMAND = None


def find_command():
    """Returns the path of the command `cleave`: in the wheel, else in the installation, else in PATH."""
    path = None if COMMAND is None else os.path.join(os.path.dirname(__file__), COMMAND)
    if path is None or not os.access(path, os.X_OK):
        path = shutil.which('cleave')
    if path is None:
        fail('the command cleave is not installed')
    return path


def run_command(*args):
    """Runs the command and returns its standard output. If the command fails, raises an Error with the command's
    message, or a LimitError if a limit cannot be met."""
    ran = subprocess.run([find_command(), *map(os.fspath, args)], capture_output=True, text=True)
    message = ran.stderr.strip()
    message = message[len('cleave: '):] if message.startswith('cleave: ') else message
    if ran.returncode == 1:
        raise LimitError(message, DOMAIN, int(Cleave.Error.LIMIT))
    if ran.returncode != 0:
        fail(message)
    return ran.stdout
