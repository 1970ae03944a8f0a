// A click on the head of a column sorts its table: numbers as numbers, what is missing last.
const value = cell => {
  const text = cell.textContent.trim().replace("−", "-");
  const number = /^-?\d[\d.]*(e[-+]?\d+)?/i.exec(text);
  return text === "–" || text === "" ? null : number ? Number(number[0]) : text.toLowerCase();
};
const order = (a, b) => typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1;
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  [...table.querySelectorAll("th")].forEach((head, column, heads) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      const rows = [...body.rows].map(row => [value(row.cells[column]), row]);
      rows.sort(([a], [b]) => a === null || b === null ? (a === null) - (b === null) : sign * order(a, b));
      body.append(...rows.map(([, row]) => row));
    });
  });
}
