#include "api/batch/list_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace teson::batch {
namespace {

using testing::HasSubstr;

const Arns kArns("us-east-1", "123456789012");

Result<ListQuery> parse(const Json& changes) {
  Json body = {{"jobQueue", "main"}};
  body.update(changes);
  return parse_list(body, kArns);
}

Json filter(const char* name, Json values) {
  return {{"filters", Json::array({{{"name", name}, {"values", std::move(values)}}})}};
}

Job job(uint64_t order, const char* name = "Train", JobState state = job_state::Running{}) {
  Job out;
  out.id = JobId{{order, order}};
  out.order = order;
  out.spec.name = name;
  out.spec.queue = "main";
  out.spec.definition = "digits";
  out.spec.definition_revision = 2;
  out.created = Instant::from_millis(1'000'000);
  out.state = std::move(state);
  return out;
}

bool selects(const Json& changes, const Job& candidate) { return matches(parse(changes).value(), candidate); }

TEST(ListQuery, WithoutStatusOnlyRunningJobs) {
  EXPECT_TRUE(selects(Json::object(), job(1)));
  EXPECT_FALSE(selects(Json::object(), job(1, "a", job_state::Runnable{})));
  EXPECT_FALSE(wants_history(parse(Json::object()).value()));
  EXPECT_TRUE(selects({{"jobStatus", "FAILED"}}, job(1, "a", job_state::Failed{})));
  const auto failed = parse({{"jobStatus", "FAILED"}}).value();
  EXPECT_TRUE(wants_history(failed));
  EXPECT_EQ(history_query(failed, 7, 3).succeeded, false);
  EXPECT_EQ(history_query(failed, 7, 3).order_below, 7u);
}

TEST(ListQuery, AFilterSelectsEveryStatus) {
  const Json by_name = filter("JOB_NAME", {"train"});
  EXPECT_TRUE(selects(by_name, job(1, "TRAIN", job_state::Failed{})));
  EXPECT_FALSE(selects(by_name, job(1, "train2")));
  EXPECT_TRUE(selects(filter("JOB_NAME", {"TR*"}), job(1)));
  EXPECT_TRUE(selects(filter("JOB_NAME", {"*"}), job(1)));
  EXPECT_FALSE(selects(filter("JOB_NAME", {"T*n"}), job(1)));
  Json with_status = by_name;
  with_status["jobStatus"] = "RUNNABLE";
  EXPECT_TRUE(selects(with_status, job(1)));
}

TEST(ListQuery, ByDefinition) {
  EXPECT_TRUE(selects(filter("JOB_DEFINITION", {"digits"}), job(1)));
  EXPECT_FALSE(selects(filter("JOB_DEFINITION", {"Digits"}), job(1)));
  EXPECT_TRUE(selects(filter("JOB_DEFINITION", {"dig*"}), job(1)));
  EXPECT_FALSE(selects(filter("JOB_DEFINITION", {"dig"}), job(1)));
  EXPECT_TRUE(selects(filter("JOB_DEFINITION", {kArns.definition("digits", 2)}), job(1)));
  EXPECT_FALSE(selects(filter("JOB_DEFINITION", {kArns.definition("digits", 1)}), job(1)));
}

TEST(ListQuery, ByTimeInWholeMilliseconds) {
  Job later = job(1);
  later.created = later.created + Duration{500};  // shown as the same millisecond
  EXPECT_FALSE(selects(filter("AFTER_CREATED_AT", {"1000000"}), later));
  EXPECT_TRUE(selects(filter("AFTER_CREATED_AT", {"999999"}), later));
  EXPECT_FALSE(selects(filter("BEFORE_CREATED_AT", {"1000000"}), later));
  EXPECT_TRUE(selects(filter("BEFORE_CREATED_AT", {"1000001"}), later));
}

TEST(ListQuery, BadRequestsAreRefused) {
  const struct {
    Json changes;
    const char* said;
  } cases[] = {
      {{{"jobQueue", nullptr}}, "'jobQueue'"},
      {{{"jobStatus", "DONE"}}, "'jobStatus'"},
      {{{"maxResults", 0}}, "'maxResults'"},
      {{{"maxResults", 101}}, "'maxResults'"},
      {{{"nextToken", "abc"}}, "'nextToken'"},
      {{{"nextToken", make_token("jobs", "x")}}, "'nextToken' is damaged"},
      {{{"nextToken", make_token("jobQueues", "7")}}, "'nextToken'"},
      {{{"arrayJobId", "a"}}, "only one of 'jobQueue' and 'arrayJobId'"},
      {{{"jobQueue", nullptr}, {"arrayJobId", "a"}}, "Job \"a\" does not exist"},
      {{{"jobQueue", nullptr},
        {"arrayJobId", "7c9e6679-7425-40de-944b-e07fc1f90ae7"},
        {"nextToken", make_token("jobs", "7")}},
       "'nextToken'"},
      {{{"jobQueue", nullptr},
        {"arrayJobId", "7c9e6679-7425-40de-944b-e07fc1f90ae7"},
        {"nextToken", make_token("children", "10000")}},
       "'nextToken' is damaged"},
      {{{"multiNodeJobId", "a"}}, "multi-node jobs are not supported"},
      {filter("JOB_COLOUR", {"x"}), "filters[0].name"},
      {filter("JOB_NAME", {"x", "y"}), "filters[0].values"},
      {filter("JOB_NAME", Json::array()), "filters[0].values"},
      {filter("AFTER_CREATED_AT", {"yesterday"}), "milliseconds"},
      {filter("AFTER_CREATED_AT", {"99999999999999999999"}), "milliseconds"},
      {filter("SHARE_IDENTIFIER", {""}), "filters[0].values"},
      {{{"filters", Json(2, {{"name", "JOB_NAME"}, {"values", {"x"}}})}}, "only one"},
  };
  for (const auto& c : cases) {
    const auto query = parse(c.changes);
    ASSERT_FALSE(query) << c.changes.dump();
    EXPECT_THAT(query.error().message, HasSubstr(c.said));
  }
  EXPECT_TRUE(parse({{"maxResults", 1}}));
  EXPECT_TRUE(parse({{"maxResults", 100}}));
  EXPECT_TRUE(parse({{"nextToken", ""}}));
}

TEST(MergedPage, NewestFirstAndNoJobTwice) {
  std::vector<JobView> live = {{job(9), "waits"}, {job(6), ""}, {job(3), ""}};
  std::vector<Job> finished = {job(8), job(6, "done", job_state::Succeeded{}), job(1)};
  ListPage page = merged_page(live, finished, 3);
  ASSERT_EQ(page.jobs.size(), 3u);
  EXPECT_EQ(page.jobs[0].job.order, 9u);
  EXPECT_EQ(page.jobs[1].job.order, 8u);
  EXPECT_EQ(page.jobs[2].job.spec.name, "done");
  ASSERT_TRUE(page.next_token);
  EXPECT_EQ(parse({{"nextToken", *page.next_token}})->order_below, 6u);

  page = merged_page(live, finished, 5);
  EXPECT_EQ(page.jobs.size(), 5u);
  EXPECT_FALSE(page.next_token);  // five jobs: nothing follows
}

TEST(Arns, AreReadBackByKind) {
  const JobId id{{1, 2}};
  EXPECT_EQ(std::get<JobId>(kArns.resource(kArns.job(id)).value()), id);
  EXPECT_EQ(std::get<QueueRef>(kArns.resource(kArns.queue("q")).value()).name, "q");
  EXPECT_EQ(std::get<EnvironmentRef>(kArns.resource(kArns.environment("e")).value()).name, "e");
  const auto definition = std::get<DefinitionRef>(kArns.resource(kArns.definition("d", 4)).value());
  EXPECT_EQ(definition.name, "d");
  EXPECT_EQ(definition.revision, 4);
  for (const char* bad :
       {"", "q", "arn:aws:batch:us-east-1:123456789012:scheduling-polity/x",
        "arn:aws:batch:us-east-1:123456789012:job/x", "arn:aws:batch:us-east-1:123456789012:job-definition/d",
        "arn:aws:batch:us-east-2:123456789012:job-queue/q", "arn:aws:batch:us-east-1:000000000000:job-queue/q",
        "arn:aws:s3:::bucket"}) {
    EXPECT_FALSE(kArns.resource(bad)) << bad;
  }
}

}  // namespace
}  // namespace teson::batch
