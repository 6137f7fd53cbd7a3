// Levels of switches from latencies alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "harness/seed.hpp"
#include "topology/latency_matrix.hpp"
#include "topology/neighbour_joining.hpp"
#include "unit/topology_helpers.hpp"

namespace hocket::topology {
namespace {

using Random = std::mt19937_64;
/// Numbers of the groups of a host, from the outside in; those of one switch have the same.
using Places = std::vector<std::vector<int>>;

/// The latency between two hosts by how many levels they have in common.
LatencyMatrix matrix_of(const Places& places, const std::vector<double>& us) {
  LatencyMatrix matrix;
  const std::size_t count = places.size();
  for (std::size_t i = 0; i < count; ++i) matrix.hosts.push_back("n" + std::to_string(i));
  matrix.us.assign(count * count, 0);
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = 0; b < count; ++b) {
      std::size_t common = 0;
      while (common < places[a].size() && places[a][common] == places[b][common]) ++common;
      if (a != b) matrix.us[a * count + b] = us[common];
    }
  return matrix;
}

/// Each direction is off by a normal deviate of its own, as a measurement is, and then both are averaged.
void add_noise(LatencyMatrix& matrix, double noise, Random& random) {
  std::normal_distribution<double> deviate(0, noise);
  const std::size_t count = matrix.hosts.size();
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = 0; b < a; ++b) {
      const double off =
          1 + (std::clamp(deviate(random), -0.5, 0.5) + std::clamp(deviate(random), -0.5, 0.5)) / 2;
      matrix.us[a * count + b] *= off;
      matrix.us[b * count + a] = matrix.us[a * count + b];
    }
}

using Groups = std::multiset<std::set<std::string>>;

/// The hosts of every group but of that of all; names of groups do not count.
Groups groups_of(const Tree& tree) {
  std::vector<std::set<std::string>> inside(tree.size());
  for (Tree::Id id = static_cast<Tree::Id>(tree.size()); id-- > 1;) {
    if (tree.at(id).kind == Kind::node) inside[id].insert(tree.at(id).name);
    inside[tree.at(id).parent].insert(inside[id].begin(), inside[id].end());
  }
  Groups groups;
  for (const Tree::Id id : tree.all(Kind::network))
    if (id != Tree::root) groups.insert(inside[id]);
  return groups;
}

/// Groups of one host are not to be seen in latencies, nor those that all hosts are in.
Groups groups_of(const Places& places) {
  std::set<std::set<std::string>> groups;
  for (std::size_t level = 1; level <= places.front().size(); ++level) {
    std::map<std::vector<int>, std::set<std::string>> members;
    for (std::size_t i = 0; i < places.size(); ++i)
      members[{places[i].begin(), places[i].begin() + static_cast<std::ptrdiff_t>(level)}].insert(
          "n" + std::to_string(i));
    for (const auto& [path, hosts] : members)
      if (hosts.size() > 1 && hosts.size() < places.size()) groups.insert(hosts);
  }
  return {groups.begin(), groups.end()};
}

/// Pods of leaves of hosts, as many as drawn; hosts in no order.
Places some_places(Random& random, int least, int most) {
  const auto draw = [&] { return std::uniform_int_distribution<int>(least, most)(random); };
  Places places;
  const int pods = std::max(2, draw());
  for (int pod = 0; pod < pods; ++pod)
    for (int leaf = 0, leaves = draw(); leaf < leaves; ++leaf)
      for (int host = 0, hosts = draw(); host < hosts; ++host) places.push_back({pod, leaf});
  std::shuffle(places.begin(), places.end(), random);
  return places;
}

TEST(LatencyMatrix, HasBlanksOrCommasAndACornerOrNone) {
  for (const char* text :
       {"us n0 n1 n2\nn0 0 1 2\nn1 3 0 4\nn2 2 6 0\n", "# us\n,n0,n1,n2\nn0,-,1,2\nn1,3,-,4\n\nn2,2,6,-",
        "n0 n1 n2 # three\r\nn0 9 1 2\r\nn1, 3, 9, 4\r\nn2\t2\t6.0 x\r\n"}) {
    const LatencyMatrix matrix = parse_latency_matrix(text, "t");
    EXPECT_EQ(matrix.hosts, (std::vector<std::string>{"n0", "n1", "n2"})) << text;
    EXPECT_EQ(matrix.us, (std::vector<double>{0, 2, 2, 2, 0, 5, 2, 5, 0})) << text;
  }
}

