"""The common runner: one fresh process per run, timed and capped, results as JSON lines that survive a kill."""
