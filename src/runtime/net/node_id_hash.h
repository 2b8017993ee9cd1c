// NodeIds as keys of unordered containers. Internal to runtime/net.
#pragma once

#include <cstring>

#include "base/ids.h"

namespace abacus {

struct NodeIdHash {
  std::size_t operator()(const NodeId& id) const {
    std::size_t hash;  // a key's bytes are random already
    std::memcpy(&hash, id.bytes.data(), sizeof hash);
    return hash;
  }
};

}  // namespace abacus
