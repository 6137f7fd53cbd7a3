// The words that switch something on or off, the same in every variable that does so. Plain C: hocket-exec
// and stage 0 read HOCKET too.
#pragma once

#include <strings.h>

static inline int hocket_means_on(const char* word) {
  return !strcasecmp(word, "1") || !strcasecmp(word, "on") || !strcasecmp(word, "yes") ||
         !strcasecmp(word, "true");
}

static inline int hocket_means_off(const char* word) {
  return !strcasecmp(word, "0") || !strcasecmp(word, "off") || !strcasecmp(word, "no") ||
         !strcasecmp(word, "false");
}
