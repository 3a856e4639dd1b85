// YAML from strangers: what is refused, with which line, and that nothing else than a refusal happens.
#include "sim/support/yaml_document.hpp"

#include <gtest/gtest.h>

#include <string>

#include "sim/support/yaml_reader.hpp"
#include "testbench/support/refusal.hpp"

namespace mantissa::test {
namespace {

std::string refused_document(const std::string& text) {
  return refusal([&] { YamlDocument(text, "f"); });
}

TEST(YamlDocument, KeepsLinesAndOrder) {
  const YamlDocument document("# a comment\nb: 1\n\na:\n  - x\n  - {c: \"2\"}\n", "f");
  const YamlNode& root = document.root();
  EXPECT_EQ(root.keys, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(root.key_lines, (std::vector<int>{2, 4}));
  EXPECT_EQ(root.values[0].text, "1");
  ASSERT_EQ(root.values[1].values.size(), 2U);
  EXPECT_EQ(root.values[1].values[1].line, 6);
  EXPECT_EQ(root.values[1].values[1].values[0].text, "2");
}

TEST(YamlDocument, RefusesWhatAConfigurationDoesNotNeed) {
  EXPECT_EQ(refused_document(""), "f:1: the file is empty");
  EXPECT_EQ(refused_document("# only a comment\n"), "f:1: the file is empty");
  EXPECT_EQ(refused_document("---\n...\n"), "f:1: the file is empty");
  EXPECT_EQ(refused_document("- a\n- b\n"), "f:1: not a map of keys and values");
  EXPECT_EQ(refused_document("word"), "f:1: not a map of keys and values");
  EXPECT_EQ(refused_document("a: 1\nb: 2\na: 3\n"), "f:3: key 'a' appears twice; first in line 1");
  EXPECT_EQ(refused_document("a: {b: 1, b: 2}\n"), "f:1: key 'b' appears twice; first in line 1");
  EXPECT_EQ(refused_document("a:\nb: 1\n"), "f:1: 'a' has no value");
  EXPECT_EQ(refused_document("a: ~\n"), "f:1: 'a' has no value");
  EXPECT_EQ(refused_document("a: [1, ~]\n"), "f:1: a value is missing");
  EXPECT_EQ(refused_document("a: &x 1\nb: *x\n"),
            "f:1: anchors (&name) are not read here; write the value where it is used");
  EXPECT_EQ(refused_document("a: !!int 1\n").substr(0, 10), "f:1: tags ");
  EXPECT_EQ(refused_document("{[a]: 1}\n"), "f:1: a key must be a word");
  EXPECT_EQ(refused_document("a: 1\n---\nb: 2\n"), "f:1: more than one YAML document in the file");
  EXPECT_EQ(refused_document("a: [1, 2\nb: 3\n").substr(0, 14), "f:2: not YAML:");
  EXPECT_EQ(refused_document("a: b: c\n").substr(0, 14), "f:1: not YAML:");
}

TEST(YamlDocument, RefusesWhatIsNoText) {
  EXPECT_EQ(refused_document(std::string("a: 1\nb: \0\n", 10)), "f:2: this is not a text file");
  EXPECT_EQ(refused_document("\xff\xfe\x61"), "f:1: this is not a text file");
  EXPECT_EQ(refused_document("a: \x1b[31m\n"), "f:1: this is not a text file");
  EXPECT_EQ(refused_document("a: \"\xc3\xa9t\xc3\xa9\"\n"), "(accepted)");
  for (int byte = 0; byte < 256; ++byte) {
    // Whatever the byte, it is taken or refused, in front, inside and at the end.
    for (const char* before : {"", "a: ", "a: 1\n"})
      refused_document(before + std::string(1, static_cast<char>(byte)));
  }
}

TEST(YamlDocument, IsBounded) {
  const std::string nested = "a: " + std::string(15, '[') + std::string(15, ']');
  EXPECT_EQ(refused_document(nested), "(accepted)");
  EXPECT_EQ(refused_document("a: " + std::string(16, '[') + std::string(16, ']')),
            "f:1: more than 16 levels inside each other");
  EXPECT_NE(refused_document("a: " + std::string(500000, '[')), "(accepted)");
  EXPECT_NE(refused_document(std::string(100000, '{')), "(accepted)");
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  EXPECT_NE(refused_document(deep), "(accepted)");
  const std::string large = "a: \"" + std::string(YamlDocument::max_bytes, 'x') + "\"";
  EXPECT_EQ(refused_document(large), "f: 1048581 bytes are too many for a configuration; at most 1048576");
  // An explosion of aliases ends at the first anchor.
  EXPECT_EQ(refused_document("a: &a [x]\nb: &b [*a, *a]\n").substr(0, 12), "f:1: anchors");
}

// What is no UTF-8 would only be noticed when a report is written, after hours.
TEST(YamlDocument, BytesThatAreNoUtf8AreRefusedAtTheDoor) {
  for (const char* text : {"\x80", "\xC3", "\xC0\xAF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                           "\xE2\x82", "\xF0\x9F\x98", "\xC3\xC3"}) {
    EXPECT_EQ(refusal([&] { YamlDocument("a: 1\nname: x" + std::string(text) + "\n", "f"); }),
              "f:2: this is not UTF-8");
  }
  for (const char* text :
       {"\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xEF\xBF\xBF", "\xF4\x8F\xBF\xBF"})
    EXPECT_EQ(refusal([&] { YamlDocument("name: x" + std::string(text) + "\n", "f"); }), "(accepted)");
}

TEST(YamlMap, ReadsAndComplains) {
  const YamlDocument document("n: 5\nd: 2.5\nyes: true\nname: x\nmany: [1, 2]\ninside: {k: v}\n", "f");
  YamlMap map(document, "thing");
  int n = 0;
  map.read("n", n, {1, 5});
  EXPECT_EQ(n, 5);
  EXPECT_EQ(refusal([&] { map.read("n", n, {1, 4}); }), "f:1: n is '5'; it must be a whole number in 1..4");
  EXPECT_EQ(refusal([&] { map.read("d", n, {1, 4}); }), "f:2: d is '2.5'; it must be a whole number in 1..4");
  EXPECT_EQ(refusal([&] {
              map.read("many", n, {1, 4});
            }),
            "f:5: 'many' is a list; it must be a whole number");
  double d = 0;
  map.read("d", d, {0, 3});
  EXPECT_EQ(d, 2.5);
  EXPECT_EQ(refusal([&] { map.read("name", d, {0, 3}); }), "f:4: name is 'x'; it must be a number in 0..3");
  bool yes = false;
  map.read("yes", yes);
  EXPECT_TRUE(yes);
  EXPECT_EQ(refusal([&] { map.read("n", yes); }), "f:1: n is '5'; allowed: true, false");
  map.read("absent", n, {1, 4});
  EXPECT_EQ(n, 5);
  EXPECT_EQ(refusal([&] { map.require("absent"); }), "f:1: 'thing' needs a key 'absent'");
  EXPECT_EQ(refusal([&] { map.finish(); }),
            "f:6: unknown key 'inside' in 'thing'; allowed: n, d, many, name, yes, absent");
  EXPECT_TRUE(map.map("inside"));
  EXPECT_EQ(refusal([&] { map.finish(); }), "(accepted)");
  EXPECT_EQ(refusal([&] { map.map("inside")->finish(); }),
            "f:6: unknown key 'k' in 'inside'; it has no keys");
  // A check that names a key gets that key's line.
  EXPECT_EQ(refusal([&] { map.checked([] { throw std::invalid_argument("d 2.5 is too much"); }); }),
            "f:2: d 2.5 is too much");
  EXPECT_EQ(document.keys_asked(),
            (std::set<std::string>{"absent", "d", "inside", "many", "n", "name", "yes"}));
}

}  // namespace
}  // namespace mantissa::test
