// A non-blocking collective of the program: the description of its call, its data where they have to be
// packed, the engine's operation, and the MPI request that stands for it. Persistent ones
// (persistent_request.hpp) are started again and again.
//
// The request is a generalized one: any function of MPI may be handed it, also one that Hocket does not see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "engine/communicator.hpp"
#include "interpose/plugin/communicators.hpp"

namespace hocket::interpose {

using engine::Call;

class Request {
 public:
  Request() = default;
  virtual ~Request() = default;
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  /// Takes over a call on this communicator: one of collectives/descriptions.hpp. It stays until the next
  /// one.
  template <class Described>
  Described& hold(Communicator& c) {
    static_assert(sizeof(Described) <= sizeof description_ &&
                  alignof(Described) <= alignof(std::max_align_t));
    static_assert(std::is_trivially_destructible_v<Described>);
    communicator_ = &c;
    return *new (description_) Described(c, sides_);
  }

  /// Packs the data, and starts the call that is held. False: see Communicator::error().
  template <class Described>
  bool start(engine::Prepared& prepared) {
    auto& described = *std::launder(reinterpret_cast<Described*>(description_));
    deliver_ = [](Request& self) {
      return std::launder(reinterpret_cast<Described*>(self.description_))->deliver();
    };
    static_assert(std::is_lvalue_reference_v<decltype(described.call())>, "the operation uses it to its end");
    is_plain_ = described.is_plain();
    described.pack();
    return run(prepared, described.call());
  }

  Communicator& communicator() const { return *communicator_; }
  engine::Outstanding& operation() const { return *operation_; }
  bool has_arrived() const { return arrived_; }
  /// Goes on. True: it has ended, and complete() is due.
  bool advance() noexcept;
  /// It cannot go on.
  void fail(Status status) noexcept;
  bool has_failed() const { return failed_; }

  // The steps of its end, on a thread that may call MPI.
  /// The data are in the program's buffers as they are: deliver() has nothing to bring.
  bool is_plain() const { return is_plain_; }
  /// Somebody is at these steps.
  bool is_ending() const { return is_ending_; }
  void begin_ending() noexcept { is_ending_ = true; }
  /// Brings the data to their place.
  void deliver() noexcept;
  /// The operation belongs to its communicator again. Under the progress lock.
  void release() noexcept;
  /// Instead of both, for a failed one: what to tell the program, and telling it, when the communicator may
  /// be gone.
  struct Failure {
    MPI_Comm comm;
    std::string text;
  };
  Failure failure() const;
  void raise(const Failure& failure) noexcept;
  /// Tells whoever waits. A request that nobody wants any more is gone then.
  virtual void tell() noexcept;

  /// A request of the MPI for it. An MPI error code.
  int make_handle(MPI_Request* handle);
  /// It could not be started.
  void drop_handle(MPI_Request* handle) noexcept;
  int code() const { return code_; }
  MPI_Request handle() const { return handle_; }

 private:
  friend class UnderWay;
  friend class UnusedRequests;
  bool run(engine::Prepared& prepared, const Call& call);

  Sides sides_;
  alignas(std::max_align_t) std::byte description_[640];
  int (*deliver_)(Request&) = nullptr;
  Communicator* communicator_ = nullptr;
  engine::Prepared* prepared_ = nullptr;
  engine::Outstanding* operation_ = nullptr;
  MPI_Request handle_{};
  int code_ = 0;
  bool arrived_ = false;
  bool failed_ = false;
  bool is_plain_ = false;
  bool is_ending_ = false;

  // Among those under way (under_way.hpp).
  std::uint64_t number_ = 0;
  Request* older_ = nullptr;
  Request* younger_ = nullptr;
  // Among those that are not in use.
  Request* next_unused_ = nullptr;
};

/// Requests are used again: what they have grown to stays. Under the progress lock. Throws std::bad_alloc.
Request& take_request();
/// From anywhere, also from within the MPI.
void give_back(Request& request) noexcept;

}  // namespace hocket::interpose
