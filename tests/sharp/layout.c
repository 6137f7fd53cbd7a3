/* The layouts as a C compiler sees them: nothing to run. */
#include "layout.h"
