// No way of changing memory makes the cache give out what pins the pages of before: told by the kernel's
// io_uring, which writes from the pages that it has pinned.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "pinned_buffers.hpp"
#include "registration/cache.hpp"
#include "registration/userfault_watch.hpp"

namespace hocket::registration {
namespace {

constexpr std::size_t bytes = std::size_t{256} << 10U;

std::byte* mapped(void* where = nullptr, std::size_t length = bytes) {
  void* const memory = mmap(where, length, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | (where ? MAP_FIXED : 0), -1, 0);
  EXPECT_NE(memory, MAP_FAILED);
  return static_cast<std::byte*>(memory);
}

/// What lies in the buffer is what the device sees.
class Sight {
 public:
  explicit Sight(Cache& cache, PinnedBuffers& device) : cache_(cache), device_(device) {}

  bool is_clear(std::span<const std::byte> buffer) {
    const Lease lease = cache_.lease(buffer.data(), buffer.size());
    if (!lease || !device_.write(lease.handle(), buffer, file_.number())) return false;
    seen_.resize(buffer.size());
    return pread(file_.number(), seen_.data(), seen_.size(), 0) == static_cast<ssize_t>(seen_.size()) &&
           std::ranges::equal(seen_, buffer);
  }
  /// Of a buffer that is filled with another number each time.
  bool is_clear_of_new(std::span<std::byte> buffer) {
    std::ranges::fill(buffer, std::byte{++last_});
    return is_clear(buffer);
  }

 private:
  Cache& cache_;
  PinnedBuffers& device_;
  Descriptor file_{memfd_create("seen", MFD_CLOEXEC)};
  std::vector<std::byte> seen_;
  unsigned char last_ = 0;
};

class RegistrationInvalidation : public testing::Test {
 protected:
  void SetUp() override {
    try {
      device_ = std::make_unique<PinnedBuffers>();
      cache_ = std::make_unique<Cache>(*device_, std::make_unique<UserfaultWatch>(), Limits{.entries = 32});
    } catch (const Error& refused) {
      GTEST_SKIP() << refused.what();
    }
    sight_ = std::make_unique<Sight>(*cache_, *device_);
  }

  /// It is kept, until it is changed in this way.
  void expect_told(std::byte* (*change)(std::byte*)) {
    std::byte* buffer = mapped();
    EXPECT_TRUE(sight_->is_clear_of_new({buffer, bytes}));
    EXPECT_TRUE(sight_->is_clear_of_new({buffer, bytes}));
    EXPECT_EQ(cache_->counters().hits, 1U);
    buffer = change(buffer);
    EXPECT_TRUE(sight_->is_clear_of_new({buffer, bytes}));
    EXPECT_EQ(cache_->counters().invalidations, 1U);
    EXPECT_EQ(cache_->counters().hits, 1U);
    munmap(buffer, bytes);
  }

