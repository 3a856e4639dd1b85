#include "sim/train/worker_state.hpp"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "sim/support/json_text.hpp"
#include "sim/train/checkpoint_layers.hpp"
#include "sim/workers/packet.hpp"

namespace mantissa::train {
namespace {

using workers::ExchangeCounts;
using workers::GradientExchange;

constexpr const char* json_name = "workers";
constexpr std::size_t deepest_layers = 8;

// Names and sizes of a worker's own tensors. Worker 0's running statistics are those of the model.
std::vector<trace::TensorInfo> tensors_of(int worker, const Model& model, const GradientExchange& exchange) {
  std::vector<trace::TensorInfo> tensors;
  const std::string prefix = "worker " + std::to_string(worker) + "/";
  const auto add = [&](const std::string& name, std::size_t elements) {
    tensors.push_back({.name = prefix + name, .shape = {static_cast<std::int64_t>(elements)}});
  };
  if (worker > 0) {
    for (const NormLayer* norm : model.norm_layers()) {
      add(norm->plan().name() + ".running_mean", norm->running().mean.size());
      add(norm->plan().name() + ".running_scale", norm->running().scale.size());
    }
  }
  for (std::size_t i = 0; i < model.parameters().size(); ++i) {
    if (!exchange.compresses(i)) continue;
    const Parameter& parameter = model.parameters()[i];
    add(parameter.name + ".velocity", parameter.value.values.size());
    add(parameter.name + ".accumulated", parameter.value.values.size());
  }
  return tensors;
}

Json size_json(const ExchangeSize& size) { return {{"dense", size.dense_bytes}, {"sent", size.sent_bytes}}; }

Json counts_json(const ExchangeCounts& counts) {
  return {{"steps", counts.steps},
          {"matrices", size_json(counts.matrices)},
          {"vectors", size_json(counts.vectors)},
          {"control", counts.control}};
}

ExchangeSize parse_size(const JsonRecord& outer, const std::string& key) {
  const JsonRecord record(outer.at(key), outer.where() + ": " + key, {"dense", "sent"});
  return {.dense_bytes = count_of(record, "dense", largest_count),
          .sent_bytes = count_of(record, "sent", largest_count)};
}

ExchangeCounts parse_counts(const Json& json, std::int64_t step) {
  const JsonRecord record(json, "workers: exchange", {"steps", "matrices", "vectors", "control"});
  // Steps that were skipped had no exchange.
  return {.steps = record.number("steps", 0, step),
          .matrices = parse_size(record, "matrices"),
          .vectors = parse_size(record, "vectors"),
          .control = count_of(record, "control", largest_count)};
}

// This process's workers, from tensors in the order of tensors_of for each worker of the run.
void take_tensors(const Attachment& attachment, std::vector<Worker>& here, GradientExchange& exchange) {
  for (std::size_t n = 0; n < here.size(); ++n) {
    Model& model = here[n].model();
    const std::string prefix = "worker " + std::to_string(here[n].index()) + "/";
    const auto values = [&](const std::string& name) -> const std::vector<float>& {
      const auto found =
          std::find_if(attachment.tensors.begin(), attachment.tensors.end(),
                       [&](const Attachment::Tensor& tensor) { return tensor.name == prefix + name; });
      return found->values;
    };
    if (here[n].index() > 0) {
      for (NormLayer* norm : model.norm_layers()) {
        norm->running().mean = values(norm->plan().name() + ".running_mean");
        norm->running().scale = values(norm->plan().name() + ".running_scale");
      }
    }
    for (std::size_t i = 0; i < model.parameters().size(); ++i) {
      if (!exchange.compresses(i)) continue;
      const std::string& name = model.parameters()[i].name;
      exchange.unsent(static_cast<int>(n), i)
          .restore(values(name + ".velocity"), values(name + ".accumulated"));
    }
  }
}

void take_layers(const Json& json, std::vector<Worker>& here, int workers) {
  if (static_cast<int>(json.size()) != workers - 1) {
    throw std::invalid_argument("workers: others has " + std::to_string(json.size()) +
                                " entries; the run has " + std::to_string(workers - 1));
  }
  for (Worker& worker : here) {
    if (worker.index() == 0) continue;  // the model's own
    const std::string where = "workers: worker " + std::to_string(worker.index());
    restore_layers(JsonRecord(json[worker.index() - 1], where, {"layers"}), worker.model());
  }
}

}  // namespace

workers::Bytes pack_worker(Worker& worker, int here, GradientExchange& exchange) {
  const Model& model = worker.model();
  workers::PacketWriter packet;
  packet.text(json_text(Json{{"layers", layers_json(model)}}, -1));
  if (worker.index() > 0) {
    for (const NormLayer* norm : model.norm_layers())
      packet.floats(norm->running().mean).floats(norm->running().scale);
  }
  for (std::size_t i = 0; i < model.parameters().size(); ++i) {
    if (!exchange.compresses(i)) continue;
    const GradientCompressor& unsent = exchange.unsent(here, i);
    packet.floats(unsent.velocity()).floats(unsent.accumulated());
  }
  return packet.take();
}

Attachment attach_workers(const std::vector<workers::Bytes>& packets, Model& model,
                          const GradientExchange& exchange) {
  Attachment attachment;
  Json others = Json::array();
  for (int worker = 0; worker < static_cast<int>(packets.size()); ++worker) {
    try {
      workers::PacketReader reader(packets[worker]);
      Json layers = parse_json(reader.text(), "its layers", deepest_layers);
      if (worker > 0) others.push_back(std::move(layers));
      for (const trace::TensorInfo& tensor : tensors_of(worker, model, exchange)) {
        std::vector<float> values(tensor.elements());
        reader.floats(values);
        attachment.tensors.push_back({tensor.name, std::move(values)});
      }
      reader.finish();
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument("the state that worker " + std::to_string(worker) +
                                  " sent cannot be read: " + error.what());
    }
  }
  attachment.name = json_name;
  attachment.json =
      std::make_shared<Json>(Json{{"exchange", counts_json(exchange.counts())}, {"others", others}});
  return attachment;
}

Attachment expected_workers(std::vector<Worker>& here, int workers, std::int64_t step,
                            GradientExchange& exchange) {
  Attachment attachment;
  attachment.name = json_name;
  for (int worker = 0; worker < workers; ++worker) {
    for (const trace::TensorInfo& tensor : tensors_of(worker, here.front().model(), exchange))
      attachment.tensors.push_back({tensor.name, std::vector<float>(tensor.elements())});
  }
  attachment.restore = [&here, &exchange, workers, step](const Attachment& read) {
    const JsonRecord record(*read.json, json_name, {"exchange", "others"});
    exchange.counts() = parse_counts(record.at("exchange"), step);
    take_layers(record.list("others"), here, workers);
    take_tensors(read, here, exchange);
  };
  return attachment;
}

}  // namespace mantissa::train
