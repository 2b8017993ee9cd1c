// The one JSON form that needs more than its header: an offer by reference.
#include "protocol/json_form.h"

namespace abacus::json_form {

boost::json::value to(const OfferRef& value) { return to(value->offer); }

}  // namespace abacus::json_form
