/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes random nodes of element-wise ops. Macros define a function for each op of elementwise.def.
 * The function calls another function for the kind of the op, such as make_BINARY(), and passes the
 * element types that the op allows. */

#include "../../lib/ops/elementwise-math.h"
#include "random-operands.h"

/* Attributes of the ops of elementwise.def. */

typedef union
{
  CleaveElementwiseAttrs numbers;
  CleaveClipAttrs clip;
  CleaveIsInfAttrs is_inf;
  CleaveShrinkAttrs shrink;
  CleaveModAttrs mod;
  CleaveBitShiftAttrs shift;
} Attrs;

typedef gconstpointer (*MakeAttrs) (GRand *rand, Attrs *attrs);

static gconstpointer
attrs_CleaveNoAttrs (GRand *rand, Attrs *attrs)
{
  return NULL;
}

#define attrs_CleaveFold attrs_CleaveNoAttrs

static gconstpointer
attrs_CleaveElementwiseAttrs (GRand *rand, Attrs *attrs)
{
  attrs->numbers =
      (CleaveElementwiseAttrs){ g_rand_double (rand), g_rand_double (rand), g_rand_double (rand) };
  return g_rand_boolean (rand) ? attrs : NULL;
}

static gconstpointer
attrs_CleaveClipAttrs (GRand *rand, Attrs *attrs)
{
  attrs->clip =
      (CleaveClipAttrs){ g_rand_double_range (rand, -2, 1), g_rand_double_range (rand, 0, 100) };
  return g_rand_boolean (rand) ? attrs : NULL;
}

static gconstpointer
attrs_CleaveIsInfAttrs (GRand *rand, Attrs *attrs)
{
  attrs->is_inf = (CleaveIsInfAttrs){ g_rand_boolean (rand), g_rand_boolean (rand) };
  return attrs;
}

static gconstpointer
attrs_CleaveShrinkAttrs (GRand *rand, Attrs *attrs)
{
  attrs->shrink = (CleaveShrinkAttrs){ g_rand_double_range (rand, -1, 3), g_rand_double (rand) };
  return g_rand_boolean (rand) ? attrs : NULL;
}

static gconstpointer
attrs_CleaveModAttrs (GRand *rand, Attrs *attrs)
{
  attrs->mod = (CleaveModAttrs){ g_rand_boolean (rand) };
  return attrs;
}

static gconstpointer
attrs_CleaveBitShiftAttrs (GRand *rand, Attrs *attrs)
{
  attrs->shift =
      (CleaveBitShiftAttrs){ g_rand_boolean (rand) ? CLEAVE_SHIFT_LEFT : CLEAVE_SHIFT_RIGHT };
  return attrs;
}

static CleaveNode *
make_UNARY (
    CleaveGraph *graph, GRand *rand, const char *op, const CleaveElement *set, MakeAttrs make_attrs)
{
  CleaveShape shape = random_shape (rand, 0);
  Attrs attrs;

  return add_to_input (graph, op, random_element (rand, set), &shape, make_attrs (rand, &attrs));
}

#define make_TEST make_UNARY

/* Adds an op with two operands. One or both operands may be broadcast, or both may be the same
 * value. */
static CleaveNode *
make_BINARY (
    CleaveGraph *graph, GRand *rand, const char *op, const CleaveElement *set, MakeAttrs make_attrs)
{
  CleaveShape shape = random_shape (rand, 0), a = random_part (rand, &shape),
              b = random_part (rand, &shape);
  CleaveElement element = random_element (rand, set);
  CleaveResult *operands[2] = { add_input (graph, element, &a) };
  Attrs attrs;

  operands[1] = g_rand_int_range (rand, 0, 8) == 0 ? operands[0] : add_input (graph, element, &b);
  return add (graph, op, operands, 2, 1, make_attrs (rand, &attrs));
}

#define make_COMPARE make_BINARY

