/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <cleave/cleave-error.h>

/* clang-format off */
G_DEFINE_QUARK (cleave-error-quark, cleave_error)
/* clang-format on */
