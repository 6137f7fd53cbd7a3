// MPI datatype -> what a collective needs to know about it, found once per handle.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "interpose/plugin/mpi_abi.hpp"
#include "kernels/kernels.hpp"

namespace hocket::interpose {

struct Type {
  MPI_Datatype handle{};
  std::size_t size = 0;  ///< bytes of data in one element: part of the signature
  std::ptrdiff_t extent = 0;
  std::ptrdiff_t true_lb = 0;
  std::size_t true_extent = 0;
  bool plain = false;  ///< n elements are the n * size consecutive bytes from the buffer's start, in order
  kernels::ElementType element = kernels::ElementType::none;  ///< what predefined operations compute with
};

/// Nothing for MPI_DATATYPE_NULL and for what the MPI itself does not accept. A copy, since another thread
/// may free the type.
std::optional<Type> type_of(MPI_Datatype handle);

/// Are the data of such an element, in the type map's order, its first size bytes, with nothing between
/// elements?
bool is_gapless(MPI_Datatype handle, std::size_t size, std::ptrdiff_t lb, std::ptrdiff_t extent);

/// Grows when MPI frees a datatype: its handle may come to mean another one. Never 0.
extern std::atomic<std::uint32_t> type_epoch;

void open_types();  ///< the table of predefined types, the attribute that tells when a type is freed
void close_types();

}  // namespace hocket::interpose
