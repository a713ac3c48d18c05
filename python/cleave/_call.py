# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls that take long: Ctrl-C ends them, the terminal shows how far they are, other threads run meanwhile."""

import signal
import sys
import threading
import time

from gi.repository import Gio


class Progress:
    """Tells how far a call is: to a function of the caller's, or on a terminal once it takes a second."""

    def __init__(self, what, tell):
        self.what, self.tell, self.begin, self.shown = what, tell, time.monotonic(), False
        if tell is None and not sys.stderr.isatty():
            self.tell = False

    def __call__(self, part):
        if callable(self.tell):
            self.tell(part)
        elif self.tell is not False and time.monotonic() - self.begin > 1:
            self.shown = True
            sys.stderr.write(f'\r\033[K{self.what}: {100 * part:.0f} %')
            sys.stderr.flush()

    def end(self):
        if self.shown:
            sys.stderr.write('\r\033[K')


def call(function, *args, cancellable=None):
    """function (*args), on a thread of its own so that Ctrl-C is heard at once: it cancels, and waits for the end.

    The library lets go of the interpreter by itself: PyGObject does so around each call.
    """
    if threading.current_thread() is not threading.main_thread():
        return function(*args)
    came = []

    def work():
        try:
            came.append((function(*args), None))
        except BaseException as error:  # it is raised where the caller waits
            came.append((None, error))

    thread = threading.Thread(target=work, name='cleave')
    # A Ctrl-C while the thread starts is heard once there is something to cancel.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    thread.start()
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        thread.join()
    except KeyboardInterrupt:
        if cancellable is not None:
            cancellable.cancel()
        thread.join()
        raise
    value, error = came[0]
    if error is not None:
        raise error
    return value


def new_cancellable():
    return Gio.Cancellable()
