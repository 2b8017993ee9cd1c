// Joining an organisation over the network: a new node shows a token and proves its key, the authority signs it in.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <string>

#include "runtime/net/authority.h"
#include "runtime/net/transport.h"

namespace abacus {

struct EnrolmentServerOptions {
  /// Told to joiners as their first contact. Unknown: they use the address at which they reached this agent.
  Endpoint advertise;
};

/// Lets nodes join through this transport's port. For agents that hold the authority only; call at most once.
/// Everybody may connect for this, so: one request of 16 KiB a connection within the handshake timeout, 16 connections
/// at once, and after 5 failed attempts in a minute from one address, or 100 from all, further ones are refused unread
/// until the minute is over. Each refusal is logged. Attempts write the authority's files on the transport's thread,
/// some milliseconds each.
void serve_enrolment(Transport& transport, OrgAuthority authority, EnrolmentServerOptions options = {});

/// What a joiner receives. Checked: both certificates belong to the token's organisation, and `node` is for its key.
struct Enrolment {
  Certificate node;
  Certificate organisation;
  NodeId contact_node;
  Endpoint contact;
};

/// Joins at an agent of the token's organisation that holds its authority. `host` is a name or an address. Only the
/// values of `requested` count. Nothing is written; see save_certificates.
/// Errors: `unavailable` (name unknown, nobody there), `denied` (the server is not of the token's organisation; or the
/// token is unknown, expired, used up), `unsupported` (it holds no authority), `exhausted` (too many attempts),
/// `invalid` (attributes), `corrupt` (its answer), `timed_out` after `timeout`.
boost::asio::awaitable<Result<Enrolment>> enrol(boost::asio::io_context& io, std::string host, std::uint16_t port,
                                                EnrolmentToken token, KeyPair key, NodeAttributes requested,
                                                Duration timeout = seconds(15));

/// enrol for a program that has nothing else to do: blocks the calling thread.
Result<Enrolment> enrol_and_wait(const std::string& host, std::uint16_t port, const EnrolmentToken& token,
                                 const KeyPair& key, const NodeAttributes& requested, Duration timeout = seconds(15));

}  // namespace abacus
