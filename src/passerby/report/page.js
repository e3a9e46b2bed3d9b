// Draws the charts of the page, and saves and prints them. `ast`: expressions are interpreted and not evaluated.
"use strict";
(() => {
  const specs = JSON.parse(document.getElementById("specs").textContent);
  const views = {};
  const options = { actions: false, renderer: "svg", ast: true, tooltip: { theme: "custom" } };
  const drawn = Object.entries(specs).map(async ([key, spec]) => {
    const holder = document.getElementById("chart-" + key);
    const result = await vegaEmbed(holder, spec, options);
    views[key] = result.view;
    const svg = holder.querySelector("svg");
    svg.setAttribute("role", "img");
    svg.removeAttribute("aria-roledescription");
    svg.setAttribute("aria-label", holder.closest("figure").querySelector("h3").textContent + ". The table below holds its numbers.");
    svg.querySelectorAll("[aria-label], [role]").forEach((part) => {
      part.removeAttribute("aria-label"); part.removeAttribute("role"); part.removeAttribute("aria-roledescription");
    });
  });
  Promise.all(drawn).then(() => document.documentElement.setAttribute("data-drawn", drawn.length));
  document.querySelectorAll("button[data-chart]").forEach((button) => button.addEventListener("click", async () => {
    const picture = await views[button.dataset.chart].toSVG();
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([picture], { type: "image/svg+xml" }));
    link.download = button.dataset.chart + ".svg";
    link.click();
    URL.revokeObjectURL(link.href);
  }));
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((part) => { part.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((part) => { part.open = false; }));
})();
