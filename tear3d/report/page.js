// Fills the views from the page's data and wires the buttons.

const data = JSON.parse(document.getElementById("report-data").textContent);
const find = (selector, root = document) => root.querySelector(selector);
const findAll = (selector, root = document) => [...root.querySelectorAll(selector)];
const cameras = [];

function floats(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}

function newCamera(rows) {
  const camera = new Camera(rows);
  cameras.push(camera);
  return camera;
}

// Pairs are rows of six numbers: a source point, to be moved by the matrix, and its target point.
function movedPairs(pairs, m) {
  const out = pairs.slice();
  for (let k = 0; k < out.length; k += 6) {
    const [x, y, z] = pairs.subarray(k, k + 3);
    for (let i = 0; i < 3; i += 1) out[k + i] = m[i] * x + m[4 + i] * y + m[8 + i] * z + m[12 + i];
  }
  return out;
}

// Few points need larger dots to read as a surface.
const dotSize = (positions) => 0.017 * Math.min(2.2, (30000 / (positions.length / 3 + 1)) ** 0.35);

// From near to far; the style sheet has the same colours for the legend.
const SHADES = [[0.11, 0.5, 0.47], [0.91, 0.73, 0.17], [0.76, 0.15, 0.12]];

function tints(shares) {
  const out = new Float32Array(4 * shares.length);
  shares.forEach((share, k) => {
    const at = share * (SHADES.length - 1);
    const first = Math.min(SHADES.length - 2, Math.floor(at));
    for (let i = 0; i < 3; i += 1) out[4 * k + i] = SHADES[first][i] + (at - first) * (SHADES[first + 1][i] - SHADES[first][i]);
    out[4 * k + 3] = 1;
  });
  return out;
}

function showClouds(renderer, scene) {
  const o = scene.orientation;
  const camera = newCamera([o.slice(0, 3), o.slice(3, 6), o.slice(6, 9)]);
  const [source, target] = [floats(scene.source), floats(scene.target)];
  const pairs = { inliers: floats(scene.inliers), outliers: floats(scene.outliers) };
  // Several motions: each has a colour, and after registration a matrix of its own.
  const parts = scene.parts.map((part, k) => ({
    name: "inliers", pairs: floats(part.pairs), colour: `--part-${k % 6}`, matrix: part.matrix,
  }));
  const poses = Object.keys(scene.after);
  const shades = scene.shades ? tints(floats(scene.shades)) : null;
  let shaded = false;
  const on = (name) => find(`[data-layer=${name}]`).getAttribute("aria-pressed") === "true";
  const clouds = {
    source: {
      kind: "points", positions: source, colour: "--source", size: dotSize(source), alpha: parts.length ? 0.25 : 1,
    },
    target: {
      kind: "points", positions: target, colour: "--target", size: dotSize(target), alpha: scene.faint ? 0.45 : 1,
    },
  };

  function layers(matrix, after) {
    const list = [{ ...clouds.target, name: "target" }, { ...clouds.source, name: "source", matrix }];
    if (after && shaded && pose === poses[poses.length - 1]) list[1].tints = shades;
    const inliers = parts.length ? parts : [{ name: "inliers", pairs: pairs.inliers, colour: "--inliers" }];
    for (const part of [{ name: "outliers", pairs: pairs.outliers, colour: "--outliers" }, ...inliers]) {
      const positions = movedPairs(part.pairs, (after && part.matrix) || matrix);
      const alpha = Math.min(0.6, Math.max(0.12, 4 / Math.sqrt(positions.length / 6 + 1)));
      const { name, colour } = part;
      list.push({ name, kind: "lines", positions, colour, alpha });
      if (name === "inliers") list.push({ name, kind: "points", positions, colour, size: 0.024 });
    }
    for (const layer of list) layer.visible = on(layer.name);
    return list;
  }

  let pose = poses[poses.length - 1];
  const views = ["before", "after"].map((name, k) =>
    new View(find(`#view-${name}`), renderer, camera, { frame: scene.frames[k] }));
  const fill = () => {
    views[0].layers = layers(scene.before, false);
    views[1].layers = layers(scene.after[pose], true);
    camera.redraw();
  };
  fill();

  for (const button of findAll("[data-layer]")) {
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(!on(button.dataset.layer)));
      for (const view of views) {
        for (const layer of view.layers) layer.visible = on(layer.name);
      }
      camera.redraw();
    });
  }
  for (const button of findAll("[data-pose]")) {
    button.addEventListener("click", () => {
      pose = button.dataset.pose;
      for (const other of findAll("[data-pose]")) other.setAttribute("aria-pressed", String(other === button));
      fill();
    });
  }
  find("[data-shade]")?.addEventListener("click", (event) => {
    shaded = !shaded;
    event.currentTarget.setAttribute("aria-pressed", String(shaded));
    find("#shade-legend").classList.toggle("hidden", !shaded);
    fill();
  });
  find("#reset-view").addEventListener("click", () => camera.reset());
}

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

async function copy(button) {
  const text = find(button.dataset.copy).textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.body.appendChild(document.createElement("textarea"));
    area.value = text;
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  const label = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = label; }, 1200);
}

function start() {
  for (const button of findAll("[data-copy]")) button.addEventListener("click", () => copy(button));
  const renderer = createRenderer();
  if (!renderer) {
    document.documentElement.classList.add("no-webgl");
    return;
  }
  showClouds(renderer, data.scene);
  for (const sphere of data.spheres) showSphere(renderer, sphere);
  const redraw = () => cameras.forEach((camera) => camera.redraw());
  renderer.onRestore(redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    palette.clear();
    for (const camera of cameras) {
      for (const view of camera.views) view.layers.forEach((layer) => layer.recolour?.());
    }
    redraw();
  });
}

start();
