// A small 3D viewer: one WebGL context draws every view, each view is a plain 2D canvas.
// That keeps any number of views within the browsers' limit of contexts and shares the buffers.

const VERTEX = `
attribute vec3 position;
attribute vec4 tint;
uniform mat4 model, view, projection;
uniform vec2 size;
uniform vec2 fogRange;
varying vec4 colour;
varying float fog;
void main() {
  vec4 eye = view * model * vec4(position, 1.0);
  gl_Position = projection * eye;
  gl_PointSize = clamp(size.x / gl_Position.w, 1.5, max(1.5, size.y));
  colour = tint;
  fog = clamp((-eye.z - fogRange.x) / (fogRange.y - fogRange.x), 0.0, 1.0);
}`;

const FRAGMENT = `
precision mediump float;
varying vec4 colour;
varying float fog;
uniform vec3 background;
uniform float fogginess, round;
void main() {
  vec2 p = gl_PointCoord - 0.5;
  if (round > 0.5 && dot(p, p) > 0.25) discard;
  gl_FragColor = vec4(mix(colour.rgb, background, fog * fogginess), colour.a);
}`;

const FIELD_OF_VIEW = 0.6;
const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

// Colours live in the style sheet; forgotten when the theme changes.
const palette = new Map();
function cssColour(name) {
  if (!palette.has(name)) {
    const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    palette.set(name, [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16) / 255));
  }
  return palette.get(name);
}

function createRenderer() {
  const canvas = document.createElement("canvas");
  const gl = canvas.getContext("webgl", { antialias: true, alpha: false });
  if (!gl) return null;
  let places;
  const place = (name) => places[name];

  function prepare() {
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.bindAttribLocation(program, 0, "position");
    gl.bindAttribLocation(program, 1, "tint");
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) {
      throw new Error("shader: " + gl.getProgramInfoLog(program));
    }
    gl.useProgram(program);
    const names = ["model", "view", "projection", "size", "fogRange", "background", "fogginess", "round"];
    places = Object.fromEntries(names.map((name) => [name, gl.getUniformLocation(program, name)]));
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE);
    gl.enableVertexAttribArray(0);
  }
  prepare();

  // One buffer per array, however many layers and views draw it; made anew after a lost context.
  let buffers = new WeakMap();
  function bindBuffer(array) {
    const known = buffers.get(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, known ?? gl.createBuffer());
    if (known) return;
    gl.bufferData(gl.ARRAY_BUFFER, array, gl.STATIC_DRAW);
    buffers.set(array, gl.getParameter(gl.ARRAY_BUFFER_BINDING));
  }

  function bind(layer) {
    bindBuffer(layer.positions);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
    if (layer.tints) {
      gl.enableVertexAttribArray(1);
      bindBuffer(layer.tints);
      gl.vertexAttribPointer(1, 4, gl.FLOAT, false, 0, 0);
    } else {
      gl.disableVertexAttribArray(1);
      gl.vertexAttrib4f(1, ...cssColour(layer.colour), layer.alpha ?? 1);
    }
  }

  function draw(view, detail) {
    const { width, height } = view.canvas;
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    const background = cssColour("--panel");
    gl.viewport(0, 0, width, height);
    gl.clearColor(...background, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const { matrix, projection, distance, radius } = view.optics();
    gl.uniformMatrix4fv(place("view"), false, matrix);
    gl.uniformMatrix4fv(place("projection"), false, projection);
    gl.uniform3f(place("background"), ...background);
    gl.uniform1f(place("fogginess"), view.fogginess);
    gl.uniform2f(place("fogRange"), distance - radius * view.fogStart, distance + radius);
    for (const layer of view.layers) {
      if (!layer.visible || layer.positions.length === 0) continue;
      bind(layer);
      gl.uniformMatrix4fv(place("model"), false, layer.matrix ?? IDENTITY);
      gl.uniform1f(place("round"), layer.kind === "points" ? 1 : 0);
      const size = (layer.size ?? 0) * radius * height;
      gl.uniform2f(place("size"), size, (1.7 * size) / distance);
      gl.depthMask(layer.kind !== "lines");
      const total = layer.positions.length / 3;
      const count = layer.kind === "points" ? Math.ceil(total * detail) : total;
      gl.drawArrays({ points: gl.POINTS, lines: gl.LINES, triangles: gl.TRIANGLES }[layer.kind], 0, count);
    }
    gl.depthMask(true);
    view.canvas.getContext("2d").drawImage(canvas, 0, 0);
  }

  return {
    draw,
    onRestore(redraw) {
      canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
      canvas.addEventListener("webglcontextrestored", () => { buffers = new WeakMap(); prepare(); redraw(); });
    },
  };
}

// Rotations are rows right, up, towards the viewer.
function turned(rows, dx, dy) {
  const [cx, sx, cy, sy] = [Math.cos(dx), Math.sin(dx), Math.cos(dy), Math.sin(dy)];
  const [r, u, t] = rows;
  const t1 = t.map((v, k) => v * cx - r[k] * sx);
  const r1 = r.map((v, k) => v * cx + t[k] * sx);
  return [r1, u.map((v, k) => v * cy - t1[k] * sy), t1.map((v, k) => v * cy + u[k] * sy)];
}

