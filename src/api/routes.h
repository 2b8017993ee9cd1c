// The JSON API, version 1: which request calls what of the Service, and how the answer is written.
#pragma once

#include <functional>

#include "api/http.h"
#include "api/service.h"

namespace abacus {

/// The handler for HttpServer. `service` must outlive it; `wall_now` reads the clock.
HttpHandler make_api_handler(Service& service, std::function<WallTime()> wall_now);

/// The status that goes with an error ("invalid" is 400 and so on).
int http_status_of(ErrorCode code);

}  // namespace abacus
