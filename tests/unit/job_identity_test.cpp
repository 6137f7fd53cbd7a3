#include "engine/job_identity.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "base/clock.hpp"
#include "base/process_identity.hpp"

namespace hocket::engine {
namespace {

constexpr const char* variables[] = {"HOCKET_JOB",
                                     "HOCKET_LAUNCHER_PID",
                                     "PMIX_NAMESPACE",
                                     "OMPI_COMM_WORLD_LOCAL_RANK",
                                     "OMPI_COMM_WORLD_LOCAL_SIZE",
                                     "PMIX_SERVER_URI2",
                                     "PMIX_SERVER_URI41",
                                     "MPI_LOCALRANKID",
                                     "MPI_LOCALNRANKS",
                                     "PMI_FD",
                                     "PMI_PORT",
                                     "PMI_SPAWNED",
                                     "SLURM_JOB_ID",
                                     "SLURM_STEP_ID",
                                     "SLURM_LOCALID",
                                     "SLURM_NODEID",
                                     "SLURM_STEP_TASKS_PER_NODE",
                                     "SLURM_TASKS_PER_NODE",
                                     "PMIX_SERVER_URI3",
                                     "PMIX_SERVER_URI4",
                                     "PMIX_SERVER_URI21"};

struct Answer {
  std::optional<JobIdentity> job;
  std::string why_not;
};

Answer ask(const std::map<std::string, std::string>& environment, const std::string& own_launcher = {}) {
  for (const char* name : variables) unsetenv(name);
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  Answer answer;
  answer.job = identify_job(answer.why_not, own_launcher);
  for (const char* name : variables) unsetenv(name);
  return answer;
}

std::string summary(const Answer& answer) {
  if (!answer.job) return answer.why_not;
  return answer.job->source + " " + std::to_string(answer.job->local_rank) + "/" +
         std::to_string(answer.job->local_size);
}

TEST(JobIdentity, without_a_launcher_there_is_none) {
  EXPECT_EQ(summary(ask({})).find("no launcher"), 0u);
}

std::map<std::string, std::string> open_mpi(std::string name_space,
                                            std::string server = "1.0;tcp4://127.0.0.1:5") {
  return {{"PMIX_NAMESPACE", std::move(name_space)},
          {"PMIX_SERVER_URI41", std::move(server)},
          {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
          {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}};
}

TEST(JobIdentity, open_mpi_tells_by_pmix) {
  const Answer answer = ask(open_mpi("prterun-n01-77@1"));
  EXPECT_EQ(summary(answer), "PMIx 1/4");
  EXPECT_NE(answer.job->key.find("user " + std::to_string(geteuid()) + " "), std::string::npos);
}

TEST(JobIdentity, spawned_processes_and_other_launches_are_other_jobs) {
  const std::string key = ask(open_mpi("1203044353")).job->key;
  EXPECT_EQ(key, ask(open_mpi("1203044353")).job->key);
  EXPECT_NE(key, ask(open_mpi("1203044354")).job->key);
  EXPECT_NE(key, ask(open_mpi("1203044353", "1.0;tcp4://127.0.0.1:6")).job->key);
}

TEST(JobIdentity, hydra_is_known_by_the_other_end_of_its_socket) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const Answer answer =
      ask({{"MPI_LOCALRANKID", "2"}, {"MPI_LOCALNRANKS", "3"}, {"PMI_FD", std::to_string(ends[0])}});
  EXPECT_EQ(summary(answer), "hydra 2/3");
  EXPECT_NE(answer.job->key.find("proxy " + std::to_string(getpid()) + ":"), std::string::npos)
      << answer.job->key;
  close(ends[0]);
  close(ends[1]);
}

TEST(JobIdentity, hydra_by_port_or_by_our_launcher) {
  std::map<std::string, std::string> environment = {{"MPI_LOCALRANKID", "0"}, {"MPI_LOCALNRANKS", "2"}};
  EXPECT_EQ(summary(ask(environment)), "hydra: no PMI_FD, PMI_PORT or HOCKET_LAUNCHER_PID tells the job");
  environment["HOCKET_LAUNCHER_PID"] = "44:123";
  EXPECT_NE(ask(environment).job->key.find("launcher 44:123"), std::string::npos);
  environment["PMI_PORT"] = "n01:3456";
  EXPECT_NE(ask(environment).job->key.find("port n01:3456"), std::string::npos);
  environment["PMI_SPAWNED"] = "1";
  EXPECT_EQ(summary(ask(environment)), "hydra: started by MPI_Comm_spawn");
}

TEST(JobIdentity, a_job_inside_a_job_of_another_mpi_is_told_by_its_own_launcher) {
  std::map<std::string, std::string> environment = open_mpi("prterun-n01-77@1");
  environment.insert({{"MPI_LOCALRANKID", "2"}, {"MPI_LOCALNRANKS", "3"}, {"PMI_PORT", "n01:3456"}});
  EXPECT_EQ(summary(ask(environment, "hydra")), "hydra 2/3");
  EXPECT_EQ(summary(ask(environment, "PMIx")), "PMIx 1/4");
  environment.erase("MPI_LOCALRANKID");
  EXPECT_EQ(summary(ask(environment, "hydra")), "PMIx 1/4");
}

std::map<std::string, std::string> slurm(std::string tasks, std::string node, std::string local = "1") {
  return {{"SLURM_JOB_ID", "99"},
          {"SLURM_STEP_ID", "3"},
          {"SLURM_LOCALID", std::move(local)},
          {"SLURM_NODEID", std::move(node)},
          {"SLURM_STEP_TASKS_PER_NODE", std::move(tasks)}};
}

TEST(JobIdentity, slurm_tells_tasks_run_length_encoded) {
  EXPECT_EQ(summary(ask(slurm("4(x2),3", "0"))), "slurm 1/4");
  EXPECT_EQ(summary(ask(slurm("4(x2),3", "1"))), "slurm 1/4");
  EXPECT_EQ(summary(ask(slurm("4(x2),3", "2"))), "slurm 1/3");
  EXPECT_EQ(summary(ask(slurm("16", "0", "15"))), "slurm 15/16");
  for (const char* wrong : {"4(x2),3", "x", "(x2)", "4(x", "4(x)", "4(xx2)", ",", "4()"})
    EXPECT_EQ(summary(ask(slurm(wrong, "9"))), "slurm: the number of local ranks cannot be read") << wrong;
}

TEST(JobIdentity, the_launcher_inside_the_batch_job_comes_first) {
  auto environment = slurm("8", "0");
  environment.merge(open_mpi("1"));
  EXPECT_EQ(summary(ask(environment)), "PMIx 1/4");
}

TEST(JobIdentity, by_hand_comes_before_all) {
  auto environment = open_mpi("1");
  environment["HOCKET_JOB"] = "a:key:0:2";
  EXPECT_EQ(summary(ask(environment)), "HOCKET_JOB 0/2");
  EXPECT_NE(ask(environment).job->key.find("a:key"), std::string::npos);
  for (const char* wrong : {"key", "key:1", ":0:1", "key:a:2", "key:0:", "key:2:2", "key:-1:2", ":", "::"})
    EXPECT_FALSE(ask({{"HOCKET_JOB", wrong}}).job) << wrong;
}

TEST(JobIdentity, what_cannot_be_is_refused) {
  auto environment = open_mpi("1");
  environment["OMPI_COMM_WORLD_LOCAL_RANK"] = "4";
  EXPECT_EQ(summary(ask(environment)), "PMIx: the local rank is not below the number of local ranks");
  environment["OMPI_COMM_WORLD_LOCAL_RANK"] = "1x";
  EXPECT_EQ(summary(ask(environment)), "PMIx: the local rank cannot be read");
}

TEST(ProcessIdentity, start_time_is_the_systems_and_none_for_the_dead) {
  std::ifstream file("/proc/self/stat");
  std::string text;
  std::getline(file, text);
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string field;
  for (int number = 3; number <= 22; ++number) fields >> field;
  EXPECT_EQ(std::to_string(start_time_of(getpid())), field);

  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_EQ(start_time_of(child), 0u);  // a zombie
  waitpid(child, nullptr, 0);
  EXPECT_EQ(start_time_of(child), 0u);
}

TEST(ProcessIdentity, tells_who_runs_from_who_has_been_stopped) {
  const Activity before = activity_of(getpid());
  EXPECT_EQ(before.state, 'R');
  const std::uint64_t begun = monotonic_ns();
  while (activity_of(getpid()).ran_ns == before.ran_ns && monotonic_ns() - begun < 20'000'000'000) {
  }
  EXPECT_GT(activity_of(getpid()).ran_ns, before.ran_ns);

  const pid_t child = fork();
  if (child == 0) {
    raise(SIGSTOP);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  EXPECT_EQ(activity_of(child).state, 'T');
  kill(child, SIGKILL);
  while (activity_of(child).state != '\0' && monotonic_ns() - begun < 20'000'000'000) {
  }
  EXPECT_EQ(activity_of(child).state, '\0');  // a zombie
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(activity_of(child).state, '\0');
}

}  // namespace
}  // namespace hocket::engine
