// tools/plot on a report, and its page in a real browser.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "sim/report/figures.hpp"
#include "sim/report/report_directory.hpp"
#include "sim/report/report_json.hpp"
#include "sim/support/process.hpp"
#include "testbench/cli/scratch.hpp"
#include "testbench/report/example_report.hpp"
#include "testbench/support/contains.hpp"

namespace mantissa::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* python = "/usr/bin/python3";
constexpr const char* plot = MANTISSA_SOURCE_DIR "/tools/plot";
constexpr const char* chromium = "/usr/bin/chromium";

void expect_every_plot(const fs::path& directory, const ReplayReport& report) {
  for (const std::string name :
       {"energy", "cycles", "timeline", "roofline", "sqnr", "gradients", "speedup"}) {
    EXPECT_EQ(contents(directory / (name + ".png")).substr(1, 3), "PNG") << name;
    const std::string svg = contents(directory / (name + ".svg"));
    EXPECT_TRUE(contains(svg, "<svg")) << name;
    EXPECT_FALSE(contains(svg, "dc:date")) << name;
  }
  EXPECT_EQ(contents(directory / "report.json"), report_json(report));
  EXPECT_FALSE(fs::exists(MANTISSA_SOURCE_DIR "/tools/plotting/__pycache__"));
}

void expect_self_contained(const std::string& page) {
  EXPECT_TRUE(contains(page, "default-src 'none'"));
  for (const char* word : {"http://", "https://", "src=\"//", "@import", "<script src"})
    EXPECT_FALSE(contains(page, word)) << word;
}

// The headings of every table of passes, in order.
void expect_every_column(const std::string& page) {
  std::string heads;
  for (const std::string title : {"layer", "kind", "M×N×K"}) heads += title + "|";
  for (const Figure* figure : placed(&Figure::page)) heads += std::string(figure->page.title) + "|";
  for (const std::string name : {"Forward", "Input gradient", "Weight gradient"}) {
    const std::size_t begin = page.find("<h2>" + name + "</h2>");
    ASSERT_NE(begin, std::string::npos);
    std::string found;
    const std::size_t end = page.find("</thead>", begin);
    const std::string button = "<button type=\"button\">";
    std::size_t at = page.find(button, begin) + 1;  // the step
    while ((at = page.find(button, at)) < end) {
      at += button.size();
      found += page.substr(at, page.find('<', at) - at) + "|";
    }
    EXPECT_EQ(found, heads) << name;
    for (const Figure* figure : placed(&Figure::page)) {
      const std::size_t hint = page.find(" title=\"" + std::string(figure->meaning) + "\"", begin);
      EXPECT_LT(hint, end) << figure->key;
    }
  }
}

// The flags that let it run as root, without a display and without asking the network for anything.
ProcessResult browse(const std::string& page, const std::vector<std::string>& more) {
  const Scratch profile;
  std::vector<std::string> command{chromium,
                                   "--headless",
                                   "--no-sandbox",
                                   "--disable-gpu",
                                   "--disable-quic",
                                   "--no-first-run",
                                   "--disable-background-networking",
                                   "--disable-component-update",
                                   "--disable-sync",
                                   "--enable-logging=stderr",
                                   "--window-size=960,1200",
                                   "--hide-scrollbars",
                                   "--user-data-dir=" + profile.path()};
  command.insert(command.end(), more.begin(), more.end());
  command.push_back("file://" + page);
  return run_process(command);
}

// What Chromium's log says of the page; of the browser itself it says much that does not matter here.
void expect_no_complaint(const std::string& log) {
  for (const char* word : {":CONSOLE", "net_error", "ERR_", "Refused to", "Uncaught"})
    EXPECT_FALSE(contains(log, word)) << log;
}

