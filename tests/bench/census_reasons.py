# SPDX-License-Identifier: GPL-2.0-or-later
"""Why cells of the census are below half of the core's limit, or refused."""

import re

# (ops, where, element types, why): regular expressions that match whole; the first line that fits holds.
REASONS = [
]


def reason(case, element):
    """The reason for the cell of a case and an element type; None where there is none."""
    for ops, where, elements, why in REASONS:
        if re.fullmatch(ops, case.op) and re.fullmatch(where, case.where) and re.fullmatch(elements, element):
            return why
    return None
