// Colours of points by their distances, or as their files have them.

// One colour for each of `count` points.
function tintsOf(count, colour) {
  const tints = new Float32Array(4 * count);
  for (let k = 0; k < count; k += 1) {
    tints.set(colour(k), 4 * k);
    tints[4 * k + 3] = 1;
  }
  return tints;
}

// Bytes as colours between the stops of the ramp.
function rampTints(text) {
  const [shares, stops] = [bytes(text), data.ramp.map(channels)];
  return tintsOf(shares.length, (k) => {
    const at = (shares[k] / 255) * (stops.length - 1);
    const low = Math.min(stops.length - 2, Math.floor(at));
    return stops[low].map((v, i) => v + (at - low) * (stops[low + 1][i] - v));
  });
}

// Colours of the file: red, green and blue, or the place in a palette.
function fileTints({ bytes: text, palette }) {
  const raw = bytes(text);
  if (!palette.length) return tintsOf(raw.length / 3, (k) => [0, 1, 2].map((i) => raw[3 * k + i] / 255));
  const known = palette.map(channels);
  return tintsOf(raw.length, (k) => known[raw[k]]);
}
