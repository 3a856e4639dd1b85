// What each worker alone knows between two steps, for a checkpoint: registers, counters and running
// statistics of its layers, and what it has not sent yet.
#pragma once

#include <vector>

#include "sim/train/checkpoint.hpp"
#include "sim/train/worker.hpp"
#include "sim/workers/gradient_exchange.hpp"

namespace mantissa::train {

// One worker's, for the process that writes. `here` counts the workers of this process.
workers::Bytes pack_worker(Worker& worker, int here, workers::GradientExchange& exchange);

// Of all workers, in ascending order, as what a checkpoint holds besides the model of worker 0. Throws
// std::invalid_argument that names the worker for a packet that cannot be read.
Attachment attach_workers(const std::vector<workers::Bytes>& packets, Model& model,
                          const workers::GradientExchange& exchange);

// What a checkpoint of so many workers must hold, and how this process takes its part of it. All must outlive
// the attachment.
Attachment expected_workers(std::vector<Worker>& here, int workers, std::int64_t step,
                            workers::GradientExchange& exchange);

}  // namespace mantissa::train
