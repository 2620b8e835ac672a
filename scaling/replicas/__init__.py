"""The replica decision: pure, the same live, in scenarios and in previews.

Read `decide` first: one tick in nine steps. `gates` is step 1, `change` steps 2 to 4 and 9, `metrics` step 6, `wish`
step 7, `window` step 8, `zero` the zero rule; `replica` and `fleet` say who counts. `answer` is what the Gateway's
answer leaves in `memory`; `reasons` and `stored` tell and keep the record; `lint` judges the settings.
"""
