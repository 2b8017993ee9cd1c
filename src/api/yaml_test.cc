// YAML as JSON: decimals stay exact, and neither depth nor aliases make it large.
#include "api/yaml.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace abacus {
namespace {

TEST(Yaml, KeepsDecimalsExactAndIsBounded) {
  auto json = json_of_yaml("a: 0.1\nb: 12\nc: true\nd: '12'\ne: [x, ~]\n");
  ASSERT_TRUE(json);
  EXPECT_EQ(boost::json::serialize(*json), R"({"a":"0.1","b":12,"c":true,"d":"12","e":["x",null]})");
  EXPECT_FALSE(json_of_yaml("a: 1\na: 2\n"));
  EXPECT_FALSE(json_of_yaml("a: [1,"));
  EXPECT_FALSE(json_of_yaml(std::string(40, '[') + std::string(40, ']')));
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 8; ++i) {
    bomb += fmt::format("a{0}: &a{0} [*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1}]\n", i, i - 1);
  }
  EXPECT_FALSE(json_of_yaml(bomb));
}

}  // namespace
}  // namespace abacus
