#include "sim/cli/vector_file.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "sim/support/draft_files.hpp"
#include "sim/support/user_text.hpp"

namespace mantissa::cli {
namespace {

// The first field is highest, so digits are made from the last field up.
std::string packed_hex(const VectorUnit& unit, const std::vector<std::uint32_t>& in,
                       const std::vector<std::uint32_t>& out) {
  std::string digits;
  std::uint64_t pending = 0;
  int pending_bits = 0;
  const auto take = [&](std::uint32_t value, int bits) {
    pending |= static_cast<std::uint64_t>(value) << pending_bits;
    pending_bits += bits;
    for (; pending_bits >= 4; pending_bits -= 4, pending >>= 4) digits += "0123456789abcdef"[pending & 15];
  };
  for (std::size_t i = out.size(); i-- > 0;) take(out[i], unit.outputs[i].bits);
  for (std::size_t i = in.size(); i-- > 0;) take(in[i], unit.inputs[i].bits);
  if (pending_bits > 0) digits += "0123456789abcdef"[pending & 15];
  std::reverse(digits.begin(), digits.end());
  return digits;
}

// fp8_mac -> Fp8Mac
std::string camel_case(const std::string& name) {
  std::string text;
  bool upper = true;
  for (const char c : name) {
    if (c == '_') {
      upper = true;
      continue;
    }
    text += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = false;
  }
  return text;
}

std::string parameter_text(const Parameters& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) {
    if (!text.empty()) text += " ";
    text.append(name).append("=").append(value);
  }
  return text.empty() ? "none" : text;
}

// Calls visit(field, msb, lsb, direction) from the highest field to the lowest.
template <typename Visit>
void for_each_field(const VectorUnit& unit, Visit visit) {
  int msb = unit.word_bits() - 1;
  for (const VectorField& field : unit.inputs) {
    visit(field, msb, msb - field.bits + 1, "in");
    msb -= field.bits;
  }
  for (const VectorField& field : unit.outputs) {
    visit(field, msb, msb - field.bits + 1, "out");
    msb -= field.bits;
  }
}

void write_header(Output& out, const VectorJob& job, const VectorUnit& unit, std::uint64_t corners) {
  out.text("// mantissa " MANTISSA_VERSION " test vectors, one packed word per line for $readmemh\n");
  out.text("// unit: " + job.kind.name + " (" + job.kind.what + ")\n");
  out.text("// parameters: " + parameter_text(job.parameters) + "\n");
  out.text("// count: " + std::to_string(job.count) + " (corners first: " + std::to_string(corners) + " of " +
           std::to_string(unit.corner_count()) + ", then random)\n");
  out.text("// seed: " + std::to_string(job.seed) + "\n");
  out.text("// word: " + std::to_string(unit.word_bits()) +
           " bits, first field highest; flags are v z o u x, v highest\n");
  for_each_field(unit, [&](const VectorField& field, int msb, int lsb, const char* direction) {
    out.text("// field: " + field.name + " " + direction + " " + std::to_string(field.bits) + " [" +
             std::to_string(msb) + ":" + std::to_string(lsb) + "]" +
             (field.format ? " " + field.format->name() : "") + (field.note.empty() ? "" : " " + field.note) +
             "\n");
  });
}

void write_localparams(Output& out, const VectorJob& job, const VectorUnit& unit, std::uint64_t corners) {
  const std::string prefix = camel_case(job.kind.name);
  const auto localparam = [&](const std::string& name, std::int64_t value) {
    out.text("localparam int " + prefix + name + " = " + std::to_string(value) + ";\n");
  };
  out.text("// mantissa " MANTISSA_VERSION ": how to unpack the " + job.kind.name +
           " vectors beside this file\n");
  out.text("// parameters: " + parameter_text(job.parameters) + "; seed: " + std::to_string(job.seed) + "\n");
  out.text("//   logic [" + prefix + "WordWidth-1:0] words [" + prefix + "Count];\n");
  out.text("//   initial $readmemh(\"" + printable(std::filesystem::path(job.path).filename().string()) +
           "\", words);\n");
  localparam("Count", static_cast<std::int64_t>(job.count));
  localparam("CornerCount", static_cast<std::int64_t>(corners));
  localparam("WordWidth", unit.word_bits());
  for_each_field(unit, [&](const VectorField& field, int msb, int lsb, const char* direction) {
    const std::string name = camel_case(field.name);
    out.text("// " + field.name + ", " + direction + (field.format ? ", " + field.format->name() : "") +
             (field.note.empty() ? "" : ", " + field.note) + "\n");
    localparam(name + "Width", field.bits);
    localparam(name + "Msb", msb);
    localparam(name + "Lsb", lsb);
    if (field.format) {
      localparam(name + "ExpBits", field.format->exponent_bits);
      localparam(name + "ManBits", field.format->mantissa_bits);
      localparam(name + "Bias", field.format->bias);
    }
  });
}

}  // namespace

VectorSummary write_vectors(const VectorJob& job) {
  const VectorUnit unit = job.kind.build(job.parameters);
  // With fewer vectors than corners, the corners taken are spread evenly.
  const std::uint64_t all_corners = unit.corner_count();
  const std::uint64_t corners = std::min(job.count, all_corners);

  DraftFile words(job.path);
  DraftFile localparams(job.path + ".svh");
  write_header(words.out(), job, unit, corners);
  write_localparams(localparams.out(), job, unit, corners);
  std::vector<std::uint32_t> in(unit.inputs.size());
  for (std::uint64_t i = 0; i < job.count; ++i) {
    if (i < corners) {
      in = unit.corner(i * all_corners / corners);
    } else {
      stimulus::Dice dice(job.seed, i);
      unit.randomise(dice, in);
    }
    words.out().text(packed_hex(unit, in, unit.golden(in))).text("\n");
  }
  DraftFile::publish(localparams, words);
  return {corners, unit.word_bits()};
}

}  // namespace mantissa::cli
