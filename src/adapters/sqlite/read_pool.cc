#include "adapters/sqlite/read_pool.h"

namespace teson::sqlite {

Result<Statement*> Reader::statement(const std::string& sql) {
  auto found = statements_.find(sql);
  if (found == statements_.end()) {
    auto prepared = connection_.prepare(sql);
    if (!prepared) return std::unexpected(prepared.error());
    found = statements_.emplace(sql, std::move(*prepared)).first;
  }
  found->second.reset();
  return &found->second;
}

ReadPool::Lease::~Lease() {
  if (reader_) pool_->give_back(std::move(reader_));
}

Result<ReadPool::Lease> ReadPool::borrow() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !closing_; });
    ++borrowed_;
    if (!idle_.empty()) {
      auto reader = std::move(idle_.back());
      idle_.pop_back();
      return Lease(*this, std::move(reader));
    }
  }
  auto connection = Connection::open(path_, Access::kReadOnly);
  if (!connection) {
    give_back(nullptr);
    return std::unexpected(connection.error());
  }
  return Lease(*this, std::make_unique<Reader>(std::move(*connection)));
}

void ReadPool::give_back(std::unique_ptr<Reader> reader) {
  std::lock_guard lock(mutex_);
  --borrowed_;
  if (reader && idle_.size() < kIdleKept) idle_.push_back(std::move(reader));
  changed_.notify_all();
}

}  // namespace teson::sqlite
