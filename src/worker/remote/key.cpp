#include "worker/remote/key.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.hpp"
#include "engine/descriptor.hpp"

namespace hocket::worker::remote {

Key key_in(const std::string& path) {
  const engine::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status{};
  if (!file || fstat(file.number(), &status) != 0)
    throw Error("the key of remote workers: " + path + ": " + std::strerror(errno));
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    throw Error("the key of remote workers: " + path +
                " has to be a file of this user's, that nobody else can "
                "read (chmod 600)");
  Key key{};
  if (read(file.number(), key.data(), key.size()) != static_cast<ssize_t>(key.size()))
    throw Error("the key of remote workers: " + path + " is shorter than 64 characters");
  return key;
}

bool is_same(const Key& one, const Key& other) noexcept {
  unsigned differ = 0;
  for (std::size_t i = 0; i < one.size(); ++i)
    differ |=
        static_cast<unsigned char>(one[i]) ^ static_cast<unsigned>(static_cast<unsigned char>(other[i]));
  return differ == 0;
}

}  // namespace hocket::worker::remote
