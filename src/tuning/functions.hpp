// The MPI functions by the names that options and rules use, and the shape that each of them has. A shape's
// name covers all its functions; the name of a v-form (or reduce_scatter_block) covers that function alone.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "ir/collective.hpp"

namespace hocket::tuning {

enum class Form : std::uint8_t { every, equal, unequal };

struct FunctionName {
  std::string_view name;
  ir::Collective collective;
  Form form;
};

inline constexpr std::array<FunctionName, 16> function_names = {{
    {"barrier", ir::Collective::barrier, Form::every},
    {"bcast", ir::Collective::bcast, Form::every},
    {"reduce", ir::Collective::reduce, Form::every},
    {"allreduce", ir::Collective::allreduce, Form::every},
    {"gather", ir::Collective::gather, Form::every},
    {"gatherv", ir::Collective::gather, Form::unequal},
    {"scatter", ir::Collective::scatter, Form::every},
    {"scatterv", ir::Collective::scatter, Form::unequal},
    {"allgather", ir::Collective::allgather, Form::every},
    {"allgatherv", ir::Collective::allgather, Form::unequal},
    {"alltoall", ir::Collective::alltoall, Form::every},
    {"alltoallv", ir::Collective::alltoall, Form::unequal},
    {"reduce_scatter", ir::Collective::reduce_scatter, Form::every},
    {"reduce_scatter_block", ir::Collective::reduce_scatter, Form::equal},
    {"scan", ir::Collective::scan, Form::every},
    {"exscan", ir::Collective::exscan, Form::every},
}};

constexpr std::optional<FunctionName> function_named(std::string_view name) {
  for (const FunctionName& f : function_names)
    if (f.name == name) return f;
  return std::nullopt;
}

}  // namespace hocket::tuning
