// Tells which memory is not any more what it was: unmapped, moved, or with other pages below it.
#pragma once

#include <span>

#include "registration/pages.hpp"

namespace hocket::registration {

class Watch {
 public:
  virtual ~Watch() = default;

  /// From now on, changes of it are told. False: not of such memory, or part of it is not there.
  virtual bool begin(const Pages& pages) noexcept = 0;
  /// They need not be told any more.
  virtual void end(const Pages& pages) noexcept = 0;

  /// What has changed since the last call. All changes that are visible to the caller by now, whichever
  /// thread makes them, are there, were there before, or are waited for.
  virtual std::span<const Pages> changes() noexcept = 0;
};

}  // namespace hocket::registration
