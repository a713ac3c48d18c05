/* SPDX-License-Identifier: GPL-2.0-or-later */

/* ort-run MODEL N [[INPUT=]EXTENT,...]...: runs a model N times with ONNX Runtime on one thread.
 * Inputs are zeros. An extent that the model leaves open is 1 unless an argument gives the shape of
 * the input. A shape without a name is for all inputs.
 *
 * The package of ONNX Runtime in npm has the library without its header. The functions of ONNX
 * Runtime's C interface are in a table whose order never changes. So this file contains the
 * position of each called function in that table. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  GET_ERROR_MESSAGE = 2,
  CREATE_ENV = 3,
  CREATE_SESSION = 7,
  RUN = 9,
  CREATE_SESSION_OPTIONS = 10,
  SET_OPTIMIZATION_LEVEL = 23,
  SET_INTRA_OP_THREADS = 24,
  SET_INTER_OP_THREADS = 25,
  GET_INPUT_COUNT = 30,
  GET_OUTPUT_COUNT = 31,
  GET_INPUT_TYPE_INFO = 33,
  GET_INPUT_NAME = 36,
  GET_OUTPUT_NAME = 37,
  CREATE_TENSOR = 48,
  GET_TENSOR_DATA = 51,
  CAST_TO_TENSOR_INFO = 55,
  GET_ELEMENT_TYPE = 60,
  GET_N_DIMENSIONS = 61,
  GET_DIMENSIONS = 62,
  GET_DEFAULT_ALLOCATOR = 78,
  RELEASE_VALUE = 96,
};

#define INTERFACE_VERSION 17
#define OPTIMIZE_ALL 99
#define LOG_ERRORS 3
#define MAX_VALUES 64
#define MAX_RANK 8

typedef void *(*Function) ();

typedef struct
{
  const Function *(*get_functions) (uint32_t version);
} Base;

const Base *OrtGetApiBase (void);

static const Function *functions;

static void
check (void *status)
{
  if (status == NULL)
    return;
  fprintf (stderr, "ort-run: %s\n", (const char *) functions[GET_ERROR_MESSAGE](status));
  exit (1);
}

/* Returns the bytes of an element. `type` is ONNX's number of the element type. Returns 0 if the
 * program does not support the type. */
static size_t
element_size (int type)
{
  static const size_t sizes[] = { 0, 4, 1, 1, 2, 2, 4, 8, 0, 1, 2, 8, 4, 8 };

  return type >= 0 && (size_t) type < sizeof sizes / sizeof *sizes ? sizes[type] : 0;
}

/* Sets `extents` to the shape that the arguments give for an input. If the arguments give no shape,
 * `extents` stays unchanged. */
static void
take_shape (const char *name, char **arguments, int64_t *extents, size_t rank)
{
  size_t length = strlen (name);

  for (; *arguments != NULL; arguments++)
    {
      char *at = *arguments;

      if (strchr (at, '=') != NULL && (strncmp (at, name, length) != 0 || at[length] != '='))
        continue;
      at += strchr (at, '=') != NULL ? length + 1 : 0;
      for (size_t d = 0; d < rank; d++)
        {
          extents[d] = strtoll (at, &at, 10);
          at += *at == ',';
        }
    }
}

/* Returns a tensor of zeros for input i of a session. */
static void *
make_input (void *session, void *allocator, size_t i, const char *name, char **arguments)
{
  void *type_info, *info, *value, *data;
  int64_t extents[MAX_RANK];
  size_t rank, n_bytes;
  int type;

  check (functions[GET_INPUT_TYPE_INFO](session, i, &type_info));
  check (functions[CAST_TO_TENSOR_INFO](type_info, &info));
  check (functions[GET_ELEMENT_TYPE](info, &type));
  check (functions[GET_N_DIMENSIONS](info, &rank));
  n_bytes = element_size (type);
  if (rank > MAX_RANK || n_bytes == 0)
    {
      fprintf (stderr, "ort-run: input '%s' has an unsupported type\n", name);
      exit (1);
    }
  check (functions[GET_DIMENSIONS](info, extents, rank));
  take_shape (name, arguments, extents, rank);
  for (size_t d = 0; d < rank; d++)
    {
      extents[d] = extents[d] < 0 ? 1 : extents[d];
      n_bytes *= (size_t) extents[d];
    }
  check (functions[CREATE_TENSOR](allocator, extents, rank, type, &value));
  check (functions[GET_TENSOR_DATA](value, &data));
  memset (data, 0, n_bytes);
  return value;
}

static void *
open_session (const char *model)
{
  void *env, *options, *session;

  check (functions[CREATE_ENV](LOG_ERRORS, "ort-run", &env));
  check (functions[CREATE_SESSION_OPTIONS](&options));
  check (functions[SET_OPTIMIZATION_LEVEL](options, OPTIMIZE_ALL));
  check (functions[SET_INTRA_OP_THREADS](options, 1));
  check (functions[SET_INTER_OP_THREADS](options, 1));
  check (functions[CREATE_SESSION](env, model, options, &session));
  return session;
}

int
main (int argc, char **argv)
{
  void *session, *allocator, *inputs[MAX_VALUES], *outputs[MAX_VALUES];
  char *input_names[MAX_VALUES], *output_names[MAX_VALUES];
  size_t n_inputs, n_outputs;
  int n_runs = argc > 2 ? atoi (argv[2]) : 0;

  if (n_runs <= 0)
    {
      fprintf (stderr, "usage: ort-run MODEL N [[INPUT=]EXTENT,...]...\n");
      return 2;
    }
  functions = OrtGetApiBase ()->get_functions (INTERFACE_VERSION);
  session = open_session (argv[1]);
  check (functions[GET_DEFAULT_ALLOCATOR](&allocator));
  check (functions[GET_INPUT_COUNT](session, &n_inputs));
  check (functions[GET_OUTPUT_COUNT](session, &n_outputs));
  if (n_inputs > MAX_VALUES || n_outputs > MAX_VALUES)
    {
      fprintf (stderr, "ort-run: more than %d inputs or outputs\n", MAX_VALUES);
      return 1;
    }
  for (size_t i = 0; i < n_inputs; i++)
    {
      check (functions[GET_INPUT_NAME](session, i, allocator, &input_names[i]));
      inputs[i] = make_input (session, allocator, i, input_names[i], argv + 3);
    }
  for (size_t i = 0; i < n_outputs; i++)
    check (functions[GET_OUTPUT_NAME](session, i, allocator, &output_names[i]));
  for (int run = 0; run < n_runs; run++)
    {
      memset (outputs, 0, sizeof outputs);
      check (functions[RUN](session, NULL, input_names, inputs, n_inputs, output_names, n_outputs,
                            outputs));
      for (size_t i = 0; i < n_outputs; i++)
        functions[RELEASE_VALUE](outputs[i]);
    }
  return 0;
}
