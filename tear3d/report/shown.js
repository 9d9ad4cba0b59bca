// Fills the view with any number of clouds, each in one colour or coloured by a value, and wires the buttons.

// Colours the layers by one of the choices, or each in its own colour, and shows the legend that belongs to it.
function chooseTints(view, choice) {
  view.layers.forEach((layer, number) => {
    const tint = choice === "" ? null : data.clouds[number].tints[Number(choice)];
    if (tint) tint.made ??= fileTints(tint);
    layer.tints = tint ? tint.made : layer.own;
  });
  for (const legend of findAll("[data-tint]")) legend.classList.toggle("hidden", legend.dataset.tint !== choice);
}

function showClouds(renderer) {
  const o = data.orientation;
  const camera = new Camera([o.slice(0, 3), o.slice(3, 6), o.slice(6, 9)]);
  const view = new View(find("#view-shown"), renderer, camera, { frame: data.frame });
  const total = data.clouds.reduce((sum, cloud) => sum + cloud.count, 0);
  const size = 0.011 * Math.min(2.4, (60000 / (total + 1)) ** 0.35);
  view.layers = data.clouds.map(({ points, values, colour, alpha }, number) => ({
    name: String(number), kind: "points", positions: floats(points), colour, alpha, size, visible: true,
    own: values ? rampTints(values) : undefined,
  }));
  const chooser = find("#tint");
  chooseTints(view, chooser ? chooser.value : "");
  chooser?.addEventListener("change", () => {
    chooseTints(view, chooser.value);
    camera.redraw();
  });
  wireLayers([view], camera);
  find("#reset-view").addEventListener("click", () => camera.reset());
  keepDrawn(renderer, () => camera.redraw());
  camera.redraw();
}

startViews(showClouds);
