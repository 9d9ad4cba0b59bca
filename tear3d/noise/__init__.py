"""The noise bound, when nobody gives it: found from the pairs, at all scales at once."""
