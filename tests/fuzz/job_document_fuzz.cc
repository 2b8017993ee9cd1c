// A job document is refused with an error, or is a submission whose exact JSON form parses as JSON again.
#include <boost/json/serialize.hpp>
#include <cstdlib>
#include <string>

#include "api/job_document.h"
#include "api/json_text.h"
#include "protocol/json_form.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr abacus::WallTime kNow{1'800'000'000'000'000'000};
  auto json = abacus::parse_json({reinterpret_cast<const char*>(data), size});
  if (!json) return 0;
  auto request = abacus::parse_job_document(*json, kNow);
  if (!request) {
    if (request.error().code != abacus::ErrorCode::invalid || request.error().message.empty()) std::abort();
    return 0;
  }
  std::string text = boost::json::serialize(abacus::to_json(request->spec));
  if (!abacus::parse_json(text)) std::abort();
  return 0;
}
