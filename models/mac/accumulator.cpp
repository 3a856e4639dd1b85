#include "models/mac/accumulator.hpp"

#include <bit>
#include <charconv>
#include <limits>
#include <optional>
#include <stdexcept>

#include "models/format/exact.hpp"

namespace mantissa {
namespace {

std::optional<int> positive(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty() || value < 1)
    return std::nullopt;
  return value;
}

[[noreturn]] void refuse_kind(Accumulator::Kind kind) {
  throw std::invalid_argument("accumulator kind " + std::to_string(static_cast<int>(kind)) +
                              " does not exist; allowed: plain, chunk, fused, aligned, kulisch");
}

}  // namespace

Accumulator Accumulator::parse(std::string_view kind, const Format& format, Rounding rounding) {
  Accumulator result;
  result.format = result.inner_format = format;
  result.rounding = result.inner_rounding = rounding;
  const std::size_t colon = kind.find(':');
  const std::string_view head = kind.substr(0, colon);
  const std::string_view tail = colon == std::string_view::npos ? std::string_view{} : kind.substr(colon + 1);
  bool good = false;
  if (head == "plain" || head == "kulisch") {
    result.kind = head == "plain" ? Kind::plain : Kind::kulisch;
    good = colon == std::string_view::npos;
  } else if (head == "chunk" || head == "fused") {
    result.kind = head == "chunk" ? Kind::chunk : Kind::fused;
    const std::optional<int> group = positive(tail);
    good = group && *group <= max_k;
    if (good) result.group = *group;
  } else if (head == "aligned") {
    result.kind = Kind::aligned;
    const std::size_t comma = tail.find(',');
    const std::optional<int> group = positive(tail.substr(0, comma));
    const std::optional<int> bits =
        comma == std::string_view::npos ? std::nullopt : positive(tail.substr(comma + 1));
    good = group && bits && *group <= max_k && *bits <= 64;
    if (good) {
      result.group = *group;
      result.aligned_bits = *bits;
    }
  }
  if (!good) {
    throw std::invalid_argument(
        "unknown accumulator option '" + std::string(kind) +
        "'; allowed: plain, chunk:G, fused:G, aligned:G,b (b 1..64), kulisch, G 1..2^24");
  }
  result.check();
  return result;
}

std::string Accumulator::kind_name() const {
  switch (kind) {
    case Kind::plain:
      return "plain";
    case Kind::chunk:
      return "chunk:" + std::to_string(group);
    case Kind::fused:
      return "fused:" + std::to_string(group);
    case Kind::aligned:
      return "aligned:" + std::to_string(group) + "," + std::to_string(aligned_bits);
    case Kind::kulisch:
      return "kulisch";
  }
  refuse_kind(kind);
}

std::int64_t Accumulator::group_of(std::int64_t k) const {
  switch (kind) {
    case Kind::plain:
      return 1;
    case Kind::chunk:
    case Kind::fused:
    case Kind::aligned:
      return group;
    case Kind::kulisch:
      return k;
  }
  refuse_kind(kind);
}

std::int64_t Accumulator::roundings(std::int64_t k) const {
  if (kind == Kind::kulisch) return 1;  // also of no products
  const std::int64_t shared = group_of(k);
  return (k + shared - 1) / shared;
}

bool Accumulator::stochastic() const {
  switch (kind) {
    case Kind::plain:
    case Kind::fused:
    case Kind::kulisch:
      return rounding.stochastic();
    case Kind::chunk:
      return rounding.stochastic() || inner_rounding.stochastic();
    case Kind::aligned:
      return false;
  }
  refuse_kind(kind);
}

bool Accumulator::is_fp32_rne() const {
  return kind == Kind::plain && format == formats::fp32 && rounding == Rounding::rne();
}

int product_span(const Format& a, const Format& b) {
  return a.max_exponent() + b.max_exponent() + 2 - (a.min_quantum() + b.min_quantum());
}

int bits_to_count(std::uint64_t n) { return n <= 1 ? 0 : static_cast<int>(std::bit_width(n - 1)); }

int Accumulator::state_bits(int span, std::int64_t k) const {
  switch (kind) {
    case Kind::plain:
    case Kind::fused:
    case Kind::aligned:
      return format.bits();
    case Kind::chunk:
      return format.bits() + inner_format.bits();
    case Kind::kulisch:
      return span + bits_to_count(static_cast<std::uint64_t>(k)) + 1;
  }
  refuse_kind(kind);
}

std::string Accumulator::name() const { return format.name() + " " + rounding.name() + " " + kind_name(); }

bool exact_in_fp32(const Format& format) {
  return format.min_quantum() >= formats::fp32.min_quantum() &&
         to_double(format.max_code(), format) <= static_cast<double>(std::numeric_limits<float>::max());
}

void Accumulator::check() const {
  if (group < 1 || group > max_k) {
    throw std::invalid_argument("an accumulator's group must be 1..2^24, not " + std::to_string(group));
  }
  kind_name();  // refuses a kind that does not exist
  if (kind == Kind::aligned && (aligned_bits < 1 || aligned_bits > 64)) {
    throw std::invalid_argument("aligned bits must be 1..64, not " + std::to_string(aligned_bits));
  }
  rounding.check();
  inner_rounding.check();
  for (const Format& each : {format, inner_format}) {
    if (!exact_in_fp32(each)) {
      throw std::invalid_argument("accumulator format " + each.name() +
                                  " reaches beyond fp32; choose a smaller range");
    }
  }
}

}  // namespace mantissa
