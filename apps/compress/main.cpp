// Compresses files on all ranks and gathers the result: see --help.
#include <climits>
#include <fstream>

#include "compress/gatherer.hpp"
#include "compress/input.hpp"
#include "compress/verification.hpp"
#include "shared/report.hpp"

namespace {

using namespace compress;

struct Choices {
  apps::Words paths;
  int megabytes = 16, block_kilobytes = 64, tile = 0, window = 1, level = 3;
  std::string output;
  apps::Forms forms;
};

void add_options(apps::CommandLine& line, Choices& choices) {
  line.operands("PATH", choices.paths, "files, and folders with all that is in them (/usr/bin)");
  line.number("--megabytes", choices.megabytes, 0, 1 << 20,
              "how much of them at most, in MiB; 0: everything");
  line.number("--block", choices.block_kilobytes, 1, 1 << 20, "KiB that are compressed on their own");
  line.number("--tile", choices.tile, 0, 1 << 20,
              "blocks of each rank gathered at once; 0: all of them in the blocking form, 4 in the other");
  line.number("--window", choices.window, 0, 64,
              "tiles under way while one is computed, in the non-blocking form");
  line.number("--level", choices.level, -50, 22, "of zstd: small is fast");
  line.text("--output", choices.output, "write the result to this file, a valid .zst");
  choices.forms.add_to(line);
}

Partition partition_of(const Choices& choices, std::uint64_t bytes, apps::Form form) {
  constexpr int preset = 4;
  Partition partition = Partition::in_one(bytes, static_cast<std::uint64_t>(choices.block_kilobytes) << 10U,
                                          apps::ranks_of(MPI_COMM_WORLD));
  if (choices.tile || form == apps::Form::nonblocking)
    partition.tile = std::min<std::uint64_t>(partition.tile, choices.tile ? choices.tile : preset);
  const std::uint64_t at_once = partition.tile * partition.ranks * FrameWriter::most_bytes(partition.block);
  if (at_once > INT_MAX)
    throw apps::UsageError("that is more than MPI gathers at once: give a smaller --tile or --block");
  return partition;
}

Bytes read_parts(const Input& input, const Partition& partition) {
  Bytes parts(partition.tiles() * partition.tile_bytes());
  for (int tile = 0; tile < partition.tiles(); ++tile)
    input.read(partition.part(tile, apps::rank_of(MPI_COMM_WORLD)),
               parts.data() + tile * partition.tile_bytes());
  return parts;
}

void write(const Archive& archive, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  if (!file.write(archive.bytes().data(), static_cast<std::streamsize>(archive.bytes().size())))
    throw std::runtime_error("cannot write '" + path + "'");
}

// On rank 0, where the archive is.
bool report(const Choices& choices, const Input& input, const Partition& partition, apps::Form form,
            const apps::Timing& timing, const Archive& archive) {
  const bool right = gives_back(archive, input);
  apps::Report("compress", form, partition.ranks, timing)
      .number("level", choices.level)
      .number("block_bytes", static_cast<double>(partition.block))
      .number("tile", choices.tile)
      .number("blocks_per_tile", static_cast<double>(partition.tile))
      .number("window", form == apps::Form::nonblocking ? choices.window : 0)
      .number("files", static_cast<double>(input.files()))
      .result("bytes", static_cast<double>(input.bytes()))
      .result("compressed", static_cast<double>(archive.bytes().size()))
      .word("checksum", checksum(archive))
      .print(right);
  if (!choices.output.empty()) write(archive, choices.output);
  return right;
}

bool run(const Choices& choices, const Input& input, apps::Form form) {
  const bool overlaps = form == apps::Form::nonblocking;
  const overlap::Overlap overlap{overlaps ? choices.window : 0, overlaps ? choices.forms.tests() : 0};
  const Partition partition = partition_of(choices, input.bytes(), form);
  const Bytes parts = read_parts(input, partition);
  Gatherer gatherer(MPI_COMM_WORLD, partition, {form, choices.level, overlap}, parts);
  const apps::Timing timing =
      apps::timed(MPI_COMM_WORLD, [&](apps::Stopwatch& communication) { gatherer.run(communication); });
  int right = 1;
  if (apps::rank_of(MPI_COMM_WORLD) == 0)
    right = report(choices, input, partition, form, timing, gatherer.archive());
  MPI_Bcast(&right, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return right != 0;
}

bool run_all(Choices& choices) {
  if (choices.paths.empty()) choices.paths = {"/usr/bin"};
  const std::uint64_t most =
      choices.megabytes ? static_cast<std::uint64_t>(choices.megabytes) << 20U : UINT64_MAX;
  const Input input(MPI_COMM_WORLD, choices.paths, most);
  bool right = true;
  for (int i = 0; i < choices.forms.repeat(); ++i)
    for (const apps::Form form : choices.forms.chosen()) right = run(choices, input, form) && right;
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  apps::CommandLine line("compress", "files compressed by all ranks, block by block, and gathered in order");
  Choices choices;
  add_options(line, choices);
  return apps::run_program(argc, argv, line, [&] { return run_all(choices); });
}
