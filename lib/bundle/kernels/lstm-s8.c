/* SPDX-License-Identifier: 0BSD */

/* The recurrent layer LSTM of int8 with the gates input, forget, cell and output, by the rules of
 * TensorFlow Lite. The state has three vectors for each sequence of the batch: c as int16, h after
 * the last odd time step, and h after the last even time step. Before time step 0, the second
 * vector is the initial h. */

#include "cleave-kernels.h"

enum { INPUT, FORGET, CELL, OUTPUT };
enum { BY_FORGET, BY_INPUT, BY_HIDDEN };

/* Entry i is 1 / (1 + exp (-i / 24)), in units of 2^-16. */
static const uint16_t lstm_s8_sigmoid[256] = {
  32768, 33451, 34133, 34813, 35493, 36169, 36843, 37513, 38180, 38841, 39498, 40149, 40794, 41432,
  42064, 42688, 43304, 43912, 44511, 45102, 45683, 46255, 46817, 47369, 47911, 48443, 48964, 49475,
  49975, 50464, 50942, 51409, 51865, 52311, 52745, 53169, 53581, 53983, 54374, 54755, 55125, 55485,
  55834, 56174, 56503, 56823, 57133, 57433, 57724, 58007, 58280, 58544, 58800, 59048, 59288, 59519,
  59743, 59959, 60168, 60370, 60565, 60753, 60935, 61110, 61279, 61441, 61599, 61750, 61896, 62036,
  62172, 62302, 62428, 62549, 62666, 62778, 62886, 62990, 63090, 63186, 63279, 63368, 63454, 63536,
  63615, 63691, 63765, 63835, 63903, 63968, 64030, 64090, 64148, 64204, 64257, 64308, 64357, 64405,
  64450, 64494, 64536, 64576, 64614, 64652, 64687, 64721, 64754, 64786, 64816, 64845, 64873, 64900,
  64926, 64950, 64974, 64997, 65019, 65039, 65060, 65079, 65097, 65115, 65132, 65149, 65164, 65179,
  65194, 65208, 65221, 65234, 65246, 65258, 65269, 65280, 65291, 65301, 65310, 65319, 65328, 65337,
  65345, 65352, 65360, 65367, 65374, 65381, 65387, 65393, 65399, 65404, 65410, 65415, 65420, 65425,
  65429, 65433, 65438, 65442, 65445, 65449, 65453, 65456, 65459, 65462, 65465, 65468, 65471, 65474,
  65476, 65479, 65481, 65483, 65485, 65488, 65489, 65491, 65493, 65495, 65497, 65498, 65500, 65501,
  65503, 65504, 65505, 65507, 65508, 65509, 65510, 65511, 65512, 65513, 65514, 65515, 65516, 65517,
  65517, 65518, 65519, 65520, 65520, 65521, 65522, 65522, 65523, 65523, 65524, 65524, 65525, 65525,
  65526, 65526, 65526, 65527, 65527, 65528, 65528, 65528, 65529, 65529, 65529, 65529, 65530, 65530,
  65530, 65530, 65531, 65531, 65531, 65531, 65531, 65532, 65532, 65532, 65532, 65532, 65532, 65533,
  65533, 65533, 65533, 65533, 65533, 65533, 65533, 65534, 65534, 65534, 65534, 65534, 65534, 65534,
  65534, 65534, 65534, 65535,
};

/* Returns x * multiplier / 2^shift, rounded to the nearest integer, ties toward plus infinity. */
static int32_t
lstm_s8_scale (int32_t x, int32_t multiplier, int32_t shift)
{
  const int64_t half = shift == 0 ? 0 : (int64_t) 1 << (shift - 1);

  return (int32_t) (((int64_t) x * multiplier + half) >> shift);
}

/* Interpolates in the table of the logistic function. The upper bits of `at` are the index of an
 * entry, and the lower `bits` bits are the fraction. Returns `above` if `at` is beyond the
 * table. */
static int32_t
lstm_s8_interpolate (int32_t at, int32_t bits, int32_t above)
{
  const int32_t i = at >> bits, part = at - (i << bits);

  if (i >= 255)
    return above;
  return (int32_t) ((uint32_t) lstm_s8_sigmoid[i] << bits) +
         part * (lstm_s8_sigmoid[i + 1] - lstm_s8_sigmoid[i]);
}

static int32_t
lstm_s8_logistic (int32_t x)
{
  const int32_t scaled = 3 * x;
  const int32_t y = lstm_s8_interpolate (scaled < 0 ? -scaled : scaled, 9, 0x7FFF << 10);

  return (scaled >= 0 ? y + (1 << 9) : (1 << 25) - y + (1 << 9) - 1) >> 10;
}

static int32_t
lstm_s8_tanh (int32_t x, int32_t multiplier, int32_t shift)
{
  const int32_t scaled = lstm_s8_scale (x, multiplier, shift);
  const int32_t y = lstm_s8_interpolate (scaled < 0 ? -scaled : scaled, 8, 0xFFFF << 8);

  return (scaled >= 0 ? y - (1 << 23) + (1 << 7) : (1 << 23) - y + (1 << 7) - 1) >> 8;
}

