#include "domain/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace teson {
namespace {

constexpr char kHeader[] =
    "instance_type,vcpus,memory_gib,accelerator,accelerator_count,on_demand_usd_hour,spot_usd_hour\n";

TEST(InstanceCatalogue, BuiltinHoldsEveryTypeOfTheShippedFile) {
  const InstanceCatalogue catalogue = InstanceCatalogue::builtin();
  EXPECT_EQ(catalogue.size(), 187u);
  const CatalogueEntry* type = catalogue.find("c5.2xlarge");
  ASSERT_NE(type, nullptr);
  EXPECT_EQ(type->type.size, (Resources{8'000, 16 * 1024, 0}));
  EXPECT_EQ(type->type.on_demand_hour.micro_usd, 340'000);
  EXPECT_EQ(type->type.spot_hour.micro_usd, 149'600);
  EXPECT_EQ(type->interruption_band, "5-10%");
  EXPECT_EQ(catalogue.find("c5.2"), nullptr);
}

TEST(InstanceCatalogue, OnlyNvidiaAcceleratorsAreGpus) {
  const InstanceCatalogue catalogue = InstanceCatalogue::builtin();
  EXPECT_EQ(catalogue.find("p4d.24xlarge")->type.size.gpus, 8);
  EXPECT_EQ(catalogue.find("g4ad.16xlarge")->type.size.gpus, 0);
  EXPECT_EQ(catalogue.find("g4ad.16xlarge")->accelerators, 4);
  EXPECT_EQ(catalogue.find("trn1.32xlarge")->type.size.gpus, 0);
}

TEST(InstanceCatalogue, AnUnknownPriceIsSaidToBeUnknown) {
  const InstanceCatalogue catalogue = InstanceCatalogue::builtin();
  EXPECT_FALSE(catalogue.find("p5e.48xlarge")->price_known);
  const CatalogueEntry* b200 = catalogue.find("p6-b200.48xlarge");
  EXPECT_TRUE(b200->price_known);
  EXPECT_FALSE(b200->spot_price_known);
  EXPECT_EQ(b200->type.spot_hour, b200->type.on_demand_hour);
  EXPECT_EQ(b200->type.on_demand_hour.micro_usd, 113'933'000);
}

TEST(InstanceCatalogue, AFamilyIsSortedSmallestFirst) {
  const InstanceCatalogue catalogue = InstanceCatalogue::builtin();
  std::vector<std::string> names;
  for (const auto* entry : catalogue.family("m5")) names.push_back(entry->type.name);
  EXPECT_THAT(names, testing::ElementsAre("m5.large", "m5.xlarge", "m5.2xlarge", "m5.4xlarge", "m5.8xlarge",
                                          "m5.12xlarge", "m5.16xlarge", "m5.24xlarge"));
  EXPECT_TRUE(catalogue.family("m").empty());
}

TEST(InstanceCatalogue, NearNamesAreOffered) {
  const InstanceCatalogue catalogue = InstanceCatalogue::builtin();
  EXPECT_THAT(catalogue.near("m5.xlrge", 1), testing::ElementsAre("m5.xlarge"));
  EXPECT_THAT(catalogue.near("p4", 2), testing::Contains("p4d"));
}

TEST(InstanceCatalogue, PricesAreRoundedToMillionths) {
  const auto catalogue = InstanceCatalogue::parse(std::string(kHeader) + "x.large,0.5,1.5,,0,1.23456789,\r\n\n");
  ASSERT_TRUE(catalogue) << catalogue.error().message;
  const CatalogueEntry* type = catalogue->find("x.large");
  EXPECT_EQ(type->type.size, (Resources{500, 1536, 0}));
  EXPECT_EQ(type->type.on_demand_hour.micro_usd, 1'234'568);
}

TEST(InstanceCatalogue, DefectsNameTheLine) {
  const struct {
    const char* text;
    const char* said;
  } cases[] = {
      {"", "it is empty"},
      {"instance_type,vcpus\n", "no column memory_gib"},
      {"instance_type,vcpus,memory_gib\na.b,2\n", "line 2: 2 cells, but the header has 3"},
      {"instance_type,vcpus,memory_gib\na.b,two,4\n", "line 2: vcpus is \"two\""},
      {"instance_type,vcpus,memory_gib\na.b,1.,4\n", "line 2: vcpus is \"1.\""},
      {"instance_type,vcpus,memory_gib\na.b,-1,4\n", "line 2: vcpus is \"-1\""},
      {"instance_type,vcpus,memory_gib\na.b,0,4\n", "line 2: vcpus must be greater than 0"},
      {"instance_type,vcpus,memory_gib\na.b,1,\n", "line 2: memory_gib must be greater than 0"},
      {"instance_type,vcpus,memory_gib\n,1,1\n", "line 2: instance_type is empty"},
      {"instance_type,vcpus,memory_gib\na.b,1,1\na.b,1,1\n", "line 3: a.b was given before"},
  };
  for (const auto& c : cases) {
    const auto catalogue = InstanceCatalogue::parse(c.text);
    ASSERT_FALSE(catalogue) << c.text;
    EXPECT_THAT(catalogue.error().message, testing::HasSubstr(c.said));
  }
}

}  // namespace
}  // namespace teson
