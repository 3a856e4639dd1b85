// A compiled RTL unit, loaded: its pins by name, evaluated on demand.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/dut/bits.hpp"
#include "sim/dut/dut_api.h"

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
  explicit Device(const std::filesystem::path& shared_object);

  const std::vector<Pin>& pins() const { return pins_; }
  const Pin* find(std::string_view name) const;  // nullptr where there is none

  void eval() { api_->eval(api_->self); }
  // Throws std::runtime_error where the file cannot be written.
  void open_wave(const std::filesystem::path& path);
  void dump_wave(std::uint64_t time) { api_->dump_wave(api_->self, time); }
  void close_wave() { api_->close_wave(api_->self); }
  void write_coverage(const std::filesystem::path& path) { api_->write_coverage(api_->self, path.c_str()); }

 private:
  struct Unload {
    void operator()(void* library) const;
  };
  struct Destroy {
    void operator()(mantissa_dut* dut) const { dut->destroy(dut->self); }
  };
  std::unique_ptr<void, Unload> library_;
  std::unique_ptr<mantissa_dut, Destroy> api_;
  std::vector<Pin> pins_;
};

}  // namespace mantissa
