#include "sharp/collectives.hpp"

#include <algorithm>
#include <cstring>

#include "sharp/field.hpp"
#include "sharp/refusal.hpp"

namespace hocket::sharp {

namespace {

/// The bytes of a buffer. Null where there are none.
std::byte* bytes_of(const sharp_coll_data_desc& data) {
  if (number_of(data.type) != SHARP_DATA_BUFFER)
    throw Refusal(SHARP_COLL_ENOT_SUPP, "lists of buffers are not supported");
  if (!data.buffer.ptr && data.buffer.length > 0) throw Refusal(SHARP_COLL_EINVAL, "no buffer");
  return data.buffer.length > 0 ? static_cast<std::byte*>(data.buffer.ptr) : nullptr;
}

/// Not asked of gathering: its callers leave it unset.
void check_memory(const sharp_coll_data_desc& data) {
  if (number_of(data.mem_type) == SHARP_MEM_TYPE_CUDA)
    throw Refusal(SHARP_COLL_ENOT_SUPP, "memory of devices is not supported");
}

/// Callers of old know no modes, and leave anything there.
sharp_aggregation_mode mode_of(const Communicator& communicator, const sharp_coll_reduce_spec& spec) {
  switch (number_of(spec.aggr_mode)) {
    case SHARP_AGGREGATION_DATAGRAM:
      return SHARP_AGGREGATION_DATAGRAM;
    case SHARP_AGGREGATION_STREAMING:
      if (communicator.terms().streams != 0) return SHARP_AGGREGATION_STREAMING;
      throw Refusal(SHARP_COLL_ENOT_SUPP, "this tree does not stream, or SHARP_COLL_ENABLE_SAT is 0");
    default:
      return SHARP_AGGREGATION_NONE;
  }
}

RequestPointer reduction(const Communicator& communicator, const sharp_coll_reduce_spec& spec) {
  const std::optional<Reduction> reduction = reduction_of(spec);
  if (!reduction) throw Refusal(SHARP_COLL_ENOT_SUPP, "no such reduction of this type");
  check_memory(spec.sbuf_desc);
  if (spec.sbuf_desc.buffer.length % reduction->element_size() != 0)
    throw Refusal(SHARP_COLL_EINVAL, "a buffer that ends amid an element");
  auto request = std::make_unique<Request>();
  request->reduction = *reduction;
  request->mode = mode_of(communicator, spec);
  return request;
}

/// The root, as every member must name it.
bool is_root(const Communicator& communicator, int root) {
  if (root < 0 || root >= communicator.size()) throw Refusal(SHARP_COLL_EINVAL, "a root that is no member");
  return root == communicator.rank();
}

std::byte* result_of(const sharp_coll_reduce_spec& spec) {
  check_memory(spec.rbuf_desc);
  std::byte* const result = bytes_of(spec.rbuf_desc);
  if (spec.rbuf_desc.buffer.length < spec.sbuf_desc.buffer.length)
    throw Refusal(SHARP_COLL_EINVAL, "a buffer that is too short for the result");
  return result;
}

/// A range of a vector of one block per member.
struct Window {
  std::uint64_t block, begin, end;

  Window(const Communicator& communicator, std::uint64_t block, std::uint64_t bytes, std::uint64_t offset)
      : block(block) {
    const std::uint64_t all = block * static_cast<std::uint64_t>(communicator.size());
    begin = bytes == all ? 0 : offset;  // who means all of it may not have said where it begins
    end = begin + bytes;
    if (begin > all || bytes > all - begin)
      throw Refusal(SHARP_COLL_EINVAL, "a window that is not in the vector");
  }
  /// Calls act(member, begin, end) for the members of whose blocks it has some.
  template <class Act>
  void for_each_block(Act act) const {
    for (std::uint64_t at = begin; at < end;) {
      const std::uint64_t member = at / block, stop = std::min(end, (member + 1) * block);
      act(static_cast<int>(member), at, stop);
      at = stop;
    }
  }
};

}  // namespace

RequestPointer barrier() {
  auto request = std::make_unique<Request>();
  request->mode = SHARP_AGGREGATION_DATAGRAM;
  request->parts = {Part{}};
  return request;
}

RequestPointer allreduce(const Communicator& communicator, const sharp_coll_reduce_spec& spec) {
  RequestPointer request = reduction(communicator, spec);
  if (const std::byte* const source = bytes_of(spec.sbuf_desc))
    request->parts = {{source, result_of(spec), spec.sbuf_desc.buffer.length}};
  return request;
}

RequestPointer reduce(const Communicator& communicator, const sharp_coll_reduce_spec& spec) {
  RequestPointer request = reduction(communicator, spec);
  const bool wants = is_root(communicator, spec.root);
  if (const std::byte* const source = bytes_of(spec.sbuf_desc))
    request->parts = {{source, wants ? result_of(spec) : nullptr, spec.sbuf_desc.buffer.length}};
  return request;
}

RequestPointer broadcast(const Communicator& communicator, const sharp_coll_bcast_spec& spec) {
  check_memory(spec.buf_desc);
  const bool contributes = is_root(communicator, spec.root);
  auto request = std::make_unique<Request>();
  if (std::byte* const data = bytes_of(spec.buf_desc))
    request->parts = {
        {contributes ? data : nullptr, contributes ? nullptr : data, spec.buf_desc.buffer.length}};
  return request;
}

RequestPointer reduce_scatter(const Communicator& communicator, const sharp_coll_reduce_spec& spec) {
  RequestPointer request = reduction(communicator, spec);
  check_memory(spec.rbuf_desc);
  const std::byte* const source = bytes_of(spec.sbuf_desc);
  std::byte* const target = bytes_of(spec.rbuf_desc);
  const std::uint64_t element = request->reduction.element_size();
  const Window window(communicator, spec.rbuf_desc.buffer.length, spec.sbuf_desc.buffer.length, spec.offset);
  if (window.begin % element != 0 || window.block % element != 0)
    throw Refusal(SHARP_COLL_EINVAL, "a block that ends amid an element");
  window.for_each_block([&](int member, std::uint64_t begin, std::uint64_t end) {
    std::byte* const wanted = member == communicator.rank()
                                  ? target + (begin - window.block * static_cast<std::uint64_t>(member))
                                  : nullptr;
    request->parts.push_back({source + (begin - window.begin), wanted, end - begin});
  });
  return request;
}

RequestPointer allgather(const Communicator& communicator, const sharp_coll_gather_spec& spec) {
  auto request = std::make_unique<Request>();
  const std::byte* const source = bytes_of(spec.sbuf_desc);
  std::byte* const target = bytes_of(spec.rbuf_desc);
  const Window window(communicator, spec.sbuf_desc.buffer.length, spec.rbuf_desc.buffer.length, spec.offset);
  window.for_each_block([&](int member, std::uint64_t begin, std::uint64_t end) {
    std::byte* const place = target + (begin - window.begin);
    Part part{nullptr, place, end - begin};
    if (member == communicator.rank()) {
      part = {source + (begin - window.block * static_cast<std::uint64_t>(member)), nullptr, end - begin};
      std::memmove(place, part.source, part.bytes);  // in place: onto itself
    }
    request->parts.push_back(part);
  });
  return request;
}

}  // namespace hocket::sharp
