#include "serve/data_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/file_kind.h"

namespace teson {
namespace {

struct DataFile {
  const char* name;
  mode_t kind;
  const char* purpose;
};

constexpr DataFile kDataFiles[] = {
    {"audit.log", S_IFREG, "the record of who did what"},
    {"attempts", S_IFDIR, "the attempts' directories"},
    {"bootstrapped", S_IFREG, "the mark of its first start"},
    {"credentials", S_IFREG, "the access keys"},
    {"credentials.new", S_IFREG, "new access keys"},
    {"logs.db", S_IFREG, "clients' log groups"},
    {"logs.db-shm", S_IFREG, "clients' log groups"},
    {"logs.db-wal", S_IFREG, "clients' log groups"},
    {"server.json", S_IFREG, "its address"},
    {"server.json.new", S_IFREG, "its address"},
    {"snapshots", S_IFDIR, "the journal's snapshots"},
    {"teson.db", S_IFREG, "the journal"},
    {"teson.db-shm", S_IFREG, "the journal"},
    {"teson.db-wal", S_IFREG, "the journal"},
    {"users.json", S_IFREG, "the users"},
    {"users.json.new", S_IFREG, "the users"},
};

}  // namespace

Status check_data_files(const std::string& data) {
  for (const DataFile& file : kDataFiles) {
    const std::string path = data + "/" + file.name;
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0 || (info.st_mode & S_IFMT) == file.kind) continue;
    return invalid(fmt::format(
        "{} is {}, but the server keeps {} there, in {}: move it away, or choose another data directory with "
        "--data",
        path, file_kind(info.st_mode), file.purpose, file_kind(file.kind)));
  }
  return {};
}

void close_data_files(const std::string& data) {
  for (const char* name :
       {"teson.db", "teson.db-wal", "teson.db-shm", "logs.db", "logs.db-wal", "logs.db-shm", "snapshots", "audit.log",
        "audit.log.1", "audit.log.2", "audit.log.3", "audit.log.4", "server.log"}) {
    const std::string path = data + "/" + name;
    struct stat info{};
    if (::stat(path.c_str(), &info) == 0 && (info.st_mode & 07) != 0)
      (void)!::chmod(path.c_str(), info.st_mode & 07770);
  }
}

}  // namespace teson
