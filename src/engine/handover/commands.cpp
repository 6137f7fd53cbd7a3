#include "engine/handover/commands.hpp"

#include <cstring>
#include <type_traits>

#include "base/error.hpp"
#include "kernels/kernels.hpp"

namespace hocket::engine::handover {
namespace {

class Writer {
 public:
  explicit Writer(CommandKind kind) : kind_(kind) { put(CommandHead{kind, 0}); }

  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    append(&value, sizeof value);
  }
  template <class T>
  void put_all(const std::vector<T>& values) {
    put(static_cast<std::uint64_t>(values.size()));
    append(values.data(), values.size() * sizeof(T));
  }
  void put_text(const std::string& text) {
    put(static_cast<std::uint64_t>(text.size()));
    append(text.data(), text.size());
  }

  Bytes finished() {
    const std::size_t body = bytes_.size() - sizeof(CommandHead);
    if (body > longest_command) throw Error("a call is too long to be handed over");
    CommandHead head{kind_, 0};
    head.bytes = static_cast<std::uint32_t>(body) & longest_command;
    std::memcpy(bytes_.data(), &head, sizeof head);
    return std::move(bytes_);
  }

 private:
  void append(const void* data, std::size_t bytes) {
    const auto* const first = static_cast<const std::byte*>(data);
    if (bytes != 0) bytes_.insert(bytes_.end(), first, first + bytes);
  }

  const CommandKind kind_;
  Bytes bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> body) : rest_(body) {}

  template <class T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  template <class T>
  std::vector<T> get_all() {
    const std::uint64_t count = get<std::uint64_t>();
    if (count > rest_.size() / sizeof(T)) throw malformed();
    std::vector<T> values(count);
    if (count != 0) std::memcpy(values.data(), take(count * sizeof(T)).data(), count * sizeof(T));
    return values;
  }
  std::string get_text() {
    const auto letters = get_all<char>();
    return {letters.begin(), letters.end()};
  }
  bool get_flag() { return get<std::uint8_t>() != 0; }
  void end() const {
    if (!rest_.empty()) throw malformed();
  }

  static Error malformed() { return Error("a command that cannot be read"); }

 private:
  std::span<const std::byte> take(std::size_t bytes) {
    if (bytes > rest_.size()) throw malformed();
    const auto taken = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return taken;
  }

  std::span<const std::byte> rest_;
};

template <class Command>
Bytes encode_plain(CommandKind kind, const Command& command) {
  Writer writer(kind);
  writer.put(command);
  return writer.finished();
}

template <class Command>
Command decode_plain(std::span<const std::byte> body) {
  Reader reader(body);
  const auto command = reader.get<Command>();
  reader.end();
  return command;
}

void put_table(Writer& writer, const Define::Table& table) {
  writer.put_all(table.sizes);
  writer.put_all(table.offsets);
}

Define::Table get_table(Reader& reader) {
  Define::Table table;
  table.sizes = reader.get_all<std::size_t>();
  table.offsets = reader.get_all<std::ptrdiff_t>();
  return table;
}

/// What of an operation is the same on both sides. Without gaps: equal calls are equal bytes.
struct Plain {
  std::uint64_t input, output, agreed_bytes, own_bytes, input_block, output_block, element_bytes;
  Rank root;
  ir::Collective collective;
  std::uint8_t in_place, commutative, none = 0;
};
static_assert(sizeof(Plain) == 64);

Plain plain_of(const executors::Operation& op) {
  return {.input = reinterpret_cast<std::uintptr_t>(op.input),
          .output = reinterpret_cast<std::uintptr_t>(op.output),
          .agreed_bytes = op.agreed_bytes,
          .own_bytes = op.own_bytes,
          .input_block = op.input_blocks.size,
          .output_block = op.output_blocks.size,
          .element_bytes = op.reduction.element_bytes,
          .root = op.root,
          .collective = op.collective,
          .in_place = op.in_place ? std::uint8_t{1} : std::uint8_t{0},
          .commutative = op.reduction.commutative ? std::uint8_t{1} : std::uint8_t{0}};
}

