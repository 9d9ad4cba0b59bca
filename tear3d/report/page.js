// Starts the views of a registration and wires the buttons that copy.

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

for (const button of findAll("[data-copy]")) button.addEventListener("click", () => copy(button));
startViews((renderer) => {
  showClouds(renderer, data.scene);
  for (const sphere of data.spheres) showSphere(renderer, sphere);
  keepDrawn(renderer, () => {
    for (const camera of cameras) {
      for (const view of camera.views) view.layers.forEach((layer) => layer.recolour?.());
      camera.redraw();
    }
  });
});
