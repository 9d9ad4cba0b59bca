// Fills the view of the map and wires its buttons.

function showMap(renderer) {
  const o = data.orientation;
  const camera = new Camera([o.slice(0, 3), o.slice(3, 6), o.slice(6, 9)]);
  const view = new View(find("#view-map"), renderer, camera, { frame: data.frame });
  const positions = floats(data.points);
  const scans = floats(data.scans);
  const tints = new Float32Array(4 * scans.length);
  scans.forEach((scan, k) => tints.set([...data.colours[scan].map((v) => v / 255), 1], 4 * k));
  const size = 0.012 * Math.min(2.2, (60000 / (scans.length + 1)) ** 0.35);
  view.layers = [{ name: "points", kind: "points", positions, tints, size, visible: true }];
  for (const name of ["kept", "dropped"]) {
    const lines = floats(data[name]);
    view.layers.push({ name, kind: "lines", positions: lines, colour: `--${name}`, alpha: 0.9, visible: true });
    view.layers.push({ name, kind: "points", positions: lines, colour: `--${name}`, size: 0.03, visible: true });
  }
  wireLayers([view], camera);
  find("#reset-view").addEventListener("click", () => camera.reset());
  keepDrawn(renderer, () => camera.redraw());
  camera.redraw();
}

startViews(showMap);