  std::unique_ptr<PinnedBuffers> device_;
  std::unique_ptr<Cache> cache_;
  std::unique_ptr<Sight> sight_;
};

TEST_F(RegistrationInvalidation, TheDeviceSeesTheOldPagesOfWhatIsRegistered) {
  std::byte* const buffer = mapped();
  std::ranges::fill(std::span(buffer, bytes), std::byte{1});
  const Descriptor file(memfd_create("seen", MFD_CLOEXEC));
  void* const handle = device_->register_memory(buffer, bytes);
  munmap(buffer, bytes);
  std::ranges::fill(std::span(mapped(buffer), bytes), std::byte{2});
  EXPECT_TRUE(device_->write(handle, {buffer, bytes}, file.number()));
  std::byte seen{};
  EXPECT_EQ(pread(file.number(), &seen, 1, 0), 1);
  EXPECT_EQ(seen, std::byte{1}) << "else these tests show nothing";
  device_->forget_memory(handle);
  munmap(buffer, bytes);
}

TEST_F(RegistrationInvalidation, OfMemoryThatWasUnmapped) {
  expect_told([](std::byte* buffer) {
    munmap(buffer, bytes);
    return mapped(buffer);
  });
}

TEST_F(RegistrationInvalidation, OfMemoryWithAnotherMappingOnTop) {
  expect_told([](std::byte* buffer) { return mapped(buffer); });
}

TEST_F(RegistrationInvalidation, OfAPageInTheMiddle) {
  expect_told([](std::byte* buffer) {
    mapped(buffer + bytes / 2, 4096);
    return buffer;
  });
}

TEST_F(RegistrationInvalidation, OfMemoryThatWasMoved) {
  expect_told([](std::byte* buffer) {
    EXPECT_NE(mremap(buffer, bytes, 4 * bytes, MREMAP_MAYMOVE | MREMAP_FIXED, mapped(nullptr, 4 * bytes)),
              MAP_FAILED);
    return mapped(buffer);
  });
}

TEST_F(RegistrationInvalidation, OfMemoryThatAnotherWasMovedTo) {
  expect_told([](std::byte* buffer) {
    EXPECT_EQ(mremap(mapped(), bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, buffer), buffer);
    return buffer;
  });
}

TEST_F(RegistrationInvalidation, OfMemoryThatWasEmptied) {
  expect_told([](std::byte* buffer) {
    madvise(buffer, bytes, MADV_DONTNEED);
    return buffer;
  });
}

TEST_F(RegistrationInvalidation, OfPagesThatMayBeTaken) {
  expect_told([](std::byte* buffer) {
    madvise(buffer, bytes, MADV_FREE);
    return buffer;
  });
}

TEST_F(RegistrationInvalidation, OfWhatMallocUnmapsByItself) {
  mallopt(M_MMAP_THRESHOLD, bytes / 2);
  for (int i = 0; i < 8; ++i) {
    const std::unique_ptr<std::byte[]> buffer(new std::byte[bytes]);
    EXPECT_TRUE(sight_->is_clear_of_new({buffer.get(), bytes}));
    EXPECT_TRUE(sight_->is_clear_of_new({buffer.get(), bytes}));
  }
}

TEST_F(RegistrationInvalidation, OfAHeapThatIsTrimmed) {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 4096);
  for (int i = 0; i < 8; ++i) {
    const std::unique_ptr<std::byte[]> buffer(new std::byte[8 * bytes]);
    EXPECT_TRUE(sight_->is_clear_of_new({buffer.get(), 8 * bytes}));
    EXPECT_TRUE(sight_->is_clear_of_new({buffer.get(), 8 * bytes}));
    malloc_trim(0);
  }
}

TEST_F(RegistrationInvalidation, OfTheProgramBreak) {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 32 << 20);
  void* volatile room = std::malloc(8 * bytes);
  std::free(room);  // malloc has what it needs, and leaves the break alone
  void* const before = sbrk(static_cast<intptr_t>(bytes));
  ASSERT_NE(before, reinterpret_cast<void*>(-1));  // NOLINT(performance-no-int-to-ptr)
  const std::span buffer(static_cast<std::byte*>(before), bytes);
  EXPECT_TRUE(sight_->is_clear_of_new(buffer));
  ASSERT_EQ(sbrk(0), static_cast<void*>(buffer.data() + bytes));
  sbrk(-static_cast<intptr_t>(bytes));
  ASSERT_EQ(sbrk(static_cast<intptr_t>(bytes)), before);
  EXPECT_TRUE(sight_->is_clear_of_new(buffer));
  sbrk(-static_cast<intptr_t>(bytes));
}

TEST_F(RegistrationInvalidation, OfMemoryThatOthersReuseWithoutAWord) {
  Sight other(*cache_, *device_);
  std::mutex device;  // its queue is for one thread at a time
  const auto reuse = [&](Sight& sight) {
    for (int i = 0; i < 400; ++i) {
      std::byte* const buffer = mapped();  // where the other one's was, as often as not
      {
        const std::lock_guard one(device);
        EXPECT_TRUE(sight.is_clear_of_new({buffer, bytes / 16}));
      }
      munmap(buffer, bytes);
    }
  };
  std::jthread beside(reuse, std::ref(other));
  reuse(*sight_);
}

TEST_F(RegistrationInvalidation, ParentsKeepTheirsWhenTheyFork) {
  std::byte* const buffer = mapped();
  EXPECT_TRUE(sight_->is_clear_of_new({buffer, bytes}));
  Lease lease = cache_->lease(buffer, bytes);
  const pid_t child = fork();
  if (child == 0) {
    const bool is_empty = !cache_->lease(buffer, bytes);
    lease.end();
    munmap(buffer, bytes);
    cache_.reset();
    _exit(is_empty && device_->registrations() == 1 ? 0 : 1);
  }
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(sight_->is_clear_of_new({buffer, bytes}));
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(sight_->is_clear_of_new({buffer, bytes}));
  EXPECT_EQ(cache_->counters().hits, 5U);
  lease.end();
  munmap(buffer, bytes);
}

TEST_F(RegistrationInvalidation, KeepsNothingThatOthersMayChange) {
  const Descriptor file(memfd_create("shared", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(file.number(), bytes), 0);
  for (const int kind : {MAP_SHARED, MAP_PRIVATE}) {
    auto* const buffer =
        static_cast<std::byte*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kind, file.number(), 0));
    EXPECT_TRUE(sight_->is_clear_of_new({buffer, bytes}));
    EXPECT_TRUE(sight_->is_clear_of_new({buffer, bytes}));
    munmap(buffer, bytes);
  }
  EXPECT_EQ(cache_->counters().hits, 0U);
  EXPECT_EQ(cache_->counters().entries, 0U);
}

TEST_F(RegistrationInvalidation, KeepsNothingWithoutItsDescriptor) {
  std::byte* const buffer = mapped();
  EXPECT_TRUE(sight_->is_clear_of_new({buffer, bytes}));
  closefrom(3);                                // as some programs do
  PinnedBuffers& device = *device_.release();  // whose descriptor is gone, too
  EXPECT_EQ(cache_->counters().entries, 1U);
  munmap(buffer, bytes);
  cache_->lease(buffer, bytes).end();
  EXPECT_EQ(cache_->counters().entries, 0U);
  cache_.reset();
  delete &device;
}

}  // namespace
}  // namespace hocket::registration
