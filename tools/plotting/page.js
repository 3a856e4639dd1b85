"use strict";
// Tables sort by the column whose title is pressed; cells carry their value, missing ones stay last.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const descending = head.getAttribute("aria-sort") !== "descending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const text = head.classList.contains("text");
    const rows = [...table.tBodies[0].rows].map((row) => [value(row), row]);
    rows.sort(([a], [b]) => {
      if (a === "" || b === "") return (a === "") - (b === "");
      const order = text ? a.localeCompare(b, "en", { numeric: true }) : Number(a) - Number(b);
      return descending ? -order : order;
    });
    table.tBodies[0].append(...rows.map(([, row]) => row));
  }));
}
// For whoever tests the page: how many of its plots are really there.
addEventListener("load", () => {
  const images = [...document.images];
  document.documentElement.dataset.plots = `${images.filter((image) => image.naturalWidth > 0).length}/${images.length}`;
});
