"""The table of tools/reproduce on made-up results: what holds, what does not, what was not run."""
import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
from reproduction import claims, runs  # noqa: E402


def report(accuracy, seed=1, sparsity=None):
    history = [{"sparsity": [share, 0.85], "target_sparsity": [0.85, 0.85]} for share in sparsity or []]
    return {"val_accuracy": [0.1, accuracy], "seed": seed, "history": history, "pruned_layers": ["a", "b"],
            "conversions": [{"tensors": "errors", "elements": 4, "flushed_to_zero_rate": 0.25, "overflow_rate": 0.1},
                            {"tensors": "errors", "elements": 12, "flushed_to_zero_rate": 0.5, "overflow_rate": 0},
                            {"tensors": "weights", "elements": 8, "flushed_to_zero_rate": 1}],
            "gradients": [{"ks_lognormal": 0.1, "ks_normal": 0.2, "ks_laplace": 0.3}]}


def results_of(accuracies, **more):
    results = claims.Results()
    for name, values in accuracies.items():
        for seed, value in enumerate(values, 1):
            results.add(runs.Run(name, name), report(value, seed, **more))
    return results


def row(results, claim):
    return next(row for row in claims.claims(results) if row[0] == claim)


class Claims(unittest.TestCase):
    def test_without_runs_nothing_is_claimed(self):
        for claim, _, ours, _, holds in claims.claims(claims.Results()):
            self.assertIsNone(holds, claim)
            self.assertIn("not run", ours, claim)

    def test_the_mean_decides(self):
        claim = "FP8 trains like FP32 (Mellempudi)"
        near = row(results_of({"fp32": [0.92, 0.92], "fp8": [0.90, 0.932]}), claim)
        self.assertTrue(near[4])
        self.assertEqual(near[2:4], ("91.60 % (90.00 to 93.20, 2 seeds); 0.40 below `fp32` (2 seeds)", "at most 0.5 below"))
        self.assertFalse(row(results_of({"fp32": [0.92], "fp8": [0.9149]}), claim)[4])
        self.assertFalse(row(results_of({"fp32": [0.9129]}), "FP32 baseline")[4])

    def test_stochastic_sums_must_not_be_worse(self):
        claim = "E6M5 sums, SR instead of RNE (LeNet, 2 epochs of 10,000 images)"
        self.assertTrue(row(results_of({"lenet-e6m5-sr": [0.8], "lenet-e6m5-rne": [0.7]}), claim)[4])
        self.assertFalse(row(results_of({"lenet-e6m5-sr": [0.7], "lenet-e6m5-rne": [0.8]}), claim)[4])
        self.assertFalse(row(results_of({"lenet-e6m5-sr": [0.1], "lenet-e6m5-rne": [0.1]}), claim)[4])
        for other, holds in (("sr", False), ("rne", True)):
            results = results_of({"lenet-e6m5-sr" if other == "rne" else "lenet-e6m5-rne": [0.8]})
            results.add(runs.Run("lenet-e6m5-" + other, "fp8"), {"seed": 1, "diverged": "loss is not finite at step 7"})
            self.assertEqual(row(results, claim)[4], holds)

    def test_only_seeds_that_both_have_are_compared(self):
        results = results_of({"fp32": [0.92, 0.99, 0.99], "fp32-rangebn": [0.919]})
        self.assertAlmostEqual(results.gap("fp32-rangebn", "fp32"), 0.1)
        self.assertEqual(results.below("fp32-rangebn", "fp32"), "0.10 below `fp32` (one seed)")
        self.assertEqual(results.below("fp32", "fp32-rangebn"), "0.10 above `fp32-rangebn` (one seed)")
        self.assertIsNone(results.gap("fp8", "fp32"))

    def test_a_run_that_diverged_is_a_result(self):
        results = results_of({"fp32": [0.92], "fp8": [0.92]})
        results.add(runs.Run("fp8", "fp8"), {"seed": 2, "diverged": "loss is not finite at step 7"})
        _, _, ours, _, holds = row(results, "FP8 trains like FP32 (Mellempudi)")
        self.assertFalse(holds)
        self.assertIn("1 of 2 runs diverged", ours)

    def test_sparsity_counts_layers_and_epochs(self):
        near = claims.sparsity_apart(results_of({"x": [0.9]}, sparsity=[0.86, 0.8201]), "x")
        self.assertFalse(near[2])  # one of four is more than 2 points away
        self.assertIn("75 %", near[0])
        self.assertIn("a in epoch 2, is 3.0 points", near[0])
        self.assertTrue(claims.sparsity_apart(results_of({"x": [0.9]}, sparsity=[0.86, 0.84, 0.8201]), "x")[2])
        self.assertFalse(claims.sparsity_apart(results_of({"x": [0.9]}, sparsity=[0.86] * 9 + [0.80]), "x")[2])

    def test_zeros_are_those_of_the_errors(self):
        self.assertEqual(claims.flushed(results_of({"fp8": [0.9]}), "fp8"), "43.8 %")  # (4 / 4 + 12 / 2) / 16
        self.assertEqual(claims.saturated(results_of({"fp8": [0.9]}), "fp8"), "2.500 %")

    def test_lognormal_is_nearest_in_most_gradients_or_not(self):
        results = results_of({"fp32": [0.92], "fp8": [0.92]})
        self.assertEqual(claims.lognormal(results)[1], True)
        results.of["fp8"][0]["gradients"][0]["ks_laplace"] = 0.05
        said, holds = claims.lognormal(results)
        self.assertIn("in 1 of 2 gradients", said)
        self.assertIn("0.100, 0.200, 0.175", said)
        self.assertFalse(holds)

    def test_table_marks_what_does_not_hold(self):
        text = claims.table(results_of({"fp32": [0.92], "fp8": [0.90]}), 10)
        self.assertIn("**does not hold**", text)
        self.assertEqual(len(text.splitlines()), 4 + len(claims.claims(claims.Results())))

    def test_changes_replace_a_line_or_add_one(self):
        text = runs.Run("mine", "fp8", {"exempt_first": "false", "accumulator": "{format: fp16}"}).recipe_text()
        self.assertIn("\nname: mine\n", text)
        self.assertEqual(text.count("exempt_first: "), 1)
        self.assertEqual(text.count("\naccumulator: {format: fp16}\n"), 1)
        self.assertIn("\nnorm: {kind: range}\n", runs.Run("m", "fp32", {"norm": "{kind: range}"}).recipe_text())
        self.assertNotIn("loss_scale", runs.Run("m", "fp8", {"loss_scale": None}).recipe_text())
        self.assertEqual(runs.Run("fp32", "fp32", {"pruning": None}).recipe_text(), runs.Run("fp32", "fp32").recipe_text())
        self.assertTrue(runs.Run("m", "fp32", {"pruning": "{}"}).recipe_text().endswith("\npruning: {}\n"))

    def test_every_seed_of_every_headline_is_planned_once(self):
        pairs = [(run.name, seed) for run, seed in runs.plan(3)]
        self.assertEqual(len(pairs), len(set(pairs)))
        for run in runs.HEADLINE:
            self.assertEqual([seed for name, seed in pairs if name == run.name], [1, 2, 3])
        self.assertEqual({run.name for run, _ in runs.plan(1, "e6m5")}, {"lenet-e6m5-rne", "lenet-e6m5-sr"})


if __name__ == "__main__":
    unittest.main()