executors::Operation operation_of(const Plain& plain) {
  if (static_cast<std::size_t>(plain.collective) >= ir::collective_count || plain.element_bytes == 0)
    throw Reader::malformed();
  executors::Operation op;
  op.collective = plain.collective;
  op.root = plain.root;
  op.input = reinterpret_cast<const void*>(plain.input);  // NOLINT(performance-no-int-to-ptr): not ours
  op.output = reinterpret_cast<void*>(plain.output);      // NOLINT(performance-no-int-to-ptr)
  op.in_place = plain.in_place != 0;
  op.agreed_bytes = plain.agreed_bytes;
  op.own_bytes = plain.own_bytes;
  op.input_blocks.size = plain.input_block;
  op.output_blocks.size = plain.output_block;
  op.reduction.element_bytes = plain.element_bytes;
  op.reduction.commutative = plain.commutative != 0;
  return op;
}

Define::Table table_of(const executors::Blocks& blocks, Rank ranks) {
  Define::Table table;
  const auto count = static_cast<std::size_t>(ranks);
  if (blocks.sizes) table.sizes.assign(blocks.sizes, blocks.sizes + count);
  if (blocks.offsets) table.offsets.assign(blocks.offsets, blocks.offsets + count);
  return table;
}

void lay(const Define::Table& table, executors::Blocks& blocks) {
  if (!table.sizes.empty()) blocks.sizes = table.sizes.data();
  if (!table.offsets.empty()) blocks.offsets = table.offsets.data();
}

/// Which one a kernel is: kernels lie elsewhere in another process.
bool name_kernel(executors::Reduction::Kernel kernel, Define& define) {
  if (!kernel) return false;
  for (std::size_t op = 0; op < kernels::op_kind_count; ++op)
    for (std::size_t type = 0; type < kernels::element_type_count; ++type)
      if (kernels::find(static_cast<kernels::OpKind>(op), static_cast<kernels::ElementType>(type)) ==
          kernel) {
        define.kernel_operation = static_cast<std::uint8_t>(op);
        define.kernel_type = static_cast<std::uint8_t>(type);
        return true;
      }
  return false;
}

/// One whose elements are as long as the operation says.
executors::Reduction::Kernel kernel_of(const Define& define) {
  const auto operation = static_cast<kernels::OpKind>(define.kernel_operation);
  const auto type = static_cast<kernels::ElementType>(define.kernel_type);
  const bool known = operation < kernels::OpKind::none && type < kernels::ElementType::none &&
                     kernels::element_size(type) == define.operation.reduction.element_bytes;
  const auto kernel = known ? kernels::find(operation, type) : nullptr;
  if (!kernel) throw Reader::malformed();
  return kernel;
}

}  // namespace

Bytes encode(const Connect& command) {
  Writer writer(CommandKind::connect);
  writer.put(static_cast<std::uint64_t>(command.addresses.size()));
  for (const Bytes& address : command.addresses) writer.put_all(address);
  writer.put_all(command.process_of);
  writer.put_all(command.hosts);
  return writer.finished();
}

template <>
Connect decode<Connect>(std::span<const std::byte> body) {
  Reader reader(body);
  Connect command;
  const auto processes = reader.get<std::uint64_t>();
  if (processes > body.size()) throw Reader::malformed();
  for (std::uint64_t i = 0; i < processes; ++i) command.addresses.push_back(reader.get_all<std::byte>());
  command.process_of = reader.get_all<std::uint32_t>();
  command.hosts = reader.get_all<InternetAddresses>();
  reader.end();
  if (!command.hosts.empty() && command.hosts.size() != processes) throw Reader::malformed();
  for (const std::uint32_t process : command.process_of)
    if (process >= processes) throw Reader::malformed();
  return command;
}

Bytes encode(const Open& command) {
  Writer writer(CommandKind::open);
  writer.put(command.number);
  writer.put(command.rank);
  writer.put(command.id);
  writer.put_all(command.members);
  writer.put(command.rows);
  writer.put_all(command.groups);
  writer.put_all(command.sockets);
  return writer.finished();
}

template <>
Open decode<Open>(std::span<const std::byte> body) {
  Reader reader(body);
  Open command;
  command.number = reader.get<std::uint32_t>();
  command.rank = reader.get<Rank>();
  command.id = reader.get<transports::mpi::CommunicatorId>();
  command.members = reader.get_all<Rank>();
  command.rows = reader.get<std::uint32_t>();
  command.groups = reader.get_all<std::uint32_t>();
  command.sockets = reader.get_all<std::uint32_t>();
  reader.end();
  const std::size_t members = command.members.size();
  const bool has_sockets = !command.sockets.empty();
  if (command.rank < 0 || static_cast<std::size_t>(command.rank) >= members ||
      command.groups.size() != command.rows * members ||
      (has_sockets && (command.sockets.size() != members || command.rows == 0)))
    throw Reader::malformed();
  return command;
}

