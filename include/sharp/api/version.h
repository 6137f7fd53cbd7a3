/* The version of SHARP's interface that these headers describe, for what is decided when a program is
 * compiled. Above 3.0 there are 8-bit integers and bfloat16; above 3.6 a message may have more than 512 MiB.
 */
#ifndef SHARP_API_VERSION_H
#define SHARP_API_VERSION_H

#define SHARP_MAJOR_BIT 24
#define SHARP_MINOR_BIT 16
#define SHARP_VERSION(major, minor) (((major) << SHARP_MAJOR_BIT) | ((minor) << SHARP_MINOR_BIT))

#define SHARP_API_MAJOR 3
#define SHARP_API_MINOR 7
#define SHARP_API SHARP_VERSION(SHARP_API_MAJOR, SHARP_API_MINOR)

#endif
