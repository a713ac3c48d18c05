# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m cleave` is the command `cleave`."""

import os
import sys

from ._command import find_command


def main():
    command = find_command()
    os.execv(command, [command, *sys.argv[1:]])


if __name__ == '__main__':
    main()