void expect_shown(const std::string& page, const std::string& picture) {
  const ProcessResult dom = browse(page, {"--dump-dom"});
  EXPECT_EQ(dom.exit_code, 0);
  expect_no_complaint(dom.output);
  EXPECT_TRUE(contains(dom.output, "data-plots=\"7/7\"")) << dom.output.substr(0, 3000);

  const ProcessResult shot = browse(page, {"--screenshot=" + picture});
  EXPECT_EQ(shot.exit_code, 0);
  expect_no_complaint(shot.output);
  // Not blank: many colours, those of the plots among them.
  const ProcessResult colours = run_process(
      {python, "-c",
       "import sys, numpy, matplotlib.image\n"
       "pixels = (matplotlib.image.imread(sys.argv[1])[:, :, :3] * 255).round().astype(int).reshape(-1, 3)\n"
       "found = numpy.unique(pixels @ [65536, 256, 1])\n"
       "print('blue' if 0x0072b2 in found else 'no blue', len(found) > 200, len(pixels))\n",
       picture});
  EXPECT_EQ(colours.output, "blue True 1152000\n");
}

// The checks above are worth something only if a broken page fails them.
void expect_defects_noticed(std::string page, const std::string& path) {
  const std::size_t image = page.find("base64,") + 7;
  page.replace(image, 40, std::string(40, 'A'));
  page.insert(page.find("</body>"), "<script>undefined_function()</script>");
  std::ofstream(path) << page;
  const ProcessResult dom = browse(path, {"--dump-dom"});
  EXPECT_TRUE(contains(dom.output, "data-plots=\"6/7\""));
  EXPECT_TRUE(contains(dom.output, ":CONSOLE"));
}

// Warnings before everything else, steps apart, and every key.
void expect_report_parts(const std::string& page) {
  const std::size_t warning = page.find("<p class=\"warning\">mind the gap</p>");
  ASSERT_NE(warning, std::string::npos);
  EXPECT_LT(warning, page.find("<div class=\"cards\">"));
  EXPECT_LT(page.find("<div class=\"cards\">"), page.find("layer pool1 has no weights"));
  EXPECT_TRUE(contains(page, "TOPS dense-equivalent; "));
  EXPECT_TRUE(contains(page, "2 steps, 64 images"));
  const std::size_t totals = page.find("<h2>Totals</h2>");
  for (const char* row : {"Total", "Step 0", "Step 400"}) {
    const std::size_t at = page.find("<td class=\"text\">" + std::string(row) + "</td>", totals);
    EXPECT_LT(at, page.find("<h2>Figures</h2>")) << row;
  }
  EXPECT_TRUE(
      contains(page,
               "<td class=\"text\">depth</td><td class=\"text wrap\">4</td><td class=\"text\">set on the "
               "command line</td>"));
  EXPECT_TRUE(contains(page,
                       "<td class=\"text\">weights.rounding</td><td class=\"text wrap\">sr:16</td><td "
                       "class=\"text\"></td>"));
}

// One test: the plots take seconds to draw.
TEST(ReportPage, IsDrawnAndShownByChromiumWithoutErrors) {
  const Scratch scratch;
  const fs::path directory = fs::path(scratch.path()) / "out";
  ReplayReport report = example_report();
  report.warnings = {"mind the gap"};
  report.settings = {"depth=4"};
  report.arch_keys = {{"rows", "16"}, {"depth", "4"}};
  report.recipe_keys = {{"weights.rounding", "sr:16"}};
  const std::vector<std::string> notes = write_report(report, directory);
  if (!notes.empty()) GTEST_SKIP() << notes.front();
  expect_every_plot(directory, report);
  EXPECT_NO_THROW(
      check_report_directory(directory));  // every file is known, so the next report may replace it
  const std::string page = (directory / "report.html").string();
  expect_self_contained(contents(page));
  expect_every_column(contents(page));
  expect_report_parts(contents(page));
  if (!fs::exists(chromium)) GTEST_SKIP() << "chromium is not installed (tools/setup --test)";
  expect_shown(page, scratch.path() + "/page.png");
  expect_defects_noticed(contents(page), scratch.path() + "/broken.html");
}

