// A compiled RTL unit, loaded: its pins by name, evaluated on demand.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/dut/bits.hpp"
#include "sim/dut/device_cache.hpp"
#include "sim/dut/dut_api.h"
#include "sim/dut/watchdog.hpp"
#include "sim/support/ending_signals.hpp"

namespace mantissa {

class Device {
 public:
  struct Pin {
    std::string name;
    int bits = 0;
    bool output = false;
    void* storage = nullptr;

    Bits get() const;
    void set(const Bits& value) const;
  };

  // Throws std::runtime_error where the object cannot be loaded.
  explicit Device(const CachedFilePointer& shared_object);

  const std::vector<Pin>& pins() const { return pins_; }
  const Pin* find(std::string_view name) const;  // nullptr where there is none

  void eval() {
    const DeviceCall call(this);
    api_->eval(api_->self);
  }
  // Throws std::runtime_error where the file cannot be written.
  void open_wave(const std::filesystem::path& path);
  void dump_wave(std::uint64_t time) { api_->dump_wave(api_->self, time); }
  void close_wave();
  void write_coverage(const std::filesystem::path& path) { api_->write_coverage(api_->self, path.c_str()); }

 private:
  struct Unload {
    void operator()(void* library) const;
  };
  struct Destroy {
    void operator()(mantissa_dut* dut) const {
      const DeviceCall call(nullptr);  // `final` blocks run
      dut->destroy(dut->self);
    }
  };
  std::unique_ptr<void, Unload> library_;
  std::unique_ptr<mantissa_dut, Destroy> api_;
  std::vector<Pin> pins_;
  // An unfinished waveform is of no use: the writer puts its index at the end, from a second file.
  std::string wave_;
  std::string wave_index_;
  std::optional<RemovedAtSignal> wave_removed_;
  std::optional<RemovedAtSignal> wave_index_removed_;
};

}  // namespace mantissa
