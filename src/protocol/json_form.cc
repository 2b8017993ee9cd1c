#include "protocol/json_form.h"

namespace abacus::json_form {

boost::json::value to(const OfferRef& value) { return to(value->offer); }

}  // namespace abacus::json_form