// The page that a user gets: the program's own report of the shipped trace.
TEST(ReportPage, OfTheShippedTraceIsShownByChromiumWithoutErrors) {
  const Scratch scratch;
  const std::string out = scratch.path() + "/out";
  const std::string trace = MANTISSA_SOURCE_DIR "/traces/fashion-cnn.safetensors";
  const ProcessResult run = run_process(
      {MANTISSA_PROGRAM, "replay", trace, "--recipe", "lognormal-sparse", "--staging", "--out", out});
  ASSERT_EQ(run.exit_code, 0) << run.output;
  if (!fs::exists(out + "/report.html")) GTEST_SKIP() << run.output;
  expect_self_contained(contents(out + "/report.html"));
  if (!fs::exists(chromium)) GTEST_SKIP() << "chromium is not installed (tools/setup --test)";
  expect_shown(out + "/report.html", scratch.path() + "/page.png");
}

TEST(ToolsPlot, SaysWhatIsWrong) {
  const Scratch scratch;
  const std::string path = scratch.path() + "/report.json";
  const auto said = [&](const std::string& text) {
    std::ofstream(path) << text;
    const ProcessResult run = run_process({python, plot, path, "--out", scratch.path()});
    EXPECT_EQ(run.exit_code, 2) << run.output;
    EXPECT_EQ(std::count(run.output.begin(), run.output.end(), '\n'), 1) << run.output;
    return run.output;
  };
  EXPECT_TRUE(contains(said("{"), "not valid JSON"));
  EXPECT_TRUE(contains(said("[]"), "not a mantissa report"));
  EXPECT_TRUE(contains(said("{\"mantissa_report\": 2}"), "not a mantissa report"));
  EXPECT_EQ(run_process({python, plot, path + "x", "--out", scratch.path()}).exit_code, 2);
  EXPECT_EQ(run_process({python, plot, "--help"}).exit_code, 0);
  std::ofstream(path) << report_json(tiny_report());
  for (const std::string columns : {"[", "[{}]"}) {
    const ProcessResult run =
        run_process({python, plot, path, "--out", scratch.path(), "--columns", columns});
    EXPECT_EQ(run.exit_code, 2) << columns << run.output;
    EXPECT_FALSE(contains(run.output, "Traceback")) << run.output;
  }
}

// Weights that are updated have a panel and a table; without totals of energy there is no plot of it.
TEST(ToolsPlot, UpdatesAreShownAndPartsOfEnergyAreNot) {
  const Scratch scratch;
  const std::string path = scratch.path() + "/report.json";
  ReplayReport report = tiny_report();
  PassReport update = report.passes[0];
  update.pass = Pass::update;
  update.gemm = {.m = 77, .n = 1, .k = 1};
  update.cost.macs = 0;
  update.scheduled_macs = 0;
  update.utilization = 0;
  report.passes.push_back(update);
  report.passes[0].energy[0].has_total = false;
  std::ofstream(path) << report_json(report);
  const ProcessResult run =
      run_process({python, plot, path, "--out", scratch.path(), "--columns", page_columns()});
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const std::string page = contents(scratch.path() + "/report.html");
  EXPECT_TRUE(contains(page, "<h2>Update</h2>"));
  EXPECT_TRUE(contains(page, "77 weights"));
  if (!fs::exists(scratch.path() + "/cycles.svg")) GTEST_SKIP() << "no matplotlib";
  EXPECT_TRUE(contains(contents(scratch.path() + "/cycles.svg"), "<!-- Update -->"));
  EXPECT_FALSE(fs::exists(scratch.path() + "/energy.svg"));
  EXPECT_TRUE(fs::exists(scratch.path() + "/timeline.svg"));
}