static CleaveNode *
make_SLOPE (
    CleaveGraph *graph, GRand *rand, const char *op, const CleaveElement *set, MakeAttrs make_attrs)
{
  CleaveShape shape = random_shape (rand, 0), slope = random_part (rand, &shape);
  CleaveElement element = random_element (rand, set);
  CleaveResult *operands[] = { add_input (graph, element, &shape),
                               add_input (graph, element, &slope) };

  return add (graph, op, operands, 2, 1, NULL);
}

static CleaveNode *
make_POWER (
    CleaveGraph *graph, GRand *rand, const char *op, const CleaveElement *set, MakeAttrs make_attrs)
{
  CleaveShape shape = random_shape (rand, 0), a = random_part (rand, &shape),
              b = random_part (rand, &shape);
  CleaveResult *x = add_input (graph, random_element (rand, set), &a);
  CleaveResult *y = add_input (graph, random_element (rand, set), &b);

  return add (graph, op, (CleaveResult *[]){ x, y }, 2, 1, NULL);
}

static CleaveNode *
make_REMAINDER (
    CleaveGraph *graph, GRand *rand, const char *op, const CleaveElement *set, MakeAttrs make_attrs)
{
  CleaveShape shape = random_shape (rand, 0), a = random_part (rand, &shape),
              b = random_part (rand, &shape);
  CleaveElement element = random_element (rand, set);
  CleaveModAttrs attrs = { cleave_element_is_float (element) || g_rand_boolean (rand) };
  CleaveResult *x = add_input (graph, element, &a), *y = add_input (graph, element, &b);

  return add (graph, op, (CleaveResult *[]){ x, y }, 2, 1, &attrs);
}

static CleaveNode *
make_FOLD (
    CleaveGraph *graph, GRand *rand, const char *op, const CleaveElement *set, MakeAttrs make_attrs)
{
  CleaveShape shape = random_shape (rand, 0);
  CleaveElement element = random_element (rand, set);
  guint n = (guint) g_rand_int_range (rand, 1, 5);
  CleaveResult *operands[4];

  for (guint k = 0; k < n; k++)
    {
      CleaveShape part = random_part (rand, &shape);

      operands[k] = add_input (graph, element, &part);
    }
  return add (graph, op, operands, n, 1, NULL);
}

/* clang-format off */
#define X(kind, word, name, elements, flag, P, table, formula)                                     \
  static CleaveNode *make_##word (CleaveGraph *graph, GRand *rand)                                 \
  {                                                                                                \
    return make_##kind (graph, rand, name, set_##elements, attrs_##P);                             \
  }
#include "../../lib/ops/elementwise.def"
#undef X
/* clang-format on */

/* The functions below add the element-wise ops that elementwise.def does not list. */

static CleaveNode *
make_where (CleaveGraph *graph, GRand *rand)
{
  CleaveShape shape = random_shape (rand, 0);
  CleaveElement element = random_element (rand, set_ANY);
  CleaveShape c = random_part (rand, &shape), x = random_part (rand, &shape),
              y = random_part (rand, &shape);
  CleaveResult *operands[] = { add_input (graph, CLEAVE_BOOL, &c), add_input (graph, element, &x),
                               add_input (graph, element, &y) };

  return add (graph, "Where", operands, 3, 1, NULL);
}

static CleaveNode *
make_cast (CleaveGraph *graph, GRand *rand)
{
  CleaveShape shape = random_shape (rand, 0);
  CleaveCastAttrs attrs = { random_element (rand, set_ANY) };

  return add_to_input (graph, "Cast", random_element (rand, set_ANY), &shape, &attrs);
}

/* clang-format off */
const CleaveRandomOp cleave_random_ops_elementwise[] = {
#define X(kind, word, name, elements, flag, P, table, formula) { name, make_##word },
#include "../../lib/ops/elementwise.def"
#undef X
  { "Where", make_where },
  { "Cast", make_cast },
  { NULL, NULL },
};
/* clang-format on */