static int32_t
lstm_s8_clamp (int32_t x)
{
  return cleave_clamp (x, INT16_MIN, INT16_MAX);
}

static uint32_t
lstm_s8_add (int32_t bias, const int8_t *w, const int8_t *x, int32_t n)
{
  uint32_t sum = (uint32_t) bias;

  for (; n > 0; n--)
    sum += (uint32_t) (*x++ * *w++);
  return sum;
}

/* Returns the sum of gate `gate` for unit j, before the activation of the gate. */
static int32_t
lstm_s8_gate (const CleaveLstmS8 *p, int32_t gate, int32_t j, const int8_t *x, const int8_t *h)
{
  const int32_t at = gate * p->hidden + j;
  const uint32_t from_x = lstm_s8_add (p->biases[at], p->w + at * p->in, x, p->in);
  const uint32_t from_h = lstm_s8_add (p->r_biases[at], p->r + at * p->hidden, h, p->hidden);

  return lstm_s8_clamp (
      lstm_s8_clamp (cleave_scale (from_x, p->x_multipliers[gate], p->x_shifts[gate])) +
      lstm_s8_clamp (cleave_scale (from_h, p->h_multipliers[gate], p->h_shifts[gate])));
}

/* Returns a * b, scaled by p->multipliers[factor] and p->shifts[factor]. */
static int32_t
lstm_s8_product (const CleaveLstmS8 *p, int32_t factor, int32_t a, int32_t b)
{
  return cleave_scale ((uint32_t) (a * b), p->multipliers[factor], p->shifts[factor]);
}

static void
lstm_s8_step (const CleaveLstmS8 *p, const int8_t *x, const int8_t *h, int16_t *c, int8_t *y)
{
  for (int32_t j = 0; j < p->hidden; j++)
    {
      const int32_t forget = lstm_s8_logistic (lstm_s8_gate (p, FORGET, j, x, h));
      const int32_t input = lstm_s8_logistic (lstm_s8_gate (p, INPUT, j, x, h));
      const int32_t fresh = lstm_s8_tanh (lstm_s8_gate (p, CELL, j, x, h), 3, 0);
      const int32_t kept = lstm_s8_clamp (lstm_s8_product (p, BY_FORGET, forget, c[j]));
      int32_t cell =
          lstm_s8_clamp (kept + lstm_s8_clamp (lstm_s8_product (p, BY_INPUT, input, fresh)));
      int32_t open;

      if (p->cell_clip != 0)
        cell = cleave_clamp (cell, -p->cell_clip, p->cell_clip);
      c[j] = (int16_t) cell;
      open = lstm_s8_logistic (lstm_s8_gate (p, OUTPUT, j, x, h));
      cell = lstm_s8_tanh (cell, p->tanh_multiplier, p->tanh_shift);
      cell = p->h_zero + lstm_s8_product (p, BY_HIDDEN, cell, open);
      y[j] = (int8_t) cleave_clamp (cell, INT8_MIN, INT8_MAX);
    }
}

void
cleave_lstm_row_s8 (const CleaveCall *call)
{
  const CleaveLstmS8 *p = call->params;
  const CleaveRows *x = &call->x[0], *start = &call->x[1];
  const int32_t n = p->hidden;

  for (int32_t column = call->begin; column < call->end; column++)
    {
      unsigned char *state = call->y + (column - call->begin) * 4 * n;
      int16_t *c = (int16_t *) (void *) state;
      int8_t *h = (int8_t *) (state + 2 * n);

      if (call->row == 0 && p->has_start)
        {
          const unsigned char *from =
              (const unsigned char *) cleave_row (start, 0) + (column - start->begin) * 3 * n;

          memcpy (h, from, (size_t) n);
          memcpy (c, from + n, 2 * (size_t) n);
        }
      else if (call->row == 0)
        {
          memcpy (h, p->h + column * n, (size_t) n);
          memcpy (c, p->c + column * n, 2 * (size_t) n);
        }
      lstm_s8_step (p, (const int8_t *) cleave_row (x, call->row) + (column - x->begin) * p->in,
                    h + (call->row & 1) * n, c, h + (~call->row & 1) * n);
    }
}

void
cleave_lstm_end_s8 (const CleaveCall *call)
{
  const CleaveLstmS8 *p = call->params;
  const CleaveRows *x = &call->x[0];
  const int32_t row = p->has_all_steps ? call->row : p->steps - 1, n = p->hidden;
  unsigned char *y = call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    {
      const unsigned char *state =
          (const unsigned char *) cleave_row (x, row) + (column - x->begin) * 4 * n;

      memcpy (y, state + 2 * n + (~row & 1) * n, (size_t) n);
      y += n;
      if (p->has_cell)
        {
          memcpy (y, state, 2 * (size_t) n);
          y += 2 * n;
        }
    }
}
