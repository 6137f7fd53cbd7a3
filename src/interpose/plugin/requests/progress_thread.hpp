// A thread that goes on with the operations of this process while the program computes, or while it is inside
// a blocking call of an MPI that lets nobody else take part. It makes no call of the MPI, unless messages
// between nodes are its duty and MPI_THREAD_MULTIPLE allows it: what has ended is handed to the MPI by the
// program's next call.
//
// It exists from the first operation on where it is wanted (HOCKET_PROGRESS), and sleeps while nothing is
// under way.
#pragma once

namespace hocket::interpose {

/// What it is for.
enum class ThreadDuty {
  none,      ///< no thread
  rescue,    ///< looks once per millisecond, and goes on only where the program has not done so since
  progress,  ///< goes on all the time
};

/// From HOCKET_PROGRESS, the cores that the ranks have, and whether the MPI lends its own progress engine.
ThreadDuty thread_duty();

/// An operation has been started, under the progress lock.
void wake_progress_thread() noexcept;
/// Ends it. Nothing is under way any more.
void end_progress_thread() noexcept;

}  // namespace hocket::interpose
