/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What every suite needs: Check, Cleave, and how its main looks. */

#include <check.h>
#include <cleave/cleave.h>

#include "dump.h"

/* Trials of a random test: a quarter of them where a sanitizer makes each ten times as dear, since
 * what it looks for is in the first as well. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define CLEAVE_TRIALS(n) (((n) + 3) / 4)
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CLEAVE_TRIALS(n) (((n) + 3) / 4)
#endif
#endif
#ifndef CLEAVE_TRIALS
#define CLEAVE_TRIALS(n) (n)
#endif

/* A suite's file ends with CLEAVE_TEST_MAIN ("conv", add_tests), where add_tests (Suite *) adds the
 * test cases. */
int cleave_test_main (const char *name, void (*add_tests) (Suite *suite));

#define CLEAVE_TEST_MAIN(name, add_tests)                                                          \
  int main (void) { return cleave_test_main (name, add_tests); }

/* A test case with these tests: cleave_add_case (suite, "infer", test_a, test_b, NULL). */
void
cleave_add_case (Suite *suite, const char *name, const TTest *test, ...) G_GNUC_NULL_TERMINATED;
