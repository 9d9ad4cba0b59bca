// What the pages with a 3D view have in common.

const data = JSON.parse(document.getElementById("report-data").textContent);
const find = (selector, root = document) => root.querySelector(selector);
const findAll = (selector, root = document) => [...root.querySelectorAll(selector)];

const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const floats = (text) => new Float32Array(bytes(text).buffer);
const channels = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16) / 255);
const pressed = (button) => button.getAttribute("aria-pressed") === "true";

// Buttons that show and hide the layers of their name.
function wireLayers(views, camera) {
  for (const button of findAll("[data-layer]")) {
    button.addEventListener("click", () => {
      const on = !pressed(button);
      button.setAttribute("aria-pressed", String(on));
      for (const view of views) {
        for (const layer of view.layers) if (layer.name === button.dataset.layer) layer.visible = on;
      }
      camera.redraw();
    });
  }
}

// Buttons of which one is pressed at a time: `choose` gets what stands in its data.
function wireChoice(name, choose) {
  const buttons = findAll(`[data-${name}]`);
  for (const button of buttons) {
    button.addEventListener("click", () => {
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
      choose(button.dataset[name]);
    });
  }
}

// Calls `redraw` when the theme changes and when a lost context is back.
function keepDrawn(renderer, redraw) {
  renderer.onRestore(redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    palette.clear();
    redraw();
  });
}

// Starts the 3D views, or says that there are none.
function startViews(show) {
  const renderer = createRenderer();
  if (renderer) show(renderer);
  else document.documentElement.classList.add("no-webgl");
}
