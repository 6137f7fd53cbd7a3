// Hocket's findings as MPI errors, raised through the communicator's error handler.
#pragma once

#include <string>
#include <string_view>

#include "interpose/plugin/mpi_abi.hpp"

namespace hocket::interpose {

/// One line on standard error.
void say(const std::string& line);

/// Says the text. Returns a code of Hocket's class for it, to be raised.
int say_error(std::string_view text);

/// Says the text and raises an error of Hocket's class. Returns the code, for handlers that return.
int raise_error(MPI_Comm comm, std::string_view text);

/// Raises one of the MPI's own classes.
int raise_class(MPI_Comm comm, int error_class);

}  // namespace hocket::interpose
