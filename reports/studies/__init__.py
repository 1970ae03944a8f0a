"""The papers' figures, their claims and the gains, as recorded data (`reports.shared.record`); nothing is drawn here.

The tables of a record, by name
-------------------------------
Every figure is one tidy table: `pair` (name of the model pair), the x column in SI units with the unit in its name,
`scheme`, `mean`, `low`, `high` (95 % interval of the mean over the draws; all three equal where nothing is drawn) and
`draws`. `manifest["tables"][name]` has title, what the paper says, source, x, y and units.

===================== ============================ ========================================================
table                 x                            y; schemes; further columns
===================== ============================ ========================================================
ms_fig3               draft_length_tokens          goodput [token/s]; "one length" at 0 to 24, "closed form"
ms_fig4_verification  verify_s                     L* [token]; "closed form (real)", "closed form (whole)", "search"
ms_fig4_latency       per_token_s                  the same
ms_fig4_acceptance    acceptance                   the same
ms_fig5               batch_devices                verification time [s]; "fit of the paper", "measured: NAME"
ms_fig6               devices (one value)          goodput; optimum, centralised, centralised-serial, point-to-point,
                                                   server-only
ms_fig7               bandwidth_hz                 goodput; optimum, equal-bandwidth, homogeneous, fixed
ms_grid               bandwidth_hz                 goodput; optimum, grid; `devices`
ms_fig8               devices                      as ms_fig7
ud_fig6               uplink_devices               delay [s]; "uplink", "downlink", "slower of the two"; `example` (the
                                                   same of draw 0 alone)
ud_fig7_8_goodput     downlink_power_dbm           goodput; optimum, greedy
ud_fig7_8_length      downlink_power_dbm           mean draft length [token]; optimum, greedy
ud_fig7_8_shares      downlink_power_dbm           share of the devices [1]; optimum, greedy; `share`: "accepted",
                                                   "uplink" or "downlink" (the three add up to 1)
ud_fig9_10            devices                      goodput; optimum, greedy, all-uplink, all-downlink,
                                                   random-modes; `power_ratio` (4 or 16)
ud_fig11              power_ratio                  goodput; optimum, greedy, uniform-length, computation-only-greedy,
                                                   computation-only
unknown_value         table_i_part                 goodput over that of planning by the law over prompts, less 1; four
                                                   ways to plan (`unknown_acceptance`)
unknown_regret        rounds                       tokens lost against knowing the prompt; five policies
===================== ============================ ========================================================

Scheme "optimum" is our best method; the column `method` of tables with schemes that are methods says which it was at
that point, "exact" or "decomposition" (elsewhere it repeats the scheme). A user's own method is the scheme
"MODULE:FUNCTION".

`draws_FIGURE` holds the draws behind a figure, one row for each pair, point, draw and scheme.

claims        `id`, `paper`, `kind` ("sentence" or "tacit assumption"), `sentence` (ours), `test`, `found` (text made of
              the numbers), `holding`, `failing`, `unsettled` (how many), `counted_in` (of what: "cases", "draws" or
              "steps"), `cases` (their number), `verdict` ("held", "held in part", "did not appear here", "not settled"
              or "not tested"), `where`; the manifest's entry says what each verdict means
claims_cases  `id`, `case`, `value`, `low`, `high`, `unit`, `draws`, `of` (what a share is of: "draws" or "steps"),
              `counted_in`, `outcome` ("holds", "fails", "holds in part", "not settled"; the manifest's entry says what
              each means), `wanted_low`, `wanted_high` (where the number has to lie), `beside` (other numbers, which
              decide nothing)
ms_centralised  `pair`, `scheme`, `quoted_ratio`, `centralised_tokens_per_s` (with it), `server_only_tokens_per_s`,
              `draft_s_per_token` (at which it comes out), `measured_s_per_token`, `plausible`
ud_greedy     `pair`, `downlink_power_dbm`, `scheme` (how [UD] Algorithm 1 is run), `mean`, `low`, `high` (of what it
              loses against our optimum), `draws`
gains         `problem`, `family`, `setting`, `baseline`, `scenarios`, `mean`, `median`, `p95`, `max`,
              `share_above_paper` (of scenarios with more than 88 %); gain = optimum/baseline - 1 [1]. Setting "all"
              pools a family, family "all" all families.
gains_quantiles  `problem`, `family`, `baseline`, `level` (0 to 1), `gain`
draws_gains   one row for each scenario and baseline: the gain, and the seed and setting that draw the scenario again
faults        `study`, `base`, `setting`, `draw`, `scenario_seed`, `scheme`, `status`, `cause`: where a method has no
              answer; the other tables hold what has one
"""
