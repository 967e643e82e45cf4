// The promises under faults: kill -9 at any point, a full disk, damaged files, two servers.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "adapters/journal_sqlite/journal_sqlite.h"
#include "adapters/journal_sqlite/journal_sqlite_testing.h"
#include "base/prng.h"
#include "contracts/journal_samples.h"

namespace teson {
namespace {

namespace fs = std::filesystem;
using contract::sample_finished;
using contract::sample_id;
using testing_support::open_journal;
using testing_support::TemporaryDirectory;

constexpr uint64_t kBatch = 7;

Snapshot keep_jobs(JournalContents contents) {
  Snapshot snapshot = std::move(contents.snapshot);
  for (const Fact& fact : contents.facts) {
    Job job;
    job.id = std::get<fact::JobSubmitted>(fact.body).id;
    job.order = snapshot.next_order++;
    job.state = job_state::Pending{};
    snapshot.jobs.push_back(job);
  }
  return snapshot;
}

JournalOptions with_snapshots() { return {keep_jobs, 50}; }

std::vector<Fact> batch_of(uint64_t number) {
  std::vector<Fact> facts;
  for (uint64_t i = 1; i <= kBatch; ++i) {
    facts.push_back({Instant{1}, fact::JobSubmitted{sample_id((number - 1) * kBatch + i), {}, {}}});
  }
  return facts;
}

// Appends batches from `next` on for ever, each with a job for the archive, and tells each on the pipe once it
// returned.
[[noreturn]] void append_until_killed(const std::string& path, uint64_t next, int acknowledge) {
  auto open = open_journal(path, with_snapshots());
  if (!open) _exit(3);
  while (true) {
    if (!open->journal->append(batch_of(next), std::vector{sample_finished(next)})) _exit(4);
    if (write(acknowledge, &next, sizeof next) != sizeof next) _exit(5);
    ++next;
  }
}

// Kills a child that appends after `acknowledged` batches and a random moment more. Returns the last number it told.
uint64_t run_and_kill(const std::string& path, uint64_t next, uint64_t batches, useconds_t more) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return 0;
  const pid_t child = fork();
  if (child == 0) append_until_killed(path, next, pipe_ends[1]);
  close(pipe_ends[1]);
  uint64_t last = 0;
  uint64_t number = 0;
  for (uint64_t i = 0; i < batches && read(pipe_ends[0], &number, sizeof number) == sizeof number; ++i) last = number;
  usleep(more);
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child failed by itself: " << WEXITSTATUS(status);
  while (read(pipe_ends[0], &number, sizeof number) == sizeof number) last = number;
  close(pipe_ends[0]);
  return last;
}

bool is_archived(const SqliteJournal& journal, uint64_t number) {
  const auto found = journal.history().find(std::vector{sample_id(number)});
  EXPECT_TRUE(found.has_value()) << found.error().message;
  return found && (number == 0 || found->size() == 1);
}

TEST(JournalFaults, KillNineAtAnyPointLosesNothingAcknowledgedAndKeepsNothingHalf) {
  TemporaryDirectory directory;
  Prng random(20, "kill points");
  uint64_t batches = 0;  // whole ones known to be in the journal
  for (int round = 0; round < 50; ++round) {
    const uint64_t told = run_and_kill(directory.path(), batches + 1, random.below(5), random.below(3'000));
    auto open = open_journal(directory.path());
    ASSERT_TRUE(open.has_value()) << open.error().message;
    auto contents = open->journal->load();
    ASSERT_TRUE(contents.has_value()) << contents.error().message;
    const Snapshot state = keep_jobs(std::move(*contents));
    ASSERT_EQ(state.jobs.size() % kBatch, 0u) << "half a batch, round " << round;
    const uint64_t found = state.jobs.size() / kBatch;
    ASSERT_GE(found, told) << "an acknowledged batch is gone, round " << round;
    for (uint64_t n = 1; n <= state.jobs.size(); ++n) ASSERT_EQ(state.jobs[n - 1].id, sample_id(n));
    // The archive is of the same transaction.
    ASSERT_TRUE(is_archived(*open->journal, found)) << "round " << round;
    ASSERT_FALSE(is_archived(*open->journal, found + 1)) << "round " << round;
    batches = found;
  }
  EXPECT_GT(batches, 50u);
}

class SmallDisk {
 public:
  SmallDisk() {
    if (mount("teson-test", directory_.path().c_str(), "tmpfs", 0, "size=2m") != 0) {
      ADD_FAILURE() << "mount: " << strerror(errno) << " (this test needs root)";
    }
  }
  ~SmallDisk() { umount2(directory_.path().c_str(), MNT_DETACH); }
  const std::string& path() const { return directory_.path(); }
  std::string filler() const { return path() + "/filler"; }
  // Takes all room but about `left` bytes.
  void fill(size_t left) {
    std::ofstream file(filler(), std::ios::binary);
    const auto space = fs::space(path());
    const std::string block(4096, 'x');
    for (uint64_t written = 0; written + left + 4096 <= space.available; written += 4096) file << block;
    file.flush();
  }

 private:
  TemporaryDirectory directory_;
};

TEST(JournalFaults, AFullDiskRefusesTheBatchKeepsTheRestAndGoesOnAfterwards) {
  SmallDisk disk;
  auto opened = open_journal(disk.path() + "/data");
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  std::optional<testing_support::OpenJournal> open(std::move(*opened));
  uint64_t batches = 0;
  for (; batches < 5; ++batches) ASSERT_TRUE(open->journal->append(batch_of(batches + 1), {}).has_value());
  disk.fill(20'000);
  Status last;
  while (batches < 1'000) {
    last = open->journal->append(batch_of(batches + 1), std::vector{sample_finished(batches + 1)});
    if (!last) break;
    ++batches;
  }
  ASSERT_FALSE(last.has_value());
  EXPECT_EQ(last.error().kind, ErrorKind::kUnavailable) << last.error().message;
  EXPECT_NE(last.error().message.find("free space"), std::string::npos) << last.error().message;
  auto contents = open->journal->load();
  ASSERT_TRUE(contents.has_value()) << contents.error().message;
  EXPECT_EQ(contents->facts.size(), batches * kBatch);
  // Still full: refused again, in the same words, and nothing of it is kept.
  last = open->journal->append(batch_of(batches + 1), std::vector{sample_finished(batches + 1)});
  ASSERT_FALSE(last.has_value());
  EXPECT_EQ(last.error().kind, ErrorKind::kUnavailable) << last.error().message;
  fs::remove(disk.filler());
  ASSERT_TRUE(open->journal->append(batch_of(batches + 1), {}).has_value());
  ++batches;
  open.reset();
  auto again = open_journal(disk.path() + "/data");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  contents = again->journal->load();
  ASSERT_TRUE(contents.has_value()) << contents.error().message;
  EXPECT_EQ(contents->facts.size(), batches * kBatch);
}

// hyperqueue#1059: zero blocks where a crash of the machine left them.
void zero_tail(const std::string& path, uint64_t bytes) {
  const uint64_t size = fs::file_size(path);
  fs::resize_file(path, size - bytes);
  fs::resize_file(path, size);
}

void make_journal(const std::string& path) {
  auto open = open_journal(path);
  ASSERT_TRUE(open.has_value()) << open.error().message;
  for (uint64_t n = 1; n <= 60; ++n) {
    ASSERT_TRUE(open->journal->append(batch_of(n), std::vector{sample_finished(n)}).has_value());
  }
}

void expect_damaged(const std::string& path) {
  const auto open = open_journal(path);
  ASSERT_FALSE(open.has_value());
  EXPECT_EQ(open.error().kind, ErrorKind::kIo);
  EXPECT_NE(open.error().message.find("damaged"), std::string::npos) << open.error().message;
  EXPECT_NE(open.error().message.find("backup"), std::string::npos) << open.error().message;
}

TEST(JournalFaults, ZeroBlocksAtTheEndOfTheDatabaseAreNoticed) {
  TemporaryDirectory directory;
  make_journal(directory.path());
  zero_tail(directory.path() + "/teson.db", 8192);
  expect_damaged(directory.path());
}

TEST(JournalFaults, ATruncatedDatabaseIsNoticed) {
  TemporaryDirectory directory;
  make_journal(directory.path());
  fs::resize_file(directory.path() + "/teson.db", fs::file_size(directory.path() + "/teson.db") / 2);
  expect_damaged(directory.path());
}

TEST(JournalFaults, AFileThatIsNoDatabaseIsNoticed) {
  TemporaryDirectory directory;
  std::ofstream(directory.path() + "/teson.db") << std::string(5000, 'z');
  expect_damaged(directory.path());
}

TEST(JournalFaults, ZeroBlocksAtTheEndOfTheWriteAheadLogLoseNothingCommitted) {
  TemporaryDirectory directory;
  // The log is only left behind by a process that did not close: so one is killed.
  const uint64_t told = run_and_kill(directory.path(), 1, 20, 0);
  ASSERT_GE(told, 20u);
  std::ofstream(directory.path() + "/teson.db-wal", std::ios::app) << std::string(16'384, '\0');
  auto open = open_journal(directory.path());
  ASSERT_TRUE(open.has_value()) << open.error().message;
  auto contents = open->journal->load();
  ASSERT_TRUE(contents.has_value()) << contents.error().message;
  EXPECT_GE(keep_jobs(std::move(*contents)).jobs.size(), told * kBatch);
}

TEST(JournalFaults, AfterAnIoErrorLoadReopensAndAppendingGoesOn) {
  TemporaryDirectory directory;
  auto open = open_journal(directory.path());
  ASSERT_TRUE(open.has_value());
  ASSERT_TRUE(open->journal->append(batch_of(1), {}).has_value());
  // A file size limit makes the write itself fail: EFBIG, which is no full disk.
  struct rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit small = before;
  small.rlim_cur = fs::file_size(directory.path() + "/teson.db-wal") + 100;
  signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status failed = open->journal->append(batch_of(2), {});
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, SIG_DFL);
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().kind, ErrorKind::kIo) << failed.error().message;
  EXPECT_FALSE(open->journal->append(batch_of(3), {}).has_value()) << "load() must come first";
  auto contents = open->journal->load();
  ASSERT_TRUE(contents.has_value()) << contents.error().message;
  EXPECT_EQ(contents->facts.size(), kBatch);
  ASSERT_TRUE(open->journal->append(batch_of(2), {}).has_value());
  EXPECT_EQ(open->journal->load()->facts.size(), 2 * kBatch);
}

}  // namespace
}  // namespace teson
