/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A module for a test: it registers one pass, and then fails to register a second one. */

#include <cleave/cleave-pass.h>

gboolean
cleave_register_passes (GError **error)
{
  return cleave_pass_register ("half", "Removes dead nodes.", NULL, 0, cleave_pass_remove_dead,
                               error) &&
         cleave_pass_register ("clean-up", "Has the name of another pass.", NULL, 0,
                               cleave_pass_remove_dead, error);
}