TEST(LatencyMatrix, NamesLineAndColumnOfWhatIsWrong) {
  const auto error = [](const std::string& text) {
    return error_of([&] { parse_latency_matrix(text, "t"); });
  };
  for (const char* wrong : {"x", "0", "-1", "nan", "inf", "1e300", "1.5x"})
    EXPECT_EQ(error(std::string("a b c\na 0 1 1\nb 1 0 ") + wrong + "\n").substr(0, 25),
              "t line 3: column 4 (c): '")
        << wrong;
  EXPECT_EQ(error("a b\na 0 1\nb - 0\n"), "t line 3: column 2 (a): '-' is no latency in microseconds");
  EXPECT_EQ(error(""), "t has no rows");
  EXPECT_EQ(error("a b\n"), "t has no rows");
  EXPECT_EQ(error("a b\na 0 1\n"), "t has 1 rows for 2 hosts");
  EXPECT_EQ(error("a b\na 0 1\nb 1 0\nc 1 1\n"), "t line 4: a row more than hosts");
  EXPECT_EQ(error("a b\nb 0 1\n"),
            "t line 2: row 'b' stands where that of 'a' should: rows have the order of columns");
  EXPECT_EQ(error("a b c d\na 0 1\n"), "t line 2: 2 latencies below 4 names");
  EXPECT_EQ(error("a b\na 0 1\nb 1\n"), "t line 3: 1 latencies for 2 hosts");
  EXPECT_EQ(error("a a\na 0 1\n"), "t line 2: host 'a' for the second time");
  std::string many;
  for (int i = 0; i < 3000; ++i) many += " n" + std::to_string(i);
  EXPECT_EQ(error(many), "t line 1: more than 2048 hosts");
}

/// The length of the way between two vertices, through a tree.
double way(const JoinedTree& tree, std::uint32_t from, std::uint32_t to, std::uint32_t before) {
  if (from == to) return 0;
  for (const auto& edge : tree.edges[from])
    if (edge.to != before)
      if (const double rest = way(tree, edge.to, to, from); rest >= 0) return edge.length + rest;
  return -1;
}

TEST(NeighbourJoining, FindsTheTreeThatDistancesComeFrom) {
  // the example of Saitou and Nei 1987, table 1: eight taxa of a tree with edges of known lengths
  const std::vector<double> below = {7, 8,  5,  11, 8, 5, 13, 10, 7,  8,  16, 13, 10, 11,
                                     5, 13, 10, 7,  8, 6, 9,  17, 14, 11, 12, 10, 13, 8};
  LatencyMatrix matrix;
  for (int i = 1; i <= 8; ++i) matrix.hosts.push_back(std::to_string(i));
  matrix.us.assign(64, 0);
  for (std::size_t a = 1, at = 0; a < 8; ++a)
    for (std::size_t b = 0; b < a; ++b, ++at) matrix.us[a * 8 + b] = matrix.us[b * 8 + a] = below[at];
  const JoinedTree tree = join_neighbours(matrix);
  EXPECT_EQ(tree.edges.size(), 14u);
  for (std::uint32_t a = 0; a < 8; ++a)
    for (std::uint32_t b = 0; b < 8; ++b)
      EXPECT_NEAR(way(tree, a, b, a), matrix.at(a, b), 1e-9) << a << " " << b;
}

TEST(Latencies, OfThreeLevelsGiveThem) {
  const Places places = {{0, 0}, {0, 0}, {0, 1}, {0, 1}, {1, 0}, {1, 0}, {1, 1}, {1, 1}, {1, 1}};
  EXPECT_EQ(text_of(tree_of(matrix_of(places, {4, 2, 1}))),
            "network network\n"
            "  network group0\n    network group0.0\n      node n0\n      node n1\n"
            "    network group0.1\n      node n2\n      node n3\n"
            "  network group1\n    network group1.0\n      node n4\n      node n5\n"
            "    network group1.1\n      node n6\n      node n7\n      node n8\n");
}

