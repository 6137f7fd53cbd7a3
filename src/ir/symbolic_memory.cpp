#include "ir/symbolic_memory.hpp"

#include "ir/text.hpp"

namespace hocket::ir {

namespace {

std::string chunk_name(const Region& r, std::uint32_t n) {
  return to_text(Region{r.owner, r.buffer, n, 1});
}

using By = SymbolicMemory::By;

std::string read_by(By by) {
  return by == By::message ? " while a send of the same round reads it" : " while an aggregation reads it";
}

std::string written_by(By by) {
  return by == By::message ? " while a recv of the same round writes it" : " while an aggregation writes it";
}

}  // namespace

SymbolicMemory::SymbolicMemory(const Program& program, const Expressions& expressions)
    : program_(program), clocks_(program.ranks()) {
  std::size_t cells = 0;
  for (Rank r = 0; r < program.ranks(); ++r) {
    const Schedule& s = program.of(r);
    first_cell_.push_back(cells);
    cells += std::size_t{program.chunks()} * (2 + s.staging.planes + s.scratch_planes);
  }
  cells_.resize(cells);
  for (Rank r = 0; r < program.ranks(); ++r) {
    const Window w = program.input(r);
    for (std::uint32_t c = w.first; c < w.first + w.count; ++c)
      cells_[locate(r, {self, Buffer::input, c, 1}, c).cell].value = expressions.leaf(r, c);
  }
}

Location SymbolicMemory::locate(Rank runs, const Region& region, std::uint32_t n) const {
  const Rank owner = region.owner == self ? runs : region.owner;
  const std::size_t chunks = program_.chunks();
  const std::size_t base = first_cell_[owner];
  switch (region.buffer) {
    case Buffer::input:
      return {owner, base + n + (program_.aliased(owner, n) ? chunks : 0)};
    case Buffer::output:
      return {owner, base + chunks + n};
    case Buffer::staging:
      return {owner, base + 2 * chunks + n};
    case Buffer::scratch:
      break;
  }
  return {owner, base + chunks * (2 + program_.of(owner).staging.planes) + n};
}

void SymbolicMemory::check_readable(Place place, const Region& region, std::uint32_t n, const Cell& c) const {
  if (c.receiving) program_.fail(place, "reads " + chunk_name(region, n) + written_by(c.by));
  if (c.value == undefined) program_.fail(place, "reads " + chunk_name(region, n) + ", which is undefined");
}

void SymbolicMemory::check_writable(Place place, const Region& region, std::uint32_t n, Cell& c) const {
  if (c.receiving) program_.fail(place, "writes " + chunk_name(region, n) + written_by(c.by));
  if (c.sending > 0) program_.fail(place, "writes " + chunk_name(region, n) + read_by(c.by));
  for (std::uint32_t i = c.reads; i != none; i = reads_[i].next)
    if (!clocks_.knows(place.rank, reads_[i].place.rank, reads_[i].time))
      program_.fail(place,
                    "writes " + chunk_name(region, n) + ", a race with " + program_.name_of(reads_[i].place));
  c.reads = none;
}

Value SymbolicMemory::load(Place place, const Region& region, std::uint32_t n) {
  const Cell& c = cell(place, region, n);
  check_readable(place, region, n, c);
  return c.value;
}

void SymbolicMemory::store(Place place, const Region& region, std::uint32_t n, Value value) {
  Cell& c = cell(place, region, n);
  check_writable(place, region, n, c);
  c.value = value;
  c.written = clocks_.tick(place.rank);
}

Value SymbolicMemory::load_remote(Place place, const Region& region, std::uint32_t n) {
  const Location location = locate(place.rank, region, n);
  Cell& c = cells_[location.cell];
  const bool user_memory = region.buffer != Buffer::staging;
  if (user_memory && (c.exposed == 0 || !clocks_.knows(place.rank, location.owner, c.exposed)))
    program_.fail(place, "reads " + chunk_name(region, n) + ", which it does not know to be exposed");
  if (c.value == undefined && !c.receiving)
    program_.fail(place, "reads " + chunk_name(region, n) + ", which is undefined");
  if (!clocks_.knows(place.rank, location.owner, c.written))
    program_.fail(place,
                  "reads " + chunk_name(region, n) + ", a race with its owner's write: no wait orders them");
  reads_.push_back({place, clocks_.tick(place.rank), c.reads});
  c.reads = static_cast<std::uint32_t>(reads_.size() - 1);
  if (user_memory) exposed_reads_.emplace_back(location, c.reads);
  return c.value;
}

void SymbolicMemory::expose(Place place, const Region& region, std::uint32_t n) {
  cell(place, region, n).exposed = clocks_.tick(place.rank);
}

void SymbolicMemory::check_overlap(Place place, const Region& target, const Region& source) const {
  if (target.count == 0 || source.owner != self) return;
  const auto t = locate(place.rank, target, target.first).cell;
  for (std::uint32_t i = 0; i < source.count; ++i) {
    const auto s = locate(place.rank, source, source.first + i).cell;
    if (s >= t && s < t + target.count && s != t + i)
      program_.fail(place, to_text(source) + " overlaps the target without being equal");
  }
}

Value SymbolicMemory::begin_send(Place place, const Region& region, std::uint32_t n, By by) {
  Cell& c = cell(place, region, n);
  check_readable(place, region, n, c);
  ++c.sending;
  c.by = by;
  return c.value;
}

void SymbolicMemory::begin_recv(Place place, const Region& region, std::uint32_t n, By by) {
  Cell& c = cell(place, region, n);
  check_writable(place, region, n, c);
  c.receiving = true;
  c.by = by;
  c.written = being_written;
}

void SymbolicMemory::end_send(Place place, const Region& region, std::uint32_t n) {
  --cell(place, region, n).sending;
}

void SymbolicMemory::end_recv(Place place, const Region& region, std::uint32_t n, Value value) {
  Cell& c = cell(place, region, n);
  c.receiving = false;
  c.value = value;
  c.written = clocks_.tick(place.rank);
}

void SymbolicMemory::check_readers_are_done() const {
  for (const auto& [location, index] : exposed_reads_) {
    const Read& read = reads_[index];
    if (!clocks_.knows(location.owner, read.place.rank, read.time))
      program_.fail(read.place,
                    "rank " + std::to_string(location.owner) +
                        " may have ended, and its memory be gone, before this: it does not wait for it");
  }
}

}  // namespace hocket::ir
