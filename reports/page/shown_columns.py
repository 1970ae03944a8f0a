"""The columns of the page's tables: which, called what, with how many digits."""

from msopt.model.problems import PROBLEMS
from reports.shared.text_table import (
    count_column,
    gain_column,
    gap_column,
    number_column,
    quantity_column,
    ratio_column,
    words_column,
    yes_column,
)

GOODPUT = quantity_column("goodput_tokens_per_s")
METHODS = (
    words_column("method", "method"),
    GOODPUT,
    quantity_column("standard_error_tokens_per_s"),
    gain_column("gain_of_best", "gain of the best over it"),
    gap_column("gap", "gap to the bound"),
    words_column("whose", "whose"),
)
NOTES = (
    words_column("problem", "problem"),
    words_column("method", "method"),
    words_column("shown", "called here"),
    words_column("whose", "whose"),
    words_column("what", "what it is"),
)
DEVICES = (
    words_column("device", "device"),
    count_column("draft_length", "draft length", "token"),
    quantity_column("bandwidth_hz"),
    quantity_column("rejection_probability"),
    quantity_column("uplink_probability"),
    quantity_column("downlink_probability"),
    quantity_column("expected_tokens"),
    GOODPUT,
)
LIMITS = (
    words_column("problem", "problem"),
    words_column("name", "limit"),
    number_column("slack", "slack", digits=6),
    words_column("unit", "unit"),
    number_column("price", "price, utility per unit", digits=4),
)
REACTION = (
    words_column("device", "device"),
    words_column("mode", "mode"),
    quantity_column("bandwidth_hz"),
    quantity_column("downlink_power_w"),
)
PARAMETERS = (words_column("key", "parameter"), words_column("value", "value"), words_column("reading", "that is"))
CELLS = (
    words_column("device", "device"),
    quantity_column("acceptance", "acceptance, or S(1) of a curve"),
    quantity_column("acceptance_std"),
    count_column("curve_points", "points of the curve"),
    quantity_column("draft_s_per_token"),
    quantity_column("uplink_snr_db"),
    quantity_column("downlink_snr_db"),
)
WHAT_IF = (
    words_column("change", "change"),
    *(gain_column(problem, problem) for problem in PROBLEMS),
)
SUMMARY = (
    words_column("scenario", "scenario"),
    words_column("problem", "problem"),
    GOODPUT,
    gap_column("gap", "gap"),
    words_column("closest", "closest baseline"),
    gain_column("closest_gain", "gain over it"),
    words_column("weakest", "weakest baseline"),
    gain_column("weakest_gain", "gain over it"),
    quantity_column("bound_tokens_per_s"),
    words_column("method", "method"),
)
CROSSCHECK = (
    words_column("formulation", "formulation"),
    words_column("solver", "solver"),
    words_column("tests", "tests"),
    words_column("solved_of", "solved"),
    number_column("objective_difference_worst", "objective, worst", "1", digits=2),
    number_column("objective_difference_median", "median", "1", digits=2),
    number_column("objective_tolerance", "tolerance", "1", digits=2),
    number_column("certificate_worst", "certificate, worst", "1", digits=2),
    words_column("verdict", "verdict"),
)
COMPARED = (
    words_column("formulation", "formulation"),
    words_column("solver", "solver"),
    words_column("algorithm", "the papers' algorithm"),
    gain_column("above_algorithm_least", "above it, least"),
    gain_column("above_algorithm_median", "above it, median"),
    number_column("above_brute_force_least", "above enumeration, least", "1", digits=2),
    count_column("above_brute_force_trials", "enumerated trials"),
    number_column("minimiser_difference_worst", "minimiser, worst", "1", digits=2),
    words_column("minimisers_of", "minimisers agree or flat"),
    words_column("prices_of", "prices agree or explained"),
)
CHECKS = (
    words_column("check", "check"),
    words_column("found", "found"),
    words_column("verdict", "verdict"),
)
SETTINGS = (words_column("of", "setting"), words_column("statement", "what stands there"))
CENTRALISED = (
    words_column("pair", "pair"),
    words_column("scheme", "how the server drafts"),
    number_column("quoted_ratio", "quoted ratio", "1", digits=3),
    quantity_column("centralised_tokens_per_s", "goodput of Cen-SPIN with it"),
    quantity_column("server_only_tokens_per_s"),
    quantity_column("draft_s_per_token", "draft time with it"),
    quantity_column("measured_s_per_token", "draft time that [UD] measured"),
    yes_column("plausible", "within a factor of two"),
)
PATHS = (
    words_column("pair", "pair"),
    quantity_column("downlink_power_dbm"),
    words_column("scheme", "how Algorithm 1 runs"),
    ratio_column("mean", "below our optimum"),
    ratio_column("low", "interval from"),
    ratio_column("high", "to"),
    count_column("draws", "draws"),
)
GAINS = (
    words_column("family", "family"),
    words_column("baseline", "over"),
    count_column("scenarios", "scenarios"),
    gain_column("median", "median"),
    gain_column("p95", "95th percentile"),
    gain_column("max", "maximum"),
    ratio_column("share_above_paper", "share above [MS]'s"),
)
PROFILES = (
    words_column("profile", "profile"),
    words_column("draft", "draft"),
    words_column("draft_quantisation", "quantised"),
    words_column("target", "target"),
    words_column("target_quantisation", "quantised"),
    number_column("temperature", "temperature", digits=3),
    count_column("draft_length", "drafted", "token/round"),
    words_column("machine", "machine"),
    words_column("date", "date"),
)
ACCEPTANCE = (
    words_column("profile", "profile"),
    words_column("task", "task"),
    count_column("prompts", "prompts"),
    count_column("visited", "visited", "token"),
    number_column("acceptance", "α, accepted / visited", "1", digits=3),
    words_column("acceptance_range", "its interval [1]"),
    number_column("acceptance_by_overlap", "α, mean of Σ min(p, q)", "1", digits=3),
    words_column("overlap_range", "its interval [1]"),
    number_column("acceptance_of_target_text", "Σ min(p, q) on the target's text", "1", digits=3),
    number_column("acceptance_all_drafted", "the papers' estimator", "1", digits=3),
    number_column("over_prompts_std", "deviation over prompts", "1", digits=3),
)
DRAFT_TIME = (
    words_column("profile", "profile"),
    number_column("median_s", "median", "ms/token"),
    number_column("q10_s", "10 % below", "ms/token"),
    number_column("q90_s", "90 % below", "ms/token"),
    count_column("n", "timed"),
)
SERVER_DRAFT = (DRAFT_TIME[0], count_column("batch", "batch", "devices"), *DRAFT_TIME[1:])
FITS = (
    words_column("profile", "profile"),
    words_column("term", "term"),
    number_column("fitted_s", "fitted", "ms"),
    number_column("standard_error_s", "standard error", "ms", digits=2),
    number_column("p_value", "p-value of 0", "1", digits=2),
    yes_column("needed", "needed"),
    number_column("r_squared", "R² of the fit", "1"),
    ratio_column("max_relative_residual", "largest residual"),
)
PAYLOAD = (
    words_column("profile", "profile"),
    words_column("task", "task"),
    count_column("kept_entries", "entries kept"),
    count_column("probability_bits", "bits of a probability"),
    quantity_column("distribution_bits"),
    quantity_column("acceptance", digits=3),
    words_column("acceptance_range", "its interval [1]"),
)
