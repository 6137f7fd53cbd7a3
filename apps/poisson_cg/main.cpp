// Poisson's equation in the unit cube by conjugate gradients: see --help.
#include "poisson_cg/problem.hpp"
#include "poisson_cg/solver.hpp"
#include "poisson_cg/verification.hpp"
#include "shared/report.hpp"

namespace {

using namespace poisson;

struct Choices {
  int points = 64;
  Limits limits{1e-8, 10000};
  apps::Words solvers{"cg"}, halos{"neighbor"};
  apps::Forms forms;
};

void add_options(apps::CommandLine& line, Choices& choices) {
  line.number("--points", choices.points, 1, 4096, "points of the grid in each direction");
  line.words("--solver", choices.solvers, {"cg", "pipelined"},
             "with two sums per iteration, or one overlapped");
  line.words("--halo", choices.halos, {"neighbor", "alltoallv"}, "which collective exchanges the halo");
  line.real("--tolerance", choices.limits.tolerance, 1e-11, 0.1,
            "where to stop: residual to right-hand side");
  line.number("--iterations", choices.limits.iterations, 1, 1 << 30, "where to stop at the latest");
  choices.forms.add_to(line);
}

struct Method {
  std::string solver, halo;
  apps::Form form;
};

bool run(const Choices& choices, const Domain& domain, const Field& b, const Method& method) {
  Halo halo(domain, method.halo == "neighbor" ? Halo::By::neighbor : Halo::By::alltoallv);
  const auto solve = method.solver == "cg" ? conjugate_gradients : pipelined_conjugate_gradients;
  Solution found;
  const apps::Timing timing = apps::timed(domain.comm(), [&](apps::Stopwatch& communication) {
    System system(domain, halo, method.form, choices.forms.tests(), communication);
    found = solve(system, b, choices.limits);
  });
  const Verdict verdict = judge(domain, halo, b, found.x, choices.limits.tolerance);
  if (apps::rank_of(domain.comm()) == 0)
    apps::Report("poisson_cg", method.form, apps::ranks_of(domain.comm()), timing)
        .choice("solver", method.solver)
        .choice("halo", method.halo)
        .number("points", choices.points)
        .number("tests", choices.forms.tests())
        .result("iterations", found.iterations)
        .result("residual", verdict.residual)
        .result("error", verdict.error)
        .number("error_bound", verdict.bound)
        .print(verdict.right);
  return verdict.right;
}

bool run_all(const Choices& choices) {
  const Domain domain(MPI_COMM_WORLD, choices.points);
  const Field b = right_hand_side(domain);
  bool right = true;
  for (int i = 0; i < choices.forms.repeat(); ++i)
    for (const std::string& solver : choices.solvers)
      for (const std::string& halo : choices.halos)
        for (const apps::Form form : choices.forms.chosen())
          right = run(choices, domain, b, {solver, halo, form}) && right;
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  apps::CommandLine line("poisson_cg", "Poisson's equation in the unit cube by conjugate gradients");
  Choices choices;
  add_options(line, choices);
  return apps::run_program(argc, argv, line, [&] { return run_all(choices); });
}
