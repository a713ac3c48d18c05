# SPDX-License-Identifier: GPL-2.0-or-later
"""Long calls: Ctrl-C cancels them, the terminal shows their progress, and other Python threads keep running."""

import signal
import sys
import threading
import time

from ._library import Gio


class Progress:
    """Reports the progress of a call by calling `tell`. If `tell` is None, prints the progress on a terminal, but only
    after one second. If `tell` is False, reports nothing."""

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
    """Runs function (*args) on a separate thread, so that Ctrl-C cancels the call at once. After Ctrl-C, waits for the
    end of the call. The cancellable becomes the current cancellable of that thread, so Ctrl-C also ends the run of a
    Loop.

    PyGObject releases the interpreter lock during each call of the library.
    """
    if threading.current_thread() is not threading.main_thread():
        return function(*args)
    came, ended = [], threading.Event()
    cancellable = cancellable or Gio.Cancellable()

    def work():
        try:
            cancellable.push_current()
            try:
                came.append((function(*args), None))
            finally:
                cancellable.pop_current()
        except BaseException as error:  # call() raises the error again, on its caller's thread
            came.append((None, error))
        ended.set()

    # Waits for the event, not for the end of the thread. If Ctrl-C interrupts join(), Python 3.11 treats the thread as
    # ended, although the thread still runs.
    thread = threading.Thread(target=work, name='cleave')
    # Blocks Ctrl-C until the thread has started, since cancel() must find a call that runs.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    thread.start()
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        ended.wait()
    except KeyboardInterrupt:
        cancellable.cancel()
        ended.wait()
        raise
    value, error = came[0]
    if error is not None:
        raise error
    return value


def new_cancellable():
    return Gio.Cancellable()
