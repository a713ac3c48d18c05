/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Bundles that keep values from run to run. The test program of a bundle with states runs the
 * bundle four times. */

#include "networks.h"
#include "test.h"

#include <string.h>

#include "../../lib/bundle/bundle.h"

static CleaveGraph *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph = cleave_graph_parse (text, NULL, &error);

  cleave_assert_no_error (error);
  return graph;
}

static CleaveBundle *
make (const CleaveGraph *graph, const char *const *options)
{
  g_autoptr (GError) error = NULL;
  CleaveBundle *bundle = cleave_bundle_new_from_texts (graph, options, &error);

  cleave_assert_no_error (error);
  return bundle;
}

/* A recurrent cell, h_next = tanh (W x + U h), and a queue of the last four inputs. */
static const char cell[] = "graph cell\n"
                           "%x = Input : float32 1x8  # x\n"
                           "%h = Input : float32 1x8  # h\n"
                           "%line = Input : float32 4x8  # line\n"
                           "%w = Constant seed=1 : float32 8x8  # w\n"
                           "%u = Constant seed=2 : float32 8x8  # u\n"
                           "%a = MatMul %x, %w  # a\n"
                           "%b = MatMul %h, %u  # b\n"
                           "%c = Add %a, %b  # c\n"
                           "%d = Tanh %c  # d\n"
                           "%tail = Slice %line 1:4,0:8  # tail\n"
                           "%new = Concat %tail, %x axis=0  # new\n"
                           "%y = Relu %new  # y\n"
                           "output %d  # h_next\n"
                           "output %y  # y\n"
                           "output %new  # lines\n";

START_TEST (states_survive_runs)
{
  static const char *const options[][4] = {
    { "state=all", "state=line=lines" },
    { "state=h", "state=line=lines", "input=apart" },
    { "state=h=h_next", "state=line=lines", "input=rows", "single-file" },
    { "state=all", "state=line=lines", "memory=a=64", "memory=b=4KiB" },
  };
  g_autoptr (CleaveGraph) graph = parse (cell);

  for (guint i = 0; i < G_N_ELEMENTS (options); i++)
    {
      const char *texts[5] = { NULL };
      g_autoptr (CleaveBundle) bundle = NULL;

      memcpy (texts, options[i], sizeof options[i]);
      bundle = make (graph, texts);
      ck_assert_int_eq (bundle->stats.state_bytes, 32 + 128);
      ck_assert_int_eq (network_check (bundle, "-O1 -fsanitize=undefined -fno-sanitize-recover"),
                        0);
    }
}
END_TEST

START_TEST (a_quantized_state_begins_with_its_zero_point)
{
  static const char *const options[] = { "state=all", NULL };
  g_autoptr (CleaveGraph) graph = parse (
      "graph q\n"
      "%x = Input : int8 1x1x1x4  # x\n"
      "%s = Input : int8 1x3x1x4  # s\n"
      "%zero = Constant value=-5 : int8 scalar  # zero\n"
      "%w = Constant seed=1 : int8 2x4x1x1  # w\n"
      "%m = Constant value=1518500250 : int32 2  # m\n"
      "%shift = Constant value=-6 : int32 2  # shift\n"
      "%b = Constant value=10 : int32 2  # b\n"
      "%tail = Slice %s 0:1,1:3,0:1,0:4  # tail\n"
      "%next = Concat %tail, %x axis=1  # next\n"
      "%y = TfliteConv %next, %zero, %w, %m, %shift, %zero, %b layout=NHWC min=-128 max=127\n"
      "output %y  # y\n"
      "output %next  # s_next\n");
  g_autoptr (CleaveBundle) bundle = make (graph, options);

  ck_assert_int_eq (g_array_index (bundle->model->states, CleaveBundleKept, 0).start, -5);
  ck_assert_int_eq (network_check (bundle, "-O1"), 0);
}
END_TEST

START_TEST (wrong_states_are_refused_by_name)
{
  static const struct
  {
    const char *options[3], *message;
  } cases[] = {
    { { "state=z" }, "the graph has no input named 'z'" },
    { { "state=x" }, "the graph has no output named 'x_next', the value of state 'x'" },
    { { "state=x=y" }, "state 'x' and output 'y', its next value, must have one type" },
    { { "state=h", "state=x=h_next" }, "is part of another state" },
  };
  g_autoptr (CleaveGraph) graph = parse (cell);
  g_autoptr (CleaveGraph) swap = parse ("%a = Input : float32 4  # a\n%b = Input : float32 4  # b\n"
                                        "%y = Add %a, %b  # y\noutput %y  # y\n"
                                        "output %b  # a_next\noutput %a  # b_next\n");
  static const char *const all[] = { "state=all", NULL };
  g_autoptr (GError) swapped = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveBundle) bundle =
          cleave_bundle_new_from_texts (graph, cases[i].options, &error);

      ck_assert_ptr_null (bundle);
      ck_assert_msg (strstr (error->message, cases[i].message) != NULL, "%u: %s", i,
                     error->message);
    }
  ck_assert_ptr_null (cleave_bundle_new_from_texts (swap, all, &swapped));
  ck_assert_msg (strstr (swapped->message, "output 'a_next': a state must be computed") != NULL,
                 "%s", swapped->message);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "states", states_survive_runs,
                   a_quantized_state_begins_with_its_zero_point, wrong_states_are_refused_by_name,
                   NULL);
}

CLEAVE_TEST_SUITE ("states", add_tests)
