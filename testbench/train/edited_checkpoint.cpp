#include "testbench/train/edited_checkpoint.hpp"

#include <map>
#include <string>

#include "sim/trace/safetensors_writer.hpp"
#include "sim/train/checkpoint_seal.hpp"

namespace mantissa::train::test {

void edit_checkpoint(const std::filesystem::path& path, const std::function<void(nlohmann::json&)>& change) {
  const trace::Safetensors file(path);
  std::map<std::string, std::string> metadata = file.metadata();
  std::string& text = metadata.at("mantissa.checkpoint");
  nlohmann::json json = nlohmann::json::parse(text);
  change(json);
  text = json.dump();
  const auto source = [&](const trace::TensorInfo& tensor, std::uint64_t first, std::span<float> values) {
    file.values(*file.find(tensor.name), first, values);
  };
  metadata[std::string(digest_key)] = seal_of(file.tensors(), metadata, source);
  const std::string draft = path.string() + ".edited";
  trace::write_safetensors(draft, file.tensors(), metadata, source);
  std::filesystem::rename(draft, path);
}

}  // namespace mantissa::train::test
