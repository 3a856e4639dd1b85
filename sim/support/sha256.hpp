// SHA-256: the name of a content, in caches and in reports that say what they were made of.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct evp_md_ctx_st;  // OpenSSL's

namespace mantissa {

// Piece by piece.
class Sha256 {
 public:
  Sha256();
  void add(std::span<const std::byte> bytes);
  std::string text() const;  // of all pieces so far

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

// 64 hexadecimal digits, those that `sha256sum` prints for a file with these bytes.
std::string sha256(std::span<const std::byte> bytes);
inline std::string sha256(std::string_view text) {
  return sha256(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace mantissa