// A report that somebody else made: names with formulas of TeX and markup, markup in place of numbers.
TEST(ToolsPlot, NamesAreNeitherFormulasNorMarkup) {
  const Scratch scratch;
  const std::string path = scratch.path() + "/report.json";
  ReplayReport report = tiny_report();
  report.passes[0].layer = "$\\frac$ <script>x</script>";
  report.passes[1].layer = "$x$\x1b[2J\u202E";
  report.warnings = {"<script>x</script>"};
  report.arch_keys = {{"<img src=x", "<script>x"}};
  report.timeline->layer = report.passes[0].layer;
  report.recipe = "_\\^$ \"><img src=x onerror=y>";
  report.tables[0].name = "$\\frac$";
  for (PassReport& pass : report.passes) {
    for (Energy& energy : pass.energy) energy.table = report.tables[0].name;
  }
  const std::string honest = report_json(report);
  std::string forged = honest;
  const std::string tiles = "\"sampled_tiles\": 0";
  ASSERT_TRUE(contains(forged, tiles));
  forged.replace(forged.find(tiles), tiles.size(), R"("sampled_tiles": "<script>x</script>")");
  for (const std::string& text : {honest, forged}) {
    std::ofstream(path) << text;
    const ProcessResult run =
        run_process({python, plot, path, "--out", scratch.path(), "--columns", page_columns()});
    ASSERT_EQ(run.exit_code, 0) << run.output;
    const std::string page = contents(scratch.path() + "/report.html");
    for (const std::string bad : {"<script>x", "<img src=x", "\x1b", "\u202E"})
      EXPECT_FALSE(contains(page, bad)) << bad;
    EXPECT_TRUE(contains(page, "$x$\\u001b[2J\\u202e"));
    EXPECT_FALSE(contains(page, "'unsafe-inline'"));
  }
  const std::string run = R"({"mantissa_train": 1, "network": "$\\frac$\u0000", "recipe": "$x$", "seed": 1,
    "history": [{"train_loss": 1, "val_loss": 1, "train_accuracy": 0, "val_accuracy": 0, "steps": 1}],
    "loss_scale_exponents": []})";
  std::ofstream(path) << run;
  const ProcessResult drawn = run_process({python, plot, path, "--out", scratch.path()});
  EXPECT_EQ(drawn.exit_code, 0) << drawn.output;
}

class LongToolsPlot : public testing::Test {
 protected:
  static void draw(const ReplayReport& report, const std::string& directory) {
    fs::create_directory(directory);
    std::ofstream(directory + "/report.json") << report_json(report);
    const ProcessResult run = run_process(
        {python, plot, directory + "/report.json", "--out", directory, "--columns", page_columns()});
    EXPECT_EQ(run.exit_code, 0) << run.output;
  }
};

TEST_F(LongToolsPlot, EqualReportsGiveEqualFiles) {
  const Scratch scratch;
  draw(example_report(), scratch.path() + "/a");
  draw(example_report(), scratch.path() + "/b");
  int files = 0;
  for (const auto& entry : fs::directory_iterator(scratch.path() + "/a")) {
    const fs::path other = fs::path(scratch.path()) / "b" / entry.path().filename();
    EXPECT_EQ(contents(entry.path()), contents(other)) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 16);
}

// Nothing at all, one pass, undefined figures everywhere, strange names, and a large network.
TEST_F(LongToolsPlot, EveryReportCanBeDrawn) {
  const Scratch scratch;
  ReplayReport empty = tiny_report();
  empty.passes.clear();
  draw(empty, scratch.path() + "/empty");
  ReplayReport odd = tiny_report();
  odd.passes[0].layer = "$x_{$ <b>&\x01 \xC3\xB1 _^";
  odd.passes[0].accuracy = {.sqnr_db = std::nan(""), .cosine = std::nan("")};
  odd.peak_bytes_per_cycle = 0;
  odd.gradients.resize(1);  // without a histogram
  draw(odd, scratch.path() + "/odd");
  EXPECT_FALSE(contains(contents(scratch.path() + "/odd/report.html"), "<b>&"));
  draw(example_report(60, 1), scratch.path() + "/large");
}

}  // namespace
}  // namespace mantissa::test
