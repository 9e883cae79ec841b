/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_PICTURE_H
#define PLI_PICTURE_H

// A small software renderer for reports and tests: the same bytes on every machine, no window, no graphics driver.

#include <pliant/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PliColour {
    unsigned char r, g, b;
} PliColour;

/// Row 0 is the top. `near` is 1/distance along the view, so larger is closer and 0 is the background.
typedef struct PliPicture {
    int width, height;
    PliColour *pixel;
    double *near;
} PliPicture;

enum { PLI_PICTURE_MAX = 8192 };                                       ///< pixels along one side
PliPicture *pli_picture_create(int width, int height);                 ///< black; NULL: no memory or a silly size
void pli_picture_destroy(PliPicture *p);                               ///< NULL is fine
void pli_picture_fill(PliPicture *p, PliColour top, PliColour bottom); ///< background; forgets depth
/// Half the size, each pixel the mean of four (in linear light, so that thin lines keep their weight). NULL: no memory.
PliPicture *pli_picture_halved(const PliPicture *p);
void pli_picture_paste(PliPicture *p, const PliPicture *part, int x, int y);                ///< clipped
void pli_picture_box(PliPicture *p, int x, int y, int width, int height, PliColour colour); ///< filled, clipped

// ---- view ------------------------------------------------------------------------------------------------------------

typedef struct PliCamera {
    double eye[3], right[3], up[3], forward[3]; ///< orthonormal axes
    double light[3]; ///< unit, towards the light; pli_camera_fit puts it over the viewer's left shoulder
    double focal;    ///< pixels
    double middle[2];
} PliCamera;
/// Sees the whole box from `from` (direction from the box to the eye; any length), `up` upwards.
PliCamera pli_camera_fit(const double min[3], const double max[3], const double from[3], const double up[3], int width,
                         int height);
/// Pixel coordinates and 1/depth. @return false when the point is not in front of the eye.
bool pli_camera_project(const PliCamera *c, const double p[3], double out[3]);

// ---- drawing ----------------------------------------------------------------------------------------------------------

/// A triangle surface. Light falls on both sides. Lambert shading never goes above the colour itself, so that a surface
/// that faces the light has exactly the colour of the legend.
typedef struct PliPaint {
    const double *x; ///< shape [point_count, 3]
    PliIndex point_count;
    const PliIndex *tris; ///< shape [tri_count, 3]
    PliIndex tri_count;
    const PliColour *colours; ///< per point, or NULL: `colour`
    PliColour colour;
    bool smooth; ///< normals averaged to the points, else one per triangle
    bool blocks; ///< a pixel takes the colour of the nearest corner instead of a mix: for categories
    bool unlit;
    double opacity; ///< 0 or 1: solid; between: lets the rest shine through, hides nothing, and shows only its front
    double wire;    ///< pixels, width of the edges drawn over the surface; 0: none
    PliColour wire_colour;
} PliPaint;
PliStatus pli_picture_draw(PliPicture *p, const PliCamera *c, const PliPaint *paint);
PliStatus pli_picture_sphere(PliPicture *p, const PliCamera *c, const double centre[3], double radius, PliColour colour,
                             double opacity);

enum { PLI_GLYPH_WIDTH = 6, PLI_GLYPH_HEIGHT = 9 }; ///< pixels at scale 1, gaps included
/// Upper left corner at x, y. Printable ASCII; anything else shows as a box.
void pli_picture_text(PliPicture *p, int x, int y, int scale, PliColour colour, const char *text);
int pli_text_width(const char *text, int scale);

// ---- colours ----------------------------------------------------------------------------------------------------------

/// Dark blue to light yellow, lightness rising evenly: safe for every colour vision and in print. t is clamped to 0 .. 1.
PliColour pli_map_value(double t);
/// One colour per level of resolution or per series; the first five also differ in lightness. Repeats after 8.
PliColour pli_map_level(int level);
/// Line colours on white for up to 8 series, apart for every colour vision.
PliColour pli_map_series(int series);
double pli_colour_lightness(PliColour c);       ///< CIE L*, 0 .. 100
void pli_colour_hex(PliColour c, char text[8]); ///< "#rrggbb"

/// Squares with their labels, upper left corner at x, y.
void pli_picture_legend_levels(PliPicture *p, int x, int y, int scale, int level_count, const char *title);
/// A bar of pli_map_value with its ends written below.

// ---- files -------------------------------------------------------------------------------------------------------------

/// PNG in memory, to be given to free(). NULL: no memory.
unsigned char *pli_picture_png(const PliPicture *p, size_t *bytes);
PliStatus pli_picture_write(const PliPicture *p, const char *path, PliError *err);

#ifdef __cplusplus
}
#endif
#endif
