// Runs a blocking function on a pool and comes back to where one was.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace abacus {

/// `co_await run_on(pool, [&] { return hash(file); })`. The function runs to its end even if the awaiting coroutine is
/// cancelled, which takes effect afterwards; it must not throw. What it refers to must live until then (locals of the
/// awaiting coroutine do), and the pool must be joined before the context of the awaiting executor is destroyed.
///
/// Captures must own nothing: g++ 12 destroys what a temporary closure owns twice within a co_await expression.
template <class Function>
boost::asio::awaitable<std::invoke_result_t<Function&>> run_on(boost::asio::any_io_executor pool, Function function) {
  static_assert(std::is_trivially_destructible_v<Function>, "capture by reference");
  namespace asio = boost::asio;
  auto result = std::make_shared<std::optional<std::invoke_result_t<Function&>>>();
  auto start = [&](auto handler) {
    auto home = asio::get_associated_executor(handler);
    auto work = asio::make_work_guard(home);
    asio::post(pool, [result, home, work = std::move(work), function = std::move(function),
                      handler = std::move(handler)]() mutable {
      result->emplace(function());
      asio::post(home, std::move(handler));
    });
  };
  co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(start, asio::use_awaitable);
  co_return std::move(**result);
}

}  // namespace abacus
