"""The whole problem at once: a bound of the full saving over all rotations and translations."""
