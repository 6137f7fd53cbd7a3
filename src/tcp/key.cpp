#include "tcp/key.hpp"

#include <crypt.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace hocket::tcp {

namespace {

constexpr std::string_view method = "$6$rounds=1000$";
constexpr std::string_view letters = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

}  // namespace

Key key_in(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status{};
  if (!file || fstat(file.number(), &status) != 0)
    throw Error("the key: " + path + ": " + std::strerror(errno));
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    throw Error("the key: " + path +
                " has to be a file of this user's, that nobody else can read (chmod 600)");
  Key key{};
  if (read(file.number(), key.data(), key.size()) != static_cast<ssize_t>(key.size()))
    throw Error("the key: " + path + " is shorter than 64 characters");
  if (std::ranges::any_of(key, [](char one) { return one <= ' ' || one > '~'; }))
    throw Error("the key: " + path + " does not begin with 64 letters or digits");
  return key;
}

Challenge new_challenge() {
  Challenge challenge;
  if (getrandom(challenge.data(), challenge.size(), 0) != static_cast<ssize_t>(challenge.size()))
    throw Error("no random numbers");
  for (char& one : challenge) one = letters[static_cast<unsigned char>(one) % letters.size()];
  return challenge;
}

Proof proof_of(const Key& key, std::string_view role, const Challenge& challenge) {
  const auto is_letter = [](char one) { return letters.find(one) != std::string_view::npos; };
  if (!std::ranges::all_of(challenge, is_letter)) throw Error("a challenge that is none");
  const std::string phrase = std::string(role).append(":").append(key.data(), key.size());
  const std::string setting = std::string(method).append(challenge.data(), challenge.size());
  const auto memory = std::make_unique<crypt_data>();
  const char* const found = crypt_r(phrase.c_str(), setting.c_str(), memory.get());
  const std::string_view text = found ? found : "";
  Proof proof;
  if (text.size() < setting.size() + 1 + proof.size()) throw Error("this system's crypt has no SHA-512");
  text.copy(proof.data(), proof.size(), setting.size() + 1);
  return proof;
}

bool is_same(const Proof& one, const Proof& other) noexcept {
  unsigned differ = 0;
  for (std::size_t i = 0; i < one.size(); ++i)
    differ |=
        static_cast<unsigned char>(one[i]) ^ static_cast<unsigned>(static_cast<unsigned char>(other[i]));
  return differ == 0;
}

}  // namespace hocket::tcp