Bytes encode(const Define& command) {
  Writer writer(CommandKind::define);
  writer.put(command.number);
  writer.put(command.communicator);
  writer.put_text(command.recipe);
  writer.put(command.words.call);
  writer.put(command.words.bytes);
  writer.put(command.words.root);
  writer.put(plain_of(command.operation));
  writer.put(static_cast<std::uint8_t>(command.copies_input));
  writer.put(command.kernel_operation);
  writer.put(command.kernel_type);
  put_table(writer, command.input_table);
  put_table(writer, command.output_table);
  return writer.finished();
}

template <>
Define decode<Define>(std::span<const std::byte> body) {
  Reader reader(body);
  Define command;
  command.number = reader.get<std::uint32_t>();
  command.communicator = reader.get<std::uint32_t>();
  command.recipe = reader.get_text();
  command.words.call = reader.get<std::uint64_t>();
  command.words.bytes = reader.get<std::uint64_t>();
  command.words.root = reader.get<Rank>();
  command.operation = operation_of(reader.get<Plain>());
  command.copies_input = reader.get_flag();
  command.kernel_operation = reader.get<std::uint8_t>();
  command.kernel_type = reader.get<std::uint8_t>();
  command.input_table = get_table(reader);
  command.output_table = get_table(reader);
  reader.end();
  return command;
}

Bytes encode(const Start& command) {
  return encode_plain(CommandKind::start, command);
}
Bytes encode(const StartElsewhere& command) {
  Writer writer(CommandKind::start_elsewhere);
  writer.put(command.start);
  writer.put(command.word);
  return writer.finished();
}
Bytes encode(const Abandon& command) {
  return encode_plain(CommandKind::abandon, command);
}
Bytes encode(const Forget& command) {
  return encode_plain(CommandKind::forget, command);
}
Bytes encode(const Close& command) {
  return encode_plain(CommandKind::close, command);
}
Bytes encode(const Share& command) {
  return encode_plain(CommandKind::share, command);
}
Bytes encode(const Leave& command) {
  return encode_plain(CommandKind::leave, command);
}

template <>
Start decode<Start>(std::span<const std::byte> body) {
  return decode_plain<Start>(body);
}
template <>
StartElsewhere decode<StartElsewhere>(std::span<const std::byte> body) {
  Reader reader(body);
  StartElsewhere command;
  command.start = reader.get<Start>();
  command.word = reader.get<std::uint64_t>();
  reader.end();
  return command;
}
template <>
Abandon decode<Abandon>(std::span<const std::byte> body) {
  return decode_plain<Abandon>(body);
}
template <>
Forget decode<Forget>(std::span<const std::byte> body) {
  return decode_plain<Forget>(body);
}
template <>
Close decode<Close>(std::span<const std::byte> body) {
  return decode_plain<Close>(body);
}
template <>
Share decode<Share>(std::span<const std::byte> body) {
  return decode_plain<Share>(body);
}
template <>
Leave decode<Leave>(std::span<const std::byte> body) {
  return decode_plain<Leave>(body);
}

bool describe(const executors::Operation& operation, Rank ranks, Define& define) {
  if (ir::is_reduction(operation.collective) && !name_kernel(operation.reduction.kernel, define))
    return false;
  define.operation = operation;
  define.input_table = table_of(operation.input_blocks, ranks);
  define.output_table = table_of(operation.output_blocks, ranks);
  return true;
}

executors::Operation described(const Define& define) {
  executors::Operation op = define.operation;
  op.input_blocks = {op.input_blocks.size, nullptr, nullptr};
  op.output_blocks = {op.output_blocks.size, nullptr, nullptr};
  lay(define.input_table, op.input_blocks);
  lay(define.output_table, op.output_blocks);
  if (ir::is_reduction(op.collective)) op.reduction.kernel = kernel_of(define);
  return op;
}

}  // namespace hocket::engine::handover
