/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The functions of the commands, such as cleave_cmd_fit() for `cleave fit`. main() in cleave.c
 * chooses a function by the first argument, prints the function's error, and exits with its status.
 * Each function is in a file of its name, such as cmd-fit.c. */

#include <glib.h>

/* Exit statuses. CLEAVE_DONE: success. CLEAVE_NO: a limit is not met, or outputs differ.
 * CLEAVE_WRONG: wrong usage, or an input that cannot be read. */
enum { CLEAVE_DONE = 0, CLEAVE_NO = 1, CLEAVE_WRONG = 2 };

/* Run a command. argv[0] is the name of the command. Return the exit status. Set the error only
 * with the status CLEAVE_WRONG. */
int cleave_cmd_bundle (int argc, char **argv, GError **error);
int cleave_cmd_info (int argc, char **argv, GError **error);
int cleave_cmd_dot (int argc, char **argv, GError **error);
int cleave_cmd_fit (int argc, char **argv, GError **error);
int cleave_cmd_split (int argc, char **argv, GError **error);
int cleave_cmd_compile (int argc, char **argv, GError **error);
int cleave_cmd_run (int argc, char **argv, GError **error);
int cleave_cmd_diff (int argc, char **argv, GError **error);
int cleave_cmd_memory (int argc, char **argv, GError **error);
int cleave_cmd_opt (int argc, char **argv, GError **error);
int cleave_cmd_partition (int argc, char **argv, GError **error);
int cleave_cmd_extract (int argc, char **argv, GError **error);
int cleave_cmd_demo (int argc, char **argv, GError **error);
int cleave_cmd_report (int argc, char **argv, GError **error);
int cleave_cmd_simulate (int argc, char **argv, GError **error);

/* Return the options (GOptionEntry, NULL-terminated) of `cleave split` and `cleave fit`. `cleave
 * report` accepts these options and passes them on. The entries store values in variables that the
 * commands do not use. */
GArray *cleave_cmd_split_list_options (void);
GArray *cleave_cmd_fit_list_options (void);
