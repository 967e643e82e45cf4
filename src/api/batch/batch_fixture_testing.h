// The Batch face over a world in memory: what its tests have in common.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "api/batch/batch_world_testing.h"
#include "wire/uri.h"

namespace teson::batch {

class Batch : public testing::Test {
 protected:
  void SetUp() override { world_.set_up(); }

  void expect_refused(const Answer& answer, const std::string& said, int status = 400) {
    EXPECT_EQ(answer.status, status) << answer.body.dump();
    EXPECT_THAT(answer.error_type, testing::StartsWith(status == 400 ? "ClientException" : "ServerException"));
    EXPECT_THAT(answer.body.value("message", ""), testing::HasSubstr(said));
  }
  Answer tags(const std::string& method, const std::string& arn, const std::string& query = "",
              const Json& body = Json()) {
    return world_.send(method, "/v1/tags/" + wire::percent_encode(arn), query, body.is_null() ? "" : body.dump());
  }

  BatchWorld world_;
};

}  // namespace teson::batch
