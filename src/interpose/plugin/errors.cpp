#include "interpose/plugin/errors.hpp"

#include <unistd.h>

#include <mutex>
#include <new>

#include "interpose/plugin/host.hpp"

namespace hocket::interpose {
namespace {

std::mutex mutex;

// One class for all, one code per text: an error is rare, and its text names ranks and calls.
int code_for(const std::string& text) {
  static int error_class = -1;
  const std::lock_guard lock(mutex);
  int code = MPI_ERR_OTHER;
  if (error_class < 0 && host().Add_error_class(&error_class) != MPI_SUCCESS) return code;
  if (host().Add_error_code(error_class, &code) != MPI_SUCCESS) return MPI_ERR_OTHER;
  host().Add_error_string(code, text.substr(0, MPI_MAX_ERROR_STRING - 1).c_str());
  return code;
}

}  // namespace

int say_error(std::string_view text) {
  try {
    const std::string line(text);
    say(line);
    return code_for(line);
  } catch (const std::bad_alloc&) {
    return MPI_ERR_NO_MEM;
  }
}

void say(const std::string& line) {
  const std::string text = "hocket: " + line + "\n";
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

int raise_error(MPI_Comm comm, std::string_view text) {
  return raise_class(comm, say_error(text));
}

int raise_class(MPI_Comm comm, int code) {
  host().Comm_call_errhandler(comm, code);
  return code;
}

}  // namespace hocket::interpose
