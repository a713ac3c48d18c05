/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A plugin of QEMU 7.2 that counts the instructions that a program of one thread executes:
 *
 *   qemu-aarch64 -plugin ./libqemu-count.so -d plugin PROGRAM
 *
 * prints `instructions N` on standard error. Debian has no package with the header of the
 * interface, so the functions of its version 1 are declared here. aarch64-instructions.py compiles
 * this file. */

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#define EXPORT __attribute__ ((visibility ("default")))
#define INTERFACE_VERSION 1
#define ADD_UINT64 0 /* the only operation that QEMU can insert into translated code */

struct block; /* a block of instructions that QEMU translates at once */
typedef void (*Translated) (uint64_t plugin, struct block *block);
typedef void (*Ended) (uint64_t plugin, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb (uint64_t plugin, Translated translated);
void qemu_plugin_register_vcpu_tb_exec_inline (struct block *block,
                                               int operation,
                                               void *counter,
                                               uint64_t summand);
void qemu_plugin_register_atexit_cb (uint64_t plugin, Ended ended, void *data);
size_t qemu_plugin_tb_n_insns (const struct block *block);
void qemu_plugin_outs (const char *text);

EXPORT int qemu_plugin_version = INTERFACE_VERSION;
EXPORT int qemu_plugin_install (uint64_t plugin, const void *info, int argc, char **argv);

static uint64_t n_instructions;

static void
count_block (uint64_t plugin, struct block *block)
{
  qemu_plugin_register_vcpu_tb_exec_inline (block, ADD_UINT64, &n_instructions,
                                            qemu_plugin_tb_n_insns (block));
}

static void
print_count (uint64_t plugin, void *data)
{
  char text[64];

  snprintf (text, sizeof text, "instructions %" PRIu64 "\n", n_instructions);
  qemu_plugin_outs (text);
}

int
qemu_plugin_install (uint64_t plugin, const void *info, int argc, char **argv)
{
  qemu_plugin_register_vcpu_tb_trans_cb (plugin, count_block);
  qemu_plugin_register_atexit_cb (plugin, print_count, NULL);
  return 0;
}
