// The two clouds before and after, in colours of choice, and another pose beside the one returned.

const cameras = [];

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

// Bits as the colours of points with a counterpart and without.
function nearTints(text, count) {
  const [bits, near, alone] = [bytes(text), cssColour("--inliers"), cssColour("--outliers")];
  return tintsOf(count, (k) => ((bits[k >> 3] >> (7 - (k & 7))) & 1 ? near : alone));
}

// Made when first asked for.
function remembered(make) {
  const made = new Map();
  return (key) => made.get(key) ?? made.set(key, make(key)).get(key);
}

function showClouds(renderer, scene) {
  const o = scene.orientation;
  const rows = [o.slice(0, 3), o.slice(3, 6), o.slice(6, 9)];
  const camera = newCamera(rows);
  const [source, target] = [floats(scene.source), floats(scene.target)];
  const pairs = { inliers: floats(scene.inliers), outliers: floats(scene.outliers) };
  // Several motions: each has a colour, and after registration a matrix of its own.
  const parts = scene.parts.map((part, k) => ({
    name: "inliers", pairs: floats(part.pairs), colour: `--part-${k % 6}`, matrix: part.matrix,
  }));
  const poses = Object.keys(scene.after);
  let pose = poses[poses.length - 1];
  let paint = "plain";
  const shades = remembered((name) => rampTints(scene.shades[name]));
  const own = remembered((number) => scene.tints[number].map((tint) => (tint ? fileTints(tint) : null)));
  const clouds = {
    source: {
      kind: "points", positions: source, colour: "--source", size: dotSize(source), alpha: parts.length ? 0.25 : 1,
    },
    target: {
      kind: "points", positions: target, colour: "--target", size: dotSize(target), alpha: scene.faint ? 0.45 : 1,
    },
  };
  const faded = { colour: "--soft", alpha: 0.3 };

  // Target and source, the latter coloured by which of its points have a counterpart.
  function overlapping(matrix, near) {
    const layer = { ...clouds.source, name: "source", matrix };
    layer.recolour = () => { layer.tints = nearTints(near, source.length / 3); };
    layer.recolour();
    return [{ ...clouds.target, ...faded, name: "target" }, layer];
  }

  function coloured(matrix, after) {
    if (after && paint === "overlap") return overlapping(matrix, scene.near[pose]);
    const list = [{ ...clouds.target, name: "target" }, { ...clouds.source, name: "source", matrix }];
    if (after && paint === "distances") {
      Object.assign(list[0], faded);
      list[1].tints = shades(pose);
    }
    if (paint.startsWith("tint-")) [list[1].tints, list[0].tints] = own(Number(paint.slice(5)));
    return list;
  }

  function layers(matrix, after) {
    const list = coloured(matrix, after);
    const inliers = parts.length ? parts : [{ name: "inliers", pairs: pairs.inliers, colour: "--inliers" }];
    for (const part of [{ name: "outliers", pairs: pairs.outliers, colour: "--outliers" }, ...inliers]) {
      const positions = movedPairs(part.pairs, (after && part.matrix) || matrix);
      const alpha = Math.min(0.6, Math.max(0.12, 4 / Math.sqrt(positions.length / 6 + 1)));
      const { name, colour } = part;
      list.push({ name, kind: "lines", positions, colour, alpha });
      if (name === "inliers") list.push({ name, kind: "points", positions, colour, size: 0.024 });
    }
    for (const layer of list) layer.visible = pressed(find(`[data-layer=${layer.name}]`));
    return list;
  }

  const views = ["before", "after"].map((name, k) =>
    new View(find(`#view-${name}`), renderer, camera, { frame: scene.frames[k] }));
  const fill = () => {
    views[0].layers = layers(scene.before, false);
    views[1].layers = layers(scene.after[pose], true);
    for (const legend of findAll("[data-legend]")) {
      const { legend: of, of: about } = legend.dataset;
      legend.classList.toggle("hidden", of !== paint || (about !== undefined && about !== pose));
    }
    camera.redraw();
  };
  fill();
  wireLayers(views, camera);
  wireChoice("pose", (name) => { pose = name; fill(); });
  // Lines of pairs would cover the colours: they can be shown again.
  wireChoice("paint", (name) => {
    paint = name;
    find("[data-layer=inliers]").setAttribute("aria-pressed", String(name === "plain"));
    fill();
  });
  find("#reset-view").addEventListener("click", () => camera.reset());
  if (scene.others.length) showOthers();

  function showOthers() {
    const beside = newCamera(rows);
    const side = (name) => new View(find(`#view-${name}`), renderer, beside, { frame: scene.frames[1] });
    const both = [side("returned"), side("other")];
    const returned = poses[poses.length - 1];
    const shown = (matrix, near) => {
      const plain = [{ ...clouds.target, name: "target" }, { ...clouds.source, name: "source", matrix }];
      const list = near ? overlapping(matrix, near) : plain;
      for (const layer of list) layer.visible = true;
      return list;
    };
    const choose = (number) => {
      const other = scene.others[Number(number) - 1];
      both[0].layers = shown(scene.after[returned], scene.near?.[returned]);
      both[1].layers = shown(other.matrix, other.near);
      for (const view of both) view.frame = other.frame;
      for (const caption of findAll("[data-about-other]")) {
        caption.classList.toggle("hidden", caption.dataset.aboutOther !== number);
      }
      beside.redraw();
    };
    choose("1");
    wireChoice("other", choose);
  }
}
