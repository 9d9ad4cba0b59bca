// Fills the view with any number of clouds, each in one colour or coloured by a value, and wires the buttons.

const data = JSON.parse(document.getElementById("report-data").textContent);

function floats(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}

// Values from 0 to 1 as colours between the stops of a ramp.
function tintsOf(values, ramp) {
  const stops = ramp.map((hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16) / 255));
  const tints = new Float32Array(4 * values.length);
  values.forEach((value, k) => {
    const at = Math.min(1, Math.max(0, value)) * (stops.length - 1);
    const low = Math.min(stops.length - 2, Math.floor(at));
    const mixed = stops[low].map((v, i) => v + (at - low) * (stops[low + 1][i] - v));
    tints.set([...mixed, 1], 4 * k);
  });
  return tints;
}

// Bytes as colours: red, green and blue, or the place in a palette.
function tintsOfBytes({ bytes, palette }) {
  const raw = Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0));
  const known = palette.map((hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16) / 255));
  const count = palette.length ? raw.length : raw.length / 3;
  const tints = new Float32Array(4 * count);
  for (let k = 0; k < count; k += 1) {
    tints.set(palette.length ? known[raw[k]] : [raw[3 * k] / 255, raw[3 * k + 1] / 255, raw[3 * k + 2] / 255], 4 * k);
    tints[4 * k + 3] = 1;
  }
  return tints;
}

// Colours the layers by one of the choices, or each in its own colour, and shows the legend that belongs to it.
function chooseTints(view, choice) {
  view.layers.forEach((layer, number) => {
    const cloud = data.clouds[number];
    const tint = choice === "" ? null : cloud.tints[Number(choice)];
    if (tint) tint.made ??= tintsOfBytes(tint);
    layer.tints = tint ? tint.made : layer.own;
  });
  for (const legend of document.querySelectorAll("[data-tint]")) {
    legend.classList.toggle("hidden", legend.dataset.tint !== choice);
  }
}

function showClouds(renderer) {
  const o = data.orientation;
  const camera = new Camera([o.slice(0, 3), o.slice(3, 6), o.slice(6, 9)]);
  const view = new View(document.getElementById("view-shown"), renderer, camera, { frame: data.frame });
  const total = data.clouds.reduce((sum, cloud) => sum + cloud.count, 0);
  const size = 0.011 * Math.min(2.4, (60000 / (total + 1)) ** 0.35);
  view.layers = data.clouds.map((cloud) => ({
    kind: "points", positions: floats(cloud.points), colour: cloud.colour, alpha: cloud.alpha, size, visible: true,
    own: cloud.values ? tintsOf(floats(cloud.values), data.ramp) : undefined,
  }));
  const chooser = document.getElementById("tint");
  chooseTints(view, chooser ? chooser.value : "");
  chooser?.addEventListener("change", () => {
    chooseTints(view, chooser.value);
    camera.redraw();
  });
  for (const button of document.querySelectorAll("[data-layer]")) {
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(on));
      view.layers[Number(button.dataset.layer)].visible = on;
      camera.redraw();
    });
  }
  document.getElementById("reset-view").addEventListener("click", () => camera.reset());
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    palette.clear();
    camera.redraw();
  });
  renderer.onRestore(() => camera.redraw());
  camera.redraw();
}

const renderer = createRenderer();
if (renderer) showClouds(renderer);
else document.documentElement.classList.add("no-webgl");
