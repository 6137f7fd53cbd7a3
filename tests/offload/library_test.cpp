// What is asked of SHARP's library, and what is done where it has less than Hocket's.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "offload/elements.hpp"
#include "offload/old_library.h"
#include "offload/ranks.hpp"

namespace hocket::harness {
namespace {

using kernels::ElementType;
using kernels::OpKind;
using offload::Aggregation;
using offload::Kind;
using offload::Request;

std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool says(const std::string& text, std::string_view words) {
  return text.find(words) != text.npos;
}

TEST(OffloadLibrary, SaysWhatIsMissing) {
  EXPECT_TRUE(says(error_of([] { offload::Library("/no/such/libsharp_coll.so"); }), "/no/such/libsharp"));
  const std::string other = error_of([] { offload::Library("libm.so.6"); });
  EXPECT_TRUE(says(other, "libm.so.6") && says(other, "sharp_coll_init")) << other;
}

TEST(OffloadLibrary, IsTheOneThatIsMeant) {
  EXPECT_EQ(offload::library_meant("off", "host:1"), "");
  EXPECT_EQ(offload::library_meant("auto", ""), "");
  EXPECT_EQ(offload::library_meant("/opt/libsharp_coll.so", ""), "/opt/libsharp_coll.so");
  const std::string own = offload::library_meant("auto", "host:1");
  EXPECT_EQ(own, offload::beside_this_library());
  EXPECT_TRUE(own.ends_with("/libsharp_coll.so")) << own;
}

TEST(OffloadElements, AreThoseThatMeanTheSame) {
  const auto of = [](OpKind op, ElementType type) {
    return offload::reduction_of(op, type).value_or(offload::Reduction{});
  };
  EXPECT_EQ(of(OpKind::sum, ElementType::bf16).type, SHARP_DTYPE_BFLOAT16);
  EXPECT_EQ(of(OpKind::lxor, ElementType::logical32).type, SHARP_DTYPE_INT);
  EXPECT_EQ(of(OpKind::band, ElementType::byte).op, SHARP_OP_BAND);
  EXPECT_EQ(of(OpKind::sum, ElementType::c64).element_bytes, 8U);
  EXPECT_EQ(of(OpKind::prod, ElementType::c64).type, SHARP_DTYPE_NULL);
  EXPECT_EQ(of(OpKind::maxloc, ElementType::pair_f64_i32).tag_type, SHARP_DTYPE_INT);
  EXPECT_EQ(of(OpKind::maxloc, ElementType::pair_f64_f64).type, SHARP_DTYPE_NULL);
  EXPECT_EQ(of(OpKind::sum, ElementType::f80).type, SHARP_DTYPE_NULL);
  EXPECT_EQ(of(OpKind::band, ElementType::f32).type, SHARP_DTYPE_NULL);
}

/// One rank in front of a library that does as it is told.
class OffloadOldLibrary : public testing::Test {
 protected:
  OffloadOldLibrary() {
    library_ = {};
    library_.room = 100;
    library_.outcome = 1;
    tree_ = offload::Tree::open(OLD_LIBRARY, {}, room_);
    group_ = make_group().group;
  }
  ~OffloadOldLibrary() override {
    tree_.reset();
    group_.reset();
    EXPECT_EQ(library_.contexts, 0);
    EXPECT_EQ(library_.groups, 0);
    EXPECT_EQ(library_.outstanding, 0);
  }
  offload::GroupOrReason make_group() { return tree_->make_group(room_.self(), room_); }
  static OldLibrary& control() {
    void* const handle = dlopen(OLD_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    return *static_cast<OldLibrary*>(dlsym(handle, "old_library"));
  }
  static Aggregation sum_of(std::size_t bytes) {
    static char somewhere;  // no byte of it is looked at
    return {.kind = Kind::allreduce,
            .source = &somewhere,
            .target = &somewhere,
            .bytes = bytes,
            .type = ElementType::f64,
            .op = OpKind::sum};
  }

  OldLibrary& library_ = control();
  Meeting meeting_{1};
  Room room_{meeting_, 0};
  std::unique_ptr<offload::Tree> tree_;
  std::unique_ptr<offload::Group> group_;
};

TEST_F(OffloadOldLibrary, TakesWhatItHas) {
  EXPECT_TRUE(tree_->takes(Kind::allreduce, OpKind::sum, ElementType::f64));
  EXPECT_TRUE(tree_->takes(Kind::barrier, OpKind::none, ElementType::none));
  EXPECT_FALSE(tree_->takes(Kind::allreduce, OpKind::max, ElementType::f64));
  EXPECT_FALSE(tree_->takes(Kind::allreduce, OpKind::sum, ElementType::i8));
  EXPECT_FALSE(tree_->takes(Kind::allreduce, OpKind::maxloc, ElementType::pair_f64_i32)) << "no tags";
  EXPECT_FALSE(tree_->takes(Kind::reduce, OpKind::sum, ElementType::f64));
  EXPECT_FALSE(tree_->takes(Kind::bcast, OpKind::none, ElementType::none));
  EXPECT_EQ(tree_->terms().groups, 3);
  EXPECT_FALSE(tree_->terms().streams);
}

TEST_F(OffloadOldLibrary, DoesNotSayWhatToPoll) {
  EXPECT_EQ(group_->alarm().fd, -1);
}

TEST_F(OffloadOldLibrary, FailsInOrderWhereItIsAskedForMore) {
  EXPECT_EQ(run(*group_, {.kind = Kind::bcast, .source = this, .target = this, .bytes = 4}), Status::failed);
  EXPECT_TRUE(group_->is_broken());
  EXPECT_EQ(group_->error(), SHARP_COLL_ENOT_SUPP);
  EXPECT_EQ(run(*group_, sum_of(8)), Status::failed) << "and so does what comes later";
  group_ = make_group().group;
  Aggregation odd = sum_of(16);
  odd.type = ElementType::f80;
  EXPECT_EQ(run(*group_, odd), Status::failed);
}

TEST_F(OffloadOldLibrary, IsNotAskedForNothing) {
  EXPECT_EQ(run(*group_, sum_of(0)), Status::ok);
  EXPECT_EQ(library_.posted, 0);
  EXPECT_EQ(run(*group_, {}), Status::ok) << "a barrier";
  EXPECT_EQ(library_.posted, 1);
}

TEST_F(OffloadOldLibrary, IsGivenLongOnesInParts) {
  const std::size_t bytes = (std::size_t{5} << 30U) + 24;
  EXPECT_EQ(run(*group_, sum_of(bytes)), Status::ok);
  EXPECT_EQ(library_.bytes, bytes);
  EXPECT_EQ(library_.length, bytes / 8);
  EXPECT_EQ(library_.longest, std::size_t{512} << 20U);
  EXPECT_EQ(library_.gaps, 0);
  EXPECT_EQ(library_.most_outstanding, 2);
}

TEST_F(OffloadOldLibrary, MayHaveLittleRoom) {
  library_.room = 1;
  Request requests[3];
  for (Request& one : requests) EXPECT_EQ(group_->post(sum_of(8), one), Status::pending);
  EXPECT_EQ(library_.posted, 1);
  EXPECT_EQ(finish(*group_, requests[2]), Status::ok);
  for (Request& one : requests) EXPECT_EQ(finish(*group_, one), Status::ok);
  EXPECT_EQ(library_.posted, 3);
}

TEST_F(OffloadOldLibrary, WithoutAnyRoomFails) {
  library_.room = 0;
  EXPECT_EQ(run(*group_, sum_of(8)), Status::failed);
  EXPECT_EQ(group_->error(), SHARP_COLL_ENO_RESOURCE);
}

TEST_F(OffloadOldLibrary, FailsAllThatIsOnItsWay) {
  library_.outcome = 0;
  library_.room = 2;
  Request requests[3];
  for (Request& one : requests) group_->post(sum_of(8), one);
  EXPECT_EQ(group_->test(requests[1]), Status::pending);
  library_.outcome = SHARP_COLL_ECONN_TREE;
  EXPECT_EQ(group_->test(requests[1]), Status::failed);
  for (Request& one : requests) {
    EXPECT_EQ(one.status(), Status::failed);
    EXPECT_EQ(one.error(), SHARP_COLL_ECONN_TREE);
  }
  EXPECT_EQ(group_->words(), "other (-5)");
}

TEST_F(OffloadOldLibrary, IsRidOfWhatIsOnItsWayWhenItsGroupGoes) {
  library_.outcome = 0;
  Request request;
  group_->post(sum_of(std::size_t{1} << 32U), request);
  group_.reset();
  EXPECT_EQ(request.status(), Status::failed);
  EXPECT_EQ(library_.freed, 2);
}

TEST_F(OffloadOldLibrary, SaysWhyThereIsNoGroup) {
  library_.group_error = SHARP_COLL_EQUOTA;
  const offload::GroupOrReason none = make_group();
  EXPECT_FALSE(none.group);
  EXPECT_TRUE(none.is_shortage);
  EXPECT_EQ(none.words, "spent (-7)");
  library_.group_error = SHARP_COLL_EGROUP_JOIN;
  EXPECT_FALSE(make_group().is_shortage);
}

TEST_F(OffloadOldLibrary, SaysWhyThereIsNoTree) {
  library_.init_error = SHARP_COLL_EQUOTA;
  const std::string words = error_of([&] { offload::Tree::open(OLD_LIBRARY, {}, room_); });
  EXPECT_TRUE(says(words, "spent (-7)")) << words;
}

TEST_F(OffloadOldLibrary, GetsTheHandlesOfRegisteredMemory) {
  constexpr std::size_t bytes = 100'000;
  const std::vector<char> source(bytes);
  std::vector<char> target(bytes);
  Aggregation sum = sum_of(bytes);
  sum.source = source.data();
  sum.target = target.data();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(run(*group_, sum), Status::ok);
    EXPECT_NE(library_.handle, nullptr);
  }
  const registration::Counters found = tree_->registrations();
  EXPECT_EQ(found.hits + found.misses, 6U);
  const int expected = found.hits > 0 ? 2 : 6;  // where changes of memory can be watched, and elsewhere
  EXPECT_EQ(library_.registrations, expected);
  sum.source = nullptr;
  sum.bytes = 8;
  run(*group_, sum);
  EXPECT_EQ(library_.handle, nullptr) << "too short to be worth it";
  tree_.reset();
  group_.reset();
  EXPECT_EQ(library_.registered, 0);
}

TEST_F(OffloadOldLibrary, GetsNoHandlesThatItDoesNotWant) {
  group_.reset();
  tree_ = offload::Tree::open(OLD_LIBRARY, {.registers = offload::Job::Registers::never}, room_);
  group_ = make_group().group;
  EXPECT_EQ(run(*group_, sum_of(100'000)), Status::ok);
  EXPECT_EQ(library_.registrations, 0);
}

}  // namespace
}  // namespace hocket::harness