class Camera {
  constructor(rows) {
    this.start = rows;
    this.views = [];
    this.detail = 1;
    this.reset();
  }

  reset() {
    this.rows = this.start;
    this.zoom = 1;
    this.pan = [0, 0];
    this.redraw();
  }

  turn(dx, dy) { this.rows = turned(this.rows, dx, dy); this.redraw(true); }
  scale(factor) { this.zoom = Math.min(60, Math.max(0.2, this.zoom * factor)); this.redraw(true); }
  shift(dx, dy) { this.pan = [this.pan[0] + dx / this.zoom, this.pan[1] + dy / this.zoom]; this.redraw(true); }

  // While moving on a slow machine fewer points are drawn; all of them at rest.
  redraw(moving = false) {
    this.moving = moving;
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame((now) => {
      this.pending = false;
      if (this.moving) this.adapt(now - (this.lastFrame ?? now));
      this.lastFrame = now;
      const detail = this.moving ? this.detail : 1;
      for (const view of this.views) view.draw(detail);
      clearTimeout(this.rest);
      if (detail < 1) this.rest = setTimeout(() => this.redraw(), 150);
    });
  }

  adapt(pause) {
    if (pause > 45 && pause < 400) this.detail = Math.max(0.15, this.detail * 0.7);
    else if (pause < 25) this.detail = Math.min(1, this.detail * 1.1);
  }
}

class View {
  constructor(canvas, renderer, camera, options) {
    Object.assign(this, { canvas, renderer, camera, layers: [], fogginess: 0.55, fogStart: 0.6, flip: false }, options);
    camera.views.push(this);
    // The observer also reports the first size, which draws the first picture.
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.listen();
  }

  resize() {
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const box = this.canvas.getBoundingClientRect();
    const [width, height] = [Math.round(box.width * ratio), Math.round(box.height * ratio)];
    if (!width || !height || (this.sized && width === this.canvas.width && height === this.canvas.height)) return;
    Object.assign(this.canvas, { width, height });
    this.sized = true;
    this.draw(1);
  }

  optics() {
    const [x, y, z, radius] = this.frame;
    let [r, u, t] = this.camera.rows;
    if (this.flip) [r, t] = [r.map((v) => -v), t.map((v) => -v)];
    const dot = (a) => a[0] * x + a[1] * y + a[2] * z;
    const aspect = this.canvas.width / this.canvas.height;
    const distance = (radius * 1.06) / Math.sin(FIELD_OF_VIEW / 2) / Math.min(1, aspect) / this.camera.zoom;
    const [px, py] = this.camera.pan.map((v) => v * radius);
    const matrix = [
      r[0], u[0], t[0], 0, r[1], u[1], t[1], 0, r[2], u[2], t[2], 0,
      px - dot(r), py - dot(u), -dot(t) - distance, 1,
    ];
    const [near, far] = [Math.max(distance - radius * 6, distance * 0.02), distance + radius * 8];
    const f = 1 / Math.tan(FIELD_OF_VIEW / 2);
    const projection = [
      f / aspect, 0, 0, 0, 0, f, 0, 0,
      0, 0, (far + near) / (near - far), -1, 0, 0, (2 * far * near) / (near - far), 0,
    ];
    return { matrix, projection, distance, radius };
  }

  draw(detail) { if (this.sized) this.renderer.draw(this, detail); }

  listen() {
    const { canvas, camera } = this;
    const fingers = new Map();
    const spread = () => {
      const [a, b] = [...fingers.values()];
      return { size: Math.hypot(a.x - b.x, a.y - b.y), x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      canvas.focus({ preventScroll: true });
      fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    });
    canvas.addEventListener("pointermove", (event) => {
      const last = fingers.get(event.pointerId);
      if (!last) return;
      const unit = 2.2 / canvas.clientHeight;
      const before = fingers.size === 2 ? spread() : null;
      const [dx, dy] = [event.clientX - last.x, event.clientY - last.y];
      fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      if (before) {
        const now = spread();
        camera.scale(now.size / Math.max(1, before.size));
        camera.shift((now.x - before.x) * unit, (before.y - now.y) * unit);
      } else if (event.shiftKey || event.buttons & 2) camera.shift(dx * unit, -dy * unit);
      else camera.turn(dx * unit * 1.4, dy * unit * 1.4);
    });
    for (const name of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(name, (event) => fingers.delete(event.pointerId));
    }
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("dblclick", () => camera.reset());
    // The wheel scrolls the page until the view was clicked.
    canvas.addEventListener("wheel", (event) => {
      if (document.activeElement !== canvas) return;
      event.preventDefault();
      camera.scale(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)));
    }, { passive: false });
    canvas.addEventListener("pointerleave", () => { if (!fingers.size) canvas.blur(); });
    const keys = {
      ArrowLeft: () => camera.turn(-0.1, 0), ArrowRight: () => camera.turn(0.1, 0),
      ArrowUp: () => camera.turn(0, -0.1), ArrowDown: () => camera.turn(0, 0.1),
      "+": () => camera.scale(1.15), "-": () => camera.scale(1 / 1.15), "0": () => camera.reset(),
    };
    canvas.addEventListener("keydown", (event) => {
      if (!keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
  }
}
