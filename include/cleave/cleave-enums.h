/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Registers each public enumeration as a GType, so that bindings of other languages, such as the
 * Python package, see names instead of numbers. The functions are generated from the headers
 * (lib/ir/enums.c.in). Programs in C do not need these functions. */

#include <cleave/cleave-types.h>

G_BEGIN_DECLS

CLEAVE_API GType cleave_activation_get_gtype (void);
CLEAVE_API GType cleave_bundle_where_get_gtype (void);
CLEAVE_API GType cleave_bundle_kernels_get_gtype (void);
CLEAVE_API GType cleave_bundle_io_type_get_gtype (void);
CLEAVE_API GType cleave_depth_mode_get_gtype (void);
CLEAVE_API GType cleave_direction_get_gtype (void);
CLEAVE_API GType cleave_element_get_gtype (void);
CLEAVE_API GType cleave_error_get_gtype (void);
CLEAVE_API GType cleave_grid_mode_get_gtype (void);
CLEAVE_API GType cleave_grid_padding_get_gtype (void);
CLEAVE_API GType cleave_halo_get_gtype (void);
CLEAVE_API GType cleave_layout_get_gtype (void);
CLEAVE_API GType cleave_limit_kind_get_gtype (void);
CLEAVE_API GType cleave_not_split_get_gtype (void);
CLEAVE_API GType cleave_pad_mode_get_gtype (void);
CLEAVE_API GType cleave_pipeline_event_get_gtype (void);
CLEAVE_API GType cleave_resize_coordinates_get_gtype (void);
CLEAVE_API GType cleave_resize_mode_get_gtype (void);
CLEAVE_API GType cleave_resize_nearest_get_gtype (void);
CLEAVE_API GType cleave_roi_coordinates_get_gtype (void);
CLEAVE_API GType cleave_roi_mode_get_gtype (void);
CLEAVE_API GType cleave_scatter_reduction_get_gtype (void);
CLEAVE_API GType cleave_shift_direction_get_gtype (void);
CLEAVE_API GType cleave_tfidf_mode_get_gtype (void);

G_END_DECLS
