/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-types.h>

G_BEGIN_DECLS

/* Numbers from the text of a command line or a pipeline.  Errors name the option. */

CLEAVE_API gboolean cleave_text_to_int (
    const char *option, const char *text, gint64 min, gint64 max, gint64 *value, GError **error);
CLEAVE_API gboolean cleave_text_to_size (const char *option,
                                         const char *text,
                                         gint64 *bytes,
                                         GError **error);
CLEAVE_API gboolean cleave_text_to_shape (const char *option,
                                          const char *text,
                                          CleaveShape *shape,
                                          GError **error);

G_END_DECLS
