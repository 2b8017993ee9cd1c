// The contacts by which an agent finds back into the market after a restart.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "protocol/offer.h"

namespace abacus {

/// Reads DATA_DIR/contacts: one contact a line; none if there is no such file. Errors: `invalid` with the line's
/// number.
Result<std::vector<Contact>> load_contacts(const std::filesystem::path& data_dir);

/// Replaces the file as a whole. Errors: `internal`.
Status save_contacts(const std::filesystem::path& data_dir, const std::vector<Contact>& contacts);

}  // namespace abacus
