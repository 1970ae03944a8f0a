// A click on the head of a column sorts its table: numbers as numbers, what is missing last.
const value = cell => {
  const text = cell.textContent.trim().replace("−", "-");
  if (text === "equal" || text === "proven") return 0;
  const number = /^-?\d[\d.]*(e[-+]?\d+)?/i.exec(text);
  if (number && text.endsWith(" times")) return 100 * (Number(number[0]) - 1);
  return text === "–" || text === "" ? null : number ? Number(number[0]) : text.toLowerCase();
};
const order = (a, b) => typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1;
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((head, column, heads) => {
    const button = document.createElement("span"); // a real button is left out where a printed table repeats its head
    Object.assign(button, { role: "button", tabIndex: 0 });
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("keydown", event => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      button.click();
    });
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
// Every heading can be linked to; a part that is linked to, or printed, is unfolded.
for (const heading of document.querySelectorAll("h2[id], h3[id], h4[id]")) {
  const link = document.createElement("a");
  Object.assign(link, { className: "anchor", href: "#" + heading.id, textContent: "#" });
  link.setAttribute("aria-label", "Link to this part");
  heading.append(link);
}
const unfold = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let part = target?.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
  target?.scrollIntoView();
};
addEventListener("hashchange", unfold);
if (location.hash) unfold();
const opened = [];
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details:not([open], .data)")) { part.open = true; opened.push(part); }
});
addEventListener("afterprint", () => { for (const part of opened.splice(0)) part.open = false; });
