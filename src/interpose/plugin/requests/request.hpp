// A collective of the program that has been started, or is to be: the description of its call, its data where
// they have to be packed, the engine's operation, and the MPI's request that stands for it
// (own_requests.hpp). It is for one start (nonblocking_request.hpp) or for many (persistent_request.hpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "engine/communicator.hpp"
#include "interpose/plugin/communicators.hpp"

namespace hocket::interpose {

using engine::Call;

class Request {
 public:
  enum class Starts : std::uint8_t { once, again };
  explicit Request(Starts starts) : starts_(starts) {}
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
  /// The operation that ended last is still this request's.
  bool keeps_operation() const { return keeps_operation_; }
  /// It has ended while it stood aside: it is over. Its operation is kept if it may be.
  void end_alone() noexcept;
  /// The operation belongs to its communicator again. Under the progress lock, or of one that stands aside.
  void release() noexcept;
  /// Instead of delivery, for a failed one: says what has happened. Returns the error that is to be raised on
  /// its communicator.
  int fail_to_deliver() noexcept;
  /// Tells whoever waits: the last use of it here. Under the progress lock.
  void tell() noexcept;

  // The program's side.
  MPI_Request token() const { return token_; }
  /// The token is on a communicator that the program cannot free.
  bool has_lasting_token() const { return has_lasting_token_; }
  void set_token(MPI_Request token, bool is_lasting) {
    token_ = token;
    has_lasting_token_ = is_lasting;
  }
  /// It has been started and has given its peers what they need, and nobody goes on with it: not under way
  /// yet, which join() puts it (aside.hpp).
  bool is_aside() const { return state_.load(std::memory_order_relaxed) == State::aside; }
  /// It stands aside no longer, and is under way.
  void come_back() noexcept { leave_aside(State::under_way); }
  /// It has been started, and nobody has waited for it since.
  bool is_active() const { return state_.load(std::memory_order_relaxed) != State::inactive; }
  /// Active, and complete: consume() is due.
  bool is_over() const { return state_.load(std::memory_order_acquire) == State::over; }
  /// Its error code, once it is over.
  int code() const { return code_; }
  /// The program has waited for it. Returns its error code, and what becomes of the handle.
  virtual int consume(MPI_Request* handle) noexcept = 0;
  /// MPI_Start. An MPI error code.
  virtual int activate() noexcept = 0;
  /// MPI_Request_free. An active one ends first, which nobody waits for.
  virtual int forget(MPI_Request* handle) noexcept = 0;
  bool is_persistent() const { return starts_ == Starts::again; }

 protected:
  const engine::Prepared& prepared() const { return *prepared_; }
  /// Of data that need no packing, once it has stood aside to its end.
  void keep_operation(bool may) noexcept { may_keep_operation_ = may; }
  /// Starts it once more, with data that are in the program's buffers as they are. False: see
  /// Communicator::error().
  bool repeat() noexcept;
  void stand_aside() noexcept { state_.store(State::aside, std::memory_order_relaxed); }
  void become_inactive() noexcept { state_.store(State::inactive, std::memory_order_relaxed); }
  /// Nobody is going to wait for it: it is disposed of when it has ended.
  void abandon() noexcept;
  /// Under the progress lock.
  virtual void dispose() noexcept = 0;

 private:
  friend class UnderWay;
  enum class State : std::uint8_t { inactive, aside, under_way, over };
  void leave_aside(State next) noexcept;
  bool run(engine::Prepared& prepared, const Call& call);

  const Starts starts_;
  Sides sides_;
  alignas(std::max_align_t) std::byte description_[640];
  int (*deliver_)(Request&) = nullptr;
  Communicator* communicator_ = nullptr;
  engine::Prepared* prepared_ = nullptr;
  engine::Outstanding* operation_ = nullptr;
  MPI_Request token_{};
  int code_ = 0;
  std::atomic<State> state_{State::inactive};
  bool is_abandoned_ = false;
  bool has_lasting_token_ = false;
  bool may_keep_operation_ = false;
  bool keeps_operation_ = false;
  bool arrived_ = false;
  bool failed_ = false;
  bool is_plain_ = false;
  bool is_ending_ = false;

  // Among those under way (under_way.hpp).
  std::uint64_t number_ = 0;
  Request* older_ = nullptr;
  Request* younger_ = nullptr;
};

}  // namespace hocket::interpose
