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

void check_aligned(const AlignedGroup& aligned) {
  if (aligned.group < 1 || aligned.group > Accumulator::max_k) {
    throw std::invalid_argument("an accumulator's group must be 1..2^24, not " +
                                std::to_string(aligned.group));
  }
  if (aligned.bits < 1 || aligned.bits > 64)
    throw std::invalid_argument("aligned bits must be 1..64, not " + std::to_string(aligned.bits));
}

[[noreturn]] void refuse_kind(Accumulator::Kind kind) {
  throw std::invalid_argument("accumulator kind " + std::to_string(static_cast<int>(kind)) +
                              " does not exist; allowed: plain, chunk, fused, aligned, kulisch");
}

}  // namespace

std::optional<AlignedGroup> AlignedGroup::parse(std::string_view text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const std::string_view after = text.substr(comma + 1);
  const std::size_t second = after.find(',');
  const std::optional<int> group = positive(text.substr(0, comma));
  const std::optional<int> bits = positive(after.substr(0, second));
  if (!group || !bits || *group > Accumulator::max_k || *bits > 64) return std::nullopt;
  if (second != std::string_view::npos && after.substr(second + 1) != "rne") return std::nullopt;
  return AlignedGroup{.group = *group, .bits = *bits, .nearest = second != std::string_view::npos};
}

std::string AlignedGroup::name() const {
  return "aligned:" + std::to_string(group) + "," + std::to_string(bits) + (nearest ? ",rne" : "");
}

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
    const std::optional<AlignedGroup> aligned = AlignedGroup::parse(tail);
    good = aligned.has_value();
    if (good) result.aligned = *aligned;
  }
  if (!good) {
    throw std::invalid_argument(
        "unknown accumulator option '" + std::string(kind) +
        "'; allowed: plain, chunk:G, fused:G, aligned:G,b or aligned:G,b,rne (b 1..64), kulisch, G 1..2^24");
  }
  result.check();
  return result;
}

std::optional<AlignedGroup> Accumulator::parse_inner(std::string_view text) {
  constexpr std::string_view head = "aligned:";
  if (text == "plain") return std::nullopt;
  std::optional<AlignedGroup> aligned;
  if (text.starts_with(head)) aligned = AlignedGroup::parse(text.substr(head.size()));
  if (!aligned) {
    throw std::invalid_argument("unknown inner accumulator '" + std::string(text) +
                                "'; allowed: plain, aligned:G,b or aligned:G,b,rne (b 1..64), G 1..2^24");
  }
  return aligned;
}

void append_chunk(Accumulator::Order order, std::size_t first, std::size_t end,
                  std::vector<std::size_t>& numbers) {
  switch (order) {
    case Accumulator::Order::ascending:
      for (std::size_t k = first; k < end; ++k) numbers.push_back(k);
      return;
    case Accumulator::Order::pairs:
      for (const std::size_t half : {0, 1}) {
        for (std::size_t k = first; k < end; ++k) {
          if ((k - first) / 2 % 2 == half) numbers.push_back(k);
        }
      }
      return;
  }
  name_of(order);  // refuses an order that does not exist
}

Accumulator::Order parse_order(std::string_view text) {
  for (const Accumulator::Order order : {Accumulator::Order::ascending, Accumulator::Order::pairs}) {
    if (text == name_of(order)) return order;
  }
  throw std::invalid_argument("unknown order '" + std::string(text) + "'; allowed: ascending, pairs");
}

std::string_view name_of(Accumulator::Order order) {
  switch (order) {
    case Accumulator::Order::ascending:
      return "ascending";
    case Accumulator::Order::pairs:
      return "pairs";
  }
  throw std::invalid_argument("order " + std::to_string(static_cast<int>(order)) +
                              " does not exist; allowed: ascending, pairs");
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
      return aligned.name();
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
      return group;
    case Kind::aligned:
      return aligned.group;
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
      return rounding.stochastic() || (!inner && inner_rounding.stochastic());
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

std::string Accumulator::inner_name() const { return inner ? inner->name() : "plain"; }

std::string Accumulator::name() const {
  std::string text = format.name() + " " + rounding.name() + " " + kind_name();
  if (inner) text += " of " + inner_format.name() + " " + inner->name();
  if (order != Order::ascending) text += " in " + std::string(name_of(order));
  return text;
}

bool exact_in_fp32(const Format& format) {
  return format.min_quantum() >= formats::fp32.min_quantum() &&
         to_double(format.max_code(), format) <= static_cast<double>(std::numeric_limits<float>::max());
}

void Accumulator::check() const {
  if (group < 1 || group > max_k) {
    throw std::invalid_argument("an accumulator's group must be 1..2^24, not " + std::to_string(group));
  }
  kind_name();  // refuses a kind that does not exist
  if (kind == Kind::aligned) check_aligned(aligned);
  if (inner) {
    if (kind != Kind::chunk)
      throw std::invalid_argument("an inner accumulator belongs to chunk:G, not to " + kind_name());
    check_aligned(*inner);
  }
  name_of(order);  // refuses an order that does not exist
  if (order != Order::ascending && !inner) {
    throw std::invalid_argument("an order of products belongs to chunk:G with an aligned inner accumulator");
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
