// Where things lie: data directories, sockets, the development market.
#pragma once

#include <string>

namespace abacus {

/// $ABACUS_HOME, or $XDG_DATA_HOME/abacus, or ~/.local/share/abacus.
std::string default_data_dir();

/// The folder of `abacus dev`, below the data directory.
std::string default_dev_dir();

/// The API's unix socket and token file of the agent on a data directory.
std::string socket_of(const std::string& data_dir);
std::string token_file_of(const std::string& data_dir);

/// `path` made absolute against `folder`, without "." and "..".
std::string absolute_path(const std::string& path, const std::string& folder);

std::string current_folder();

}  // namespace abacus
