#include "sim/train/checkpoint_seal.hpp"

#include "sim/support/sha256.hpp"

namespace mantissa::train {
namespace {

constexpr std::string_view no_digest = "0000000000000000000000000000000000000000000000000000000000000000";

}  // namespace

std::string seal_of(const std::vector<trace::TensorInfo>& tensors,
                    std::map<std::string, std::string> metadata, const trace::TensorSource& source) {
  metadata[std::string(digest_key)] = no_digest;
  const std::string header = trace::safetensors_header(tensors, metadata);
  Sha256 seal;
  seal.add(std::as_bytes(std::span(header)));
  std::vector<float> values;
  for (const trace::TensorInfo& tensor : tensors) {
    values.resize(tensor.elements());
    source(tensor, 0, values);
    seal.add(std::as_bytes(std::span(values)));
  }
  return seal.text();
}

std::string seal_of(const trace::Safetensors& file) {
  const std::string text = file.start();
  // Within another string of the header its quotes would be escaped.
  const std::string before = '"' + std::string(digest_key) + "\":\"";
  const std::size_t found = text.find(before);
  if (found == std::string::npos || text.size() - found < before.size() + no_digest.size()) return {};
  return file.hash_with(found + before.size(), std::as_bytes(std::span(no_digest)));
}

}  // namespace mantissa::train
