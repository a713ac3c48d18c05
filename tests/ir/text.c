/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The texts of sizes and limits in options, such as "1.5MiB" and "10%". */

#include "test.h"

#include <string.h>

START_TEST (sizes_have_binary_and_decimal_units)
{
  static const struct
  {
    const char *text;
    gint64 n_bytes;
  } sizes[] = {
    { "300000", 300000 },
    { "7B", 7 },
    { "2kB", 2000 },
    { "2KiB", 2048 },
    { "3MB", 3000000 },
    { "3MiB", 3145728 },
    { "3mib", 3145728 },
    { "4GB", G_GINT64_CONSTANT (4000000000) },
    { "4GiB", G_GINT64_CONSTANT (4294967296) },
    { "5TB", G_GINT64_CONSTANT (5000000000000) },
    { "5TiB", G_GINT64_CONSTANT (5497558138880) },
    { "9223372036854775807", G_MAXINT64 },
    { "9223372TB", G_GINT64_CONSTANT (9223372000000000000) },
    { "8388607TiB", G_MAXINT64 >> 40 << 40 },
    { "1.5MB", 1500000 },
    { "1.92 MiB", 2013265 },
    { "0.5KiB", 512 },
    { "0.000001MB", 1 },
    { "1 kB", 1000 },
    { "8388607.999999TiB", G_MAXINT64 - 1099511 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (GError) error = NULL;
      gint64 n_bytes = -1;

      ck_assert_msg (cleave_text_to_size ("size", sizes[i].text, &n_bytes, &error), "%s",
                     sizes[i].text);
      cleave_assert_no_error (error);
      ck_assert_int_eq (n_bytes, sizes[i].n_bytes);
    }
}
END_TEST

START_TEST (invalid_sizes_are_refused)
{
  static const char *const texts[] = { "",          "x",
                                       "-1",        "-1kB",
                                       "kB",        "1KB",
                                       "1kb",       "1mB",
                                       "1  MB",     "1MB ",
                                       "1.MB",      "1MiBB",
                                       ".5MB",      "1.5",
                                       "1.5B",      "1.0000001MB",
                                       "1 ",        "1. MB",
                                       "1.5.5MB",   "1 .5MB",
                                       "9223373TB", "8388608TiB",
                                       "1kBkB",     "1Ki",
                                       "0x10",      "9223372036854775808" };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GError) error = NULL;
      gint64 n_bytes = -1;

      ck_assert_msg (!cleave_text_to_size ("--limit", texts[i], &n_bytes, &error), "%s", texts[i]);
      ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
      ck_assert_ptr_nonnull (strstr (error->message, "--limit expects a size"));
      ck_assert_int_eq (n_bytes, -1);
    }
}
END_TEST

START_TEST (a_size_of_0_is_refused)
{
  static const char *const texts[] = { "0", "0KiB", "0.0", "0.000001kB" };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GError) error = NULL;
      gint64 n_bytes = -1;

      ck_assert_msg (!cleave_text_to_size ("--limit", texts[i], &n_bytes, &error), "%s", texts[i]);
      ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
      ck_assert_int_eq (n_bytes, -1);
    }
}
END_TEST

START_TEST (limits_on_added_cost_are_per_cent_in_text_and_fractions_in_c)
{
  static const struct
  {
    const char *text;
    double fraction; /* 0: the text is not a valid limit */
  } limits[] = {
    { "10", 0.1 },
    { "10%", 0.1 },
    { "12.5", 0.125 },
    { "1e2%", 1 },
    { "0", CLEAVE_NOTHING_ADDED },
    { "0%", CLEAVE_NOTHING_ADDED },
    { "", 0 },
    { "%", 0 },
    { "10%%", 0 },
    { "10 %", 0 },
    { "-1", 0 },
    { "few", 0 },
    { "nan", 0 },
    { "inf", 0 },
    { "1e999", 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    {
      g_autoptr (GError) error = NULL;
      double fraction = 0;
      gboolean is_limit = cleave_text_to_max_added ("--limit", limits[i].text, &fraction, &error);

      ck_assert_double_eq_tol (fraction, limits[i].fraction, 1e-12);
      ck_assert_int_eq (is_limit, limits[i].fraction != 0);
      ck_assert_int_eq (is_limit, error == NULL);
      if (!is_limit)
        {
          g_autofree char *message = g_strdup_printf (
              "--limit expects a percentage of at least 0, not '%s'", limits[i].text);

          cleave_assert_error (&error, CLEAVE_ERROR_OPTION, message);
        }
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "sizes", sizes_have_binary_and_decimal_units, invalid_sizes_are_refused,
                   a_size_of_0_is_refused,
                   limits_on_added_cost_are_per_cent_in_text_and_fractions_in_c, NULL);
}

CLEAVE_TEST_SUITE ("sizes", add_tests)
