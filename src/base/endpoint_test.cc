// Endpoints: text both ways, and what is refused.
#include "base/endpoint.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "base/prng.h"

namespace abacus {
namespace {

TEST(Endpoint, TextOfBothFamilies) {
  EXPECT_EQ(Endpoint::parse("127.0.0.1:7411").value().to_string(), "127.0.0.1:7411");
  EXPECT_EQ(Endpoint::parse("[::1]:7411").value().to_string(), "[::1]:7411");
  EXPECT_EQ(Endpoint::parse("[2001:db8::2]:65535").value().to_string(), "[2001:db8::2]:65535");
}

TEST(Endpoint, MappedAddressIsItsIpv4Address) {
  EXPECT_EQ(Endpoint::parse("[::ffff:10.1.2.3]:80").value(), Endpoint::parse("10.1.2.3:80").value());
}

RC_GTEST_PROP(Endpoint, RoundTrips, (std::uint64_t seed, std::uint16_t port, bool ipv4)) {
  Endpoint endpoint{{}, port};
  Prng(seed).fill(endpoint.address);
  if (ipv4) {
    std::fill_n(endpoint.address.begin(), 10, std::uint8_t{0});
    endpoint.address[10] = endpoint.address[11] = 0xff;
  }
  Result<Endpoint> back = Endpoint::parse(endpoint.to_string());
  RC_ASSERT(back.has_value());
  RC_ASSERT(*back == endpoint);
}

TEST(Endpoint, PortZeroMeansUnknown) {
  EXPECT_FALSE(Endpoint{}.known());
  EXPECT_FALSE(Endpoint::parse("127.0.0.1:0").value().known());
  EXPECT_TRUE(Endpoint::parse("127.0.0.1:1").value().known());
}

TEST(Endpoint, RefusesEverythingElseAndSaysWhatIsRight) {
  for (const char* text : {"", ":", ":80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:-1",
                           "127.0.0.1: 80", "127.0.0.1:80 ", "localhost:80", "256.0.0.1:80", "1.2.3:80", "::1:80",
                           "[::1]", "[::1", "[]:80", "[::1]x:80", "[127.0.0.1]:80"}) {
    Result<Endpoint> result = Endpoint::parse(text);
    ASSERT_FALSE(result.has_value()) << text;
    EXPECT_EQ(result.error().code, ErrorCode::invalid) << text;
    EXPECT_NE(result.error().message.find("want ADDRESS:PORT"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace abacus
