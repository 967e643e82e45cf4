// Read-only connections for any number of threads: each borrower has one to itself, with its prepared statements.
//
// Thread: any. close_all() is for the writer after an I/O error: it waits for the borrowed ones (queries are short),
// closes them all and lets the pool go on, so that SQLite's recovery starts from the files alone.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "adapters/sqlite/connection.h"

namespace teson::sqlite {

class Reader {
 public:
  explicit Reader(Connection connection) : connection_(std::move(connection)) {}
  // Prepared once per connection; handed out reset.
  Result<Statement*> statement(const std::string& sql);

 private:
  Connection connection_;
  std::map<std::string, Statement> statements_;
};

class ReadPool {
 public:
  explicit ReadPool(std::string path) : path_(std::move(path)) {}

  class Lease {
   public:
    Lease(ReadPool& pool, std::unique_ptr<Reader> reader) : pool_(&pool), reader_(std::move(reader)) {}
    ~Lease();
    Lease(Lease&& other) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    Reader* operator->() const { return reader_.get(); }
    Reader& operator*() const { return *reader_; }

   private:
    ReadPool* pool_;
    std::unique_ptr<Reader> reader_;
  };

  Result<Lease> borrow();

  // Runs `reopen` while no reader is open and none can be opened.
  template <class Function>
  auto while_closed(Function reopen) {
    std::unique_lock lock(mutex_);
    closing_ = true;
    changed_.wait(lock, [this] { return borrowed_ == 0; });
    idle_.clear();
    auto result = reopen();
    closing_ = false;
    changed_.notify_all();
    return result;
  }

 private:
  void give_back(std::unique_ptr<Reader> reader);

  static constexpr size_t kIdleKept = 8;

  const std::string path_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Reader>> idle_;
  int borrowed_ = 0;
  bool closing_ = false;
};

}  // namespace teson::sqlite