TEST(Latencies, ThatAreAllTheSameAreOneGroup) {
  for (const std::size_t count : {1, 2, 3, 5, 16}) {
    const Places places(count, std::vector<int>{0, 0});
    EXPECT_TRUE(groups_of(tree_of(matrix_of(places, {1, 1, 1}))).empty()) << count;
  }
}

TEST(Latencies, OfAFastNetworkDifferLittleAndCount) {
  const Places places = {{0, 0}, {0, 0}, {0, 0}, {0, 1}, {0, 1}, {0, 1},
                         {1, 0}, {1, 0}, {1, 0}, {1, 1}, {1, 1}, {1, 1}};
  Random random(harness::test_seed());
  LatencyMatrix matrix = matrix_of(places, {1.8, 1.5, 1.2});
  add_noise(matrix, 0.02, random);
  EXPECT_EQ(groups_of(tree_of(matrix)), groups_of(places));
}

TEST(Latencies, OfAThousandHostsTakeASecondOrTwo) {
  Places places;
  for (int i = 0; i < 1024; ++i) places.push_back({i / 128, i / 16});
  Random random(harness::test_seed());
  LatencyMatrix matrix = matrix_of(places, {4, 2, 1});
  add_noise(matrix, 0.1, random);
  EXPECT_EQ(groups_of(tree_of(matrix)), groups_of(places));
}

TEST(Latencies, ThatGrowFromHostToHostGiveFewLevels) {
  const std::size_t count = 25;
  LatencyMatrix matrix = matrix_of(Places(count, std::vector<int>{0}), {1, 1});
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = 0; b < count; ++b)
      if (a != b) matrix.us[a * count + b] = std::pow(2, static_cast<double>(std::max(a, b)));
  const Tree tree = tree_of(matrix);
  EXPECT_EQ(tree.count(Kind::node), count);
  EXPECT_LE(tree.count(Kind::network), 8u);
}

TEST(Latencies, OfOneSlowHostSetItApart) {
  LatencyMatrix matrix = matrix_of({{0}, {0}, {0}, {1}, {1}, {1}, {1}}, {2, 1});
  for (std::size_t i = 0; i < 7; ++i)
    if (i != 2) matrix.us[i * 7 + 2] = matrix.us[2 * 7 + i] += 10;
  EXPECT_EQ(groups_of(tree_of(matrix)),
            (Groups{{"n0", "n1", "n3", "n4", "n5", "n6"}, {"n0", "n1"}, {"n3", "n4", "n5", "n6"}}));
}

TEST(Latencies, NoiseMakesNoLevels) {
  std::uint64_t seed = harness::test_seed();
  int wrong = 0, tried = 0;
  for (const std::size_t count : {2, 3, 4, 5, 8, 13, 16, 32, 64})
    for (int i = 0; i < 40; ++i, ++tried) {
      Random random(seed++);
      LatencyMatrix matrix = matrix_of(Places(count, std::vector<int>{0}), {1, 1});
      add_noise(matrix, 0.1, random);
      if (!groups_of(tree_of(matrix)).empty()) {
        ++wrong;
        std::printf("%zu hosts that are all the same, seed %llu:\n%s", count,
                    static_cast<unsigned long long>(seed - 1), text_of(tree_of(matrix)).c_str());
      }
    }
  EXPECT_LE(100 * wrong, tried) << wrong << " of " << tried << "; 1 in some thousands is what to expect";
}

TEST(Latencies, WithNoiseGiveTheGroupsThatAreThere) {
  std::uint64_t seed = harness::test_seed();
  int wrong = 0, tried = 0;
  for (const int most : {2, 3, 4, 5})
    for (int i = 0; i < 25; ++i, ++tried) {
      Random random(seed++);
      const Places places = some_places(random, most < 4 ? 2 : 1, most);
      LatencyMatrix matrix = matrix_of(places, {4, 2, 1});
      add_noise(matrix, 0.1, random);
      if (groups_of(tree_of(matrix)) != groups_of(places)) {
        ++wrong;
        std::printf("%zu hosts, seed %llu: %s\n", places.size(), static_cast<unsigned long long>(seed - 1),
                    text_of(tree_of(matrix)).c_str());
      }
    }
  EXPECT_LE(100 * wrong, tried) << wrong << " of " << tried << "; 1 in some thousands is what to expect";
}

}  // namespace
}  // namespace hocket::topology
