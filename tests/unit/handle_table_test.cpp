#include "interpose/plugin/handles/handle_table.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace hocket::interpose {
namespace {

TEST(HandleTable, FindsWhatWasInserted) {
  HandleTable<int> table;
  EXPECT_EQ(table.value_of(17), nullptr);
  table.insert(17, std::make_unique<int>(4));
  ASSERT_NE(table.value_of(17), nullptr);
  EXPECT_EQ(*table.value_of(17), 4);
}

TEST(HandleTable, HandlesOfOneBucketAreToldApart) {
  HandleTable<int> table;
  for (HandleBits h = 0; h < 100; ++h) table.insert(h << 24, std::make_unique<int>(static_cast<int>(h)));
  for (HandleBits h = 0; h < 100; ++h) EXPECT_EQ(*table.value_of(h << 24), static_cast<int>(h));
}

TEST(HandleTable, ReusedHandleStandsForTheNewValue) {
  HandleTable<int> table;
  table.insert(5, std::make_unique<int>(1));
  const auto* node = table.find(5);
  table.erase(5);
  EXPECT_EQ(table.find(5), nullptr);
  EXPECT_NE(node->handle.load(), HandleBits{5});
  table.insert(5, std::make_unique<int>(2));
  EXPECT_EQ(*table.value_of(5), 2);
}

TEST(HandleTable, TheFirstOfTwoThatMeetAHandleKeepsIt) {
  HandleTable<int> table;
  EXPECT_TRUE(table.insert_if_absent(5, std::make_unique<int>(1)));
  const int* first = table.value_of(5);
  EXPECT_FALSE(table.insert_if_absent(5, std::make_unique<int>(2)));
  EXPECT_EQ(table.value_of(5), first);
  EXPECT_EQ(table.copy_of(5), 1);
  table.erase(5);
  EXPECT_EQ(table.copy_of(5), std::nullopt);
}

TEST(HandleTable, KeptNodeNoLongerMatchesAfterErase) {
  HandleTable<int> table;
  table.insert(5, std::make_unique<int>(1));
  auto* node = table.find(5);
  table.clear();
  EXPECT_EQ(node->handle.load(), HandleTable<int>::nobody);
  EXPECT_EQ(node->value.load(), nullptr);
}

TEST(HandleTable, TakesAllThatGo) {
  HandleTable<int> table;
  for (HandleBits h = 0; h < 10; ++h) table.insert(h << 24, std::make_unique<int>(static_cast<int>(h)));
  EXPECT_EQ(table.take_all([](int value) { return value % 2 == 1; }).size(), 5U);
  for (HandleBits h = 0; h < 10; ++h) EXPECT_EQ(table.find(h << 24) == nullptr, h % 2 == 1);
}

TEST(HandleTable, ReadersNeedNoLock) {
  HandleTable<int> table;
  std::vector<std::thread> readers;
  std::atomic<bool> stop{false};
  table.insert(1, std::make_unique<int>(7));
  for (int t = 0; t < 2; ++t)
    readers.emplace_back([&] {
      while (!stop) EXPECT_EQ(*table.value_of(1), 7);
    });
  for (HandleBits h = 2; h < 3000; ++h) table.insert(h, std::make_unique<int>(0));
  for (HandleBits h = 2; h < 3000; ++h) table.erase(h);
  stop = true;
  for (auto& reader : readers) reader.join();
}

}  // namespace
}  // namespace hocket::interpose
