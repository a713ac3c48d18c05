# SPDX-License-Identifier: GPL-2.0-or-later
"""The introspected library, and its errors as exceptions."""

import contextlib
import os
import re

try:
    from ._where import TYPELIBS, LIBRARIES, __version__
except ImportError:  # the package is not installed: it is used from the source tree
    TYPELIBS, LIBRARIES, __version__ = None, None, 'uninstalled'

TABLE = os.path.join(os.path.dirname(__file__), '_api.json')

if os.path.exists(TABLE):
    # A wheel contains the library and does not need PyGObject.
    from ._native import open_library
    Cleave, GLib, Gio = open_library(os.path.join(os.path.dirname(__file__), LIBRARIES), TABLE)
else:
    import gi
    if TYPELIBS is not None and os.path.exists(os.path.join(TYPELIBS, 'Cleave-0.1.typelib')):
        # By default, GLib does not find typelibs in a prefix such as /usr/local.
        gi.require_version('GIRepository', '2.0')
        from gi.repository import GIRepository
        GIRepository.Repository.prepend_search_path(TYPELIBS)
        GIRepository.Repository.prepend_library_path(LIBRARIES)
    gi.require_version('Cleave', '0.1')
    from gi.repository import Cleave, Gio, GLib  # noqa: F401


class Error(GLib.Error):
    """An error, with the message of its GError. If `domain` is 'cleave-error-quark', `code` is a value of
    `Cleave.Error`. If not, the error is an error of the system, such as a file that does not exist."""

    def __str__(self):
        return self.message


class ModelError(Error):
    """A model file is broken or needs something that is not supported."""


class NotFoundError(Error, KeyError):
    """The graph has no node of this name."""


class LimitError(Error):
    """A limit, such as a memory budget, cannot be met. `smallest` is the smallest budget that was found, in bytes, or
    None if the limit is not a budget."""

    @property
    def smallest(self):
        """The smallest budget that was found, in bytes, or None."""
        after = re.split('; |\\. |\n', self.message.partition('smallest')[2])[0]
        found = re.findall(r'([\d,]+) bytes', after) or re.findall(r'\d[\d,]*', after)
        return int(found[-1].replace(',', '')) if found else None


DOMAIN = GLib.quark_to_string(Cleave.error_quark())
CLASSES = {int(Cleave.Error.LIMIT): LimitError, int(Cleave.Error.MODEL): ModelError}


@contextlib.contextmanager
def errors(rewrite=str):
    """Converts GErrors raised in the `with` block to Error, or to the subclass for their code. `rewrite` is a function
    that changes the message of the exception."""
    try:
        yield
    except Error:
        raise
    except GLib.Error as error:
        kind = CLASSES.get(error.code, Error) if error.domain == DOMAIN else Error
        kind = NotFoundError if error.message.startswith('the graph has no node ') else kind
        raise kind(rewrite(error.message), error.domain, error.code) from None


def fail(message):
    """Raises an Error for a wrong argument."""
    raise Error(message, DOMAIN, int(Cleave.Error.OPTION))
