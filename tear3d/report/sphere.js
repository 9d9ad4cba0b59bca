// The cells of a search on a sphere.

// A patch of the sphere as triangles, fine enough to follow its curvature.
function patch(out, at, steps) {
  for (let i = 0; i < steps; i += 1) {
    for (let j = 0; j < steps; j += 1) {
      const [a, b, c, d] = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]].map(([p, q]) => at(p / steps, q / steps));
      out.push(...a, ...b, ...c, ...a, ...c, ...d);
    }
  }
}

function normalised(v, length = 1) {
  const size = length / Math.hypot(...v);
  return v.map((x) => x * size);
}

const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

// Positions of one cell, a little smaller than it is so that its border shows: an equal-angle square of the cube map, or a disc when `half` is negative.
function cellMesh(out, centre, half, radius) {
  if (half < 0) {
    const u = normalised(cross(centre, Math.abs(centre[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0]));
    const v = cross(centre, u);
    const rim = (k) => normalised(centre.map((x, i) =>
      x + Math.tan(-half) * (u[i] * Math.cos(k * Math.PI / 6) + v[i] * Math.sin(k * Math.PI / 6))), radius);
    for (let k = 0; k < 12; k += 1) out.push(...normalised(centre, radius), ...rim(k), ...rim(k + 1));
    return;
  }
  const size = centre.map(Math.abs);
  const face = size.indexOf(Math.max(...size));
  const [first, second] = [(face + 1) % 3, (face + 2) % 3];
  const [a, b] = [Math.atan2(centre[first], size[face]), Math.atan2(centre[second], size[face])];
  const inset = half - Math.min(0.06 * half, 0.01);
  patch(out, (p, q) => {
    const point = [0, 0, 0];
    point[face] = Math.sign(centre[face]);
    point[first] = Math.tan(a + (2 * p - 1) * inset);
    point[second] = Math.tan(b + (2 * q - 1) * inset);
    return normalised(point, radius);
  }, Math.max(1, Math.ceil(half / 0.05)));
}

function sphereLayers(sphere) {
  const rows = floats(sphere.rows);
  const [low, high] = sphere.levels;
  const positions = [];
  const spans = [];
  for (let k = 0; k < rows.length; k += 6) {
    const level = rows[k + 4] - low;
    const tone = Math.round((7 * level) / Math.max(1, high - low));
    const name = ["--split", `--depth-${tone}`, "--open"][rows[k + 5]] ?? "--split";
    const before = positions.length;
    // Deeper cells lie higher, by more than the sag of the flat pieces below them.
    cellMesh(positions, [...rows.subarray(k, k + 3)], rows[k + 3], 1 + 0.03 * (1 - 0.85 ** level));
    spans.push([name, (positions.length - before) / 3]);
  }
  const cells = { kind: "triangles", positions: new Float32Array(positions), visible: true };
  cells.recolour = () => {
    cells.tints = new Float32Array((cells.positions.length / 3) * 4);
    let at = 0;
    for (const [name, count] of spans) {
      const colour = cssColour(name);
      for (let k = 0; k < count; k += 1, at += 4) cells.tints.set([...colour, 1], at);
    }
  };
  cells.recolour();

  const ball = [];
  for (let face = 0; face < 6; face += 1) {
    const centre = [0, 0, 0];
    centre[face % 3] = face < 3 ? 1 : -1;
    cellMesh(ball, centre, Math.PI / 4 + 0.01, 0.992);
  }
  const list = [{ kind: "triangles", positions: new Float32Array(ball), colour: "--ball", visible: true }, cells];
  if (sphere.found) {
    const tip = normalised(sphere.found, 1.22);
    const pin = new Float32Array([...normalised(sphere.found), ...tip]);
    list.push({ kind: "lines", positions: pin, colour: "--found", visible: true });
    list.push({ kind: "points", positions: new Float32Array(tip), colour: "--found", size: 0.08, visible: true });
  }
  return list;
}

function showSphere(renderer, sphere) {
  const towards = normalised(sphere.towards);
  const right = normalised(cross(Math.abs(towards[2]) < 0.95 ? [0, 0, 1] : [0, 1, 0], towards));
  const camera = newCamera(turned([right, cross(towards, right), towards], 0.35, -0.2));
  const layers = sphereLayers(sphere);
  for (const canvas of findAll(`[data-sphere="${sphere.stage}"] canvas`)) {
    const options = { frame: [0, 0, 0, 1.16], flip: canvas.dataset.side === "back", fogginess: 0.4, fogStart: 0.55 };
    new View(canvas, renderer, camera, { ...options, layers });
  }
}
