#include "engine/report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

namespace hocket::engine {
namespace {

void count(ReportRow* row, std::uint64_t calls, double seconds) {
  row->calls += calls;
  row->count_time(seconds);
}

TEST(Report, one_row_for_each_function_size_class_and_decision) {
  Report report;
  ReportRow* row = report.row(Function::bcast, 1024, "flat", "small");
  EXPECT_EQ(row, report.row(Function::bcast, 2047, "flat", "small"));
  std::set<ReportRow*> others = {row,
                                 report.row(Function::bcast, 2048, "flat", "small"),
                                 report.row(Function::bcast, 1024, "ring", "small"),
                                 report.row(Function::bcast, 1024, "flat", "forced"),
                                 report.row(Function::reduce, 1024, "flat", "small"),
                                 report.row(Function::bcast, 0, "flat", "small")};
  EXPECT_EQ(others.size(), 6u);
  EXPECT_EQ(row->size_class, 11);
}

TEST(Report, the_text_is_aligned_and_ends_with_the_notes) {
  Report report;
  count(report.row(Function::reduce_scatter_block, 4 << 20, "ring", "bytes>1M"), 3, 6e-3);
  count(report.row(Function::barrier, 0, "flat", "ranks<=64"), 12345, 0);
  count(report.row(Function::bcast, 12, "native", "rooted"), 1, 2e-6);
  report.row(Function::scan, 8, "flat", "never called");
  report.note("no CMA: EPERM");
  report.note("no CMA: EPERM");
  EXPECT_EQ(report.text(),
            "collective               size  calls     time  per call  algorithm  why\n"
            "barrier                     -  12345        -         -  flat       ranks<=64\n"
            "bcast                   8 B +      1   2.0 us    2.0 us  native     rooted\n"
            "reduce_scatter_block  4 MiB +      3  6.00 ms   2.00 ms  ring       bytes>1M\n"
            "note: no CMA: EPERM\n");
}

TEST(Report, json_lines) {
  Report report;
  ReportRow* row = report.row(Function::allgatherv, 100, "native", "says \"no\"");
  count(row, 2, 0.5);
  row->bytes += 200;
  report.note("n");
  EXPECT_EQ(report.jsonl(),
            "{\"collective\":\"allgatherv\",\"bytes_from\":64,\"calls\":2,\"bytes\":200,\"seconds\":0.5,"
            "\"algorithm\":\"native\",\"why\":\"says \\\"no\\\"\"}\n{\"note\":\"n\"}\n");
}

TEST(Report, forms_of_a_collective_are_told_apart) {
  Report report;
  count(report.row({Function::allreduce, Form::persistent}, 8, "flat", "w"), 3, 0);
  count(report.row({Function::allreduce, Form::nonblocking}, 8, "flat", "w"), 2, 0);
  count(report.row(Function::allreduce, 8, "flat", "w"), 1, 0);
  EXPECT_EQ(report.text(),
            "collective       size  calls  time  per call  algorithm  why\n"
            "allreduce       8 B +      1     -         -  flat       w\n"
            "iallreduce      8 B +      2     -         -  flat       w\n"
            "allreduce_init  8 B +      3     -         -  flat       w\n");
}

TEST(Report, plans_that_calls_found_made_and_gave_up) {
  Report report;
  count(report.row(Function::bcast, 8, "flat", "w"), 10, 0);
  count(report.row(Function::bcast, 8, "native", "w"), 100, 0);
  report.count_plan_made();
  report.count_plan_made();
  report.count_plan_given_up();
  EXPECT_EQ(report.plans().hits, 8u);
  EXPECT_NE(report.text().find("note: 2 plans made, used again by 8 calls, 1 given up for others\n"),
            std::string::npos);
  EXPECT_NE(report.jsonl().find("{\"plan_hits\":8,\"plan_misses\":2,\"plan_evictions\":1}\n"),
            std::string::npos);
}

TEST(Report, what_was_handed_over) {
  Report report;
  count(report.row({Function::bcast, Form::nonblocking}, 8, "knomial", "w"), 2, 0);
  report.count_handed_buffers(300);
  report.set_mapped_buffers(1);
  report.count_handed_start(24);
  report.count_handed_start(24);
  EXPECT_NE(
      report.text().find("note: the node's worker was handed 2 calls in 48 bytes, and told of 1 sets of "
                         "buffers in 300; it uses 1 of them where they are\n"),
      std::string::npos);
  EXPECT_NE(report.jsonl().find("{\"handed_starts\":2,\"handed_start_bytes\":48,\"handed_buffers\":1,"
                                "\"handed_buffer_bytes\":300,\"handed_mapped\":1}\n"),
            std::string::npos);
}

TEST(Report, an_empty_one_says_so) {
  EXPECT_EQ(Report().text(), "no collective was called\n");
  EXPECT_EQ(Report().jsonl(), "");
}

TEST(Report, all_functions_have_different_names) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < function_count; ++i) names.insert(name_of(static_cast<Function>(i)));
  EXPECT_EQ(names.size(), function_count);
  EXPECT_EQ(name_of(Function::reduce_scatter_block), "reduce_scatter_block");
  EXPECT_EQ(name_of(Function::other), "other");
}

TEST(Report, rows_are_made_by_many_threads_at_once) {
  Report report;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&report] {
      for (std::size_t i = 0; i < 500; ++i)
        report.row(Function::gather, std::size_t{1} << (i % 20), "flat", "x");
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(report.lines().size(), 20u);
}

/// Communicators of different threads count the same kind of call; nothing is lost, and under the thread
/// sanitizer nothing races.
TEST(Report, owners_count_at_once_and_are_added_up) {
  Report report;
  constexpr int owners = 4, rounds = 20, calls = 500;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < owners; ++thread)
    threads.emplace_back([&report] {
      for (int round = 0; round < rounds; ++round) {
        OwnRows rows(report);
        ReportRow* own = rows.row(Function::bcast, 8, "flat", "x");
        EXPECT_EQ(own, rows.row(Function::bcast, 9, "flat", "x"));
        for (int call = 0; call < calls; ++call) own->count(10);
        own->count_time(0.25);
        ++std::atomic_ref(report.row(Function::bcast, 8, "flat", "x")->calls);
        report.note("a note");
        EXPECT_LE(report.lines().size(), 1u);
        EXPECT_FALSE(report.text().empty());
      }
    });
  for (std::thread& thread : threads) thread.join();
  const ReportLine line = report.lines().at(0);
  EXPECT_EQ(line.calls, std::uint64_t{owners} * rounds * (calls + 1));
  EXPECT_EQ(line.bytes, std::uint64_t{owners} * rounds * calls * 10);
  EXPECT_EQ(line.seconds, owners * rounds * 0.25);
}

TEST(Report, rows_that_are_given_back_are_used_again) {
  Report report;
  ReportRow* first = nullptr;
  for (int owner = 0; owner < 3; ++owner) {
    OwnRows rows(report);
    ReportRow* const row = rows.row(Function::scan, 8, "flat", "x");
    row->count(8);
    EXPECT_EQ(owner == 0 ? first = row : first, row);
    OwnRows others(report);
    EXPECT_NE(others.row(Function::scan, 8, "flat", "x"), row);
  }
  EXPECT_EQ(report.lines().at(0).calls, 3u);
}

}  // namespace
}  // namespace hocket::engine
