// How far nodes are from each other: the first rank of each plays ping-pong with the first of each other one.
// Prints the matrix that `hocket topo` makes a tree of: a line of names, then one for each node, microseconds
// one way. HOCKET_NODE_SIZE=k takes every k ranks for a node.
//
// Pairs meet as players of a tournament do (the circle method): in each of n - 1 rounds everybody meets one
// other. Of few nodes one pair plays at a time, since nodes that share cores or links would disturb others.
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { trips = 40, not_counted = 3, few_nodes = 64, name_room = MPI_MAX_PROCESSOR_NAME };

static MPI_Comm nodes;  // a rank of each
static int self, count;

static int pretended_node_size(void) {
  const char* text = getenv("HOCKET_NODE_SIZE");
  return text ? (int)strtol(text, NULL, 10) : 0;
}

static void form_nodes(void) {
  const int pretended = pretended_node_size();
  int rank, place;
  MPI_Comm node;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (pretended > 0)
    MPI_Comm_split(MPI_COMM_WORLD, rank / pretended, rank, &node);
  else
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &place);
  MPI_Comm_free(&node);
  MPI_Comm_split(MPI_COMM_WORLD, place == 0 ? 0 : MPI_UNDEFINED, rank, &nodes);
}

static int ascending(const void* a, const void* b) {
  const double left = *(const double*)a, right = *(const double*)b;
  return (left > right) - (left < right);
}

// The lower quartile of half the times there and back: what disturbs a trip makes it longer, and the shortest
// of all may be a stroke of luck.
static double one_way_us(int peer) {
  double times[trips];
  char byte = 0;
  for (int i = -not_counted; i < trips; ++i) {
    const double began = MPI_Wtime();
    MPI_Send(&byte, 1, MPI_BYTE, peer, 0, nodes);
    MPI_Recv(&byte, 1, MPI_BYTE, peer, 0, nodes, MPI_STATUS_IGNORE);
    if (i >= 0) times[i] = 1e6 * (MPI_Wtime() - began) / 2;
  }
  qsort(times, trips, sizeof *times, ascending);
  return times[trips / 4];
}

static void answer(int peer) {
  char byte;
  for (int i = -not_counted; i < trips; ++i) {
    MPI_Recv(&byte, 1, MPI_BYTE, peer, 0, nodes, MPI_STATUS_IGNORE);
    MPI_Send(&byte, 1, MPI_BYTE, peer, 0, nodes);
  }
}

// Who meets this one in a round; itself where it has nobody to meet. `players`: even.
static int opponent(int player, int round, int players) {
  const int circle = players - 1;
  if (player == circle) return round;
  const int other = ((2 * round - player) % circle + circle) % circle;
  return other == player ? circle : other;
}

static void play(int peer, double* row) {
  if (self < peer) {
    row[peer] = one_way_us(peer);
    answer(peer);
  } else {
    answer(peer);
    row[peer] = one_way_us(peer);
  }
}

static void play_round(int round, double* row) {
  const int players = count + count % 2, peer = opponent(self, round, players);
  const bool plays = peer != self && peer < count;
  if (count > few_nodes) {
    if (plays) play(peer, row);
    return;
  }
  for (int first = 0; first < count; ++first) {
    if (plays && (self == first || peer == first) && opponent(first, round, players) > first) play(peer, row);
    MPI_Barrier(nodes);
  }
}

static void tell_name(char* name) {
  int length;
  if (pretended_node_size() > 0)
    snprintf(name, name_room, "n%d", self);
  else
    MPI_Get_processor_name(name, &length);
}

static void print_matrix(const char* names, const double* matrix) {
  for (int i = 0; i < count; ++i) printf("%s%s", i ? " " : "", names + (size_t)i * name_room);
  printf("\n");
  for (int i = 0; i < count; ++i) {
    printf("%s", names + (size_t)i * name_room);
    for (int j = 0; j < count; ++j) printf(" %.3f", matrix[(size_t)i * (size_t)count + (size_t)j]);
    printf("\n");
  }
}

static bool measure(void) {
  const size_t all = self == 0 ? (size_t)count : 0;
  char name[name_room] = "";
  double* row = calloc((size_t)count, sizeof *row);
  double* matrix = calloc(all * (size_t)count + 1, sizeof *matrix);
  char* names = calloc(all * name_room + 1, 1);
  const bool possible = row && matrix && names;
  if (possible) {
    for (int round = 0; round < count + count % 2 - 1; ++round) play_round(round, row);
    tell_name(name);
    MPI_Gather(name, name_room, MPI_CHAR, names, name_room, MPI_CHAR, 0, nodes);
    MPI_Gather(row, count, MPI_DOUBLE, matrix, count, MPI_DOUBLE, 0, nodes);
    if (self == 0) print_matrix(names, matrix);
  }
  free(row);
  free(matrix);
  free(names);
  return possible;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  form_nodes();
  if (nodes != MPI_COMM_NULL) {
    MPI_Comm_rank(nodes, &self);
    MPI_Comm_size(nodes, &count);
    if (!measure()) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_free(&nodes);
  }
  MPI_Finalize();
  return 0;
}
