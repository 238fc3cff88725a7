// Shows and hides what Python has drawn: an attempt, a second one beneath it, a turn's tokens.
"use strict";
(() => {
  const find = (what, root = document) => root.querySelector(what);
  const all = (what, root = document) => [...root.querySelectorAll(what)];
  const page = find("#page"), pair = find("#pair");
  const attempts = find("#attempt"), against = find("#against"), share = find("#share");
  let turn = 0;

  const section = (i) => find(`section[data-attempt="${i}"]`);
  const rows = (i) => all("tbody tr", section(i));
  const said = (row) => find("td.said details", row).innerHTML;  // open or not
  const shown = () => (pair.hidden ? section(attempts.value) : pair);
  const own = () => all(`tbody tr[data-attempt="${attempts.value}"]`, shown());

  // Row by row: a turn of the one, the same turn of the other; what both begin with is said once.
  function interleaved(i, j) {
    const a = rows(i), b = rows(j), body = document.createElement("tbody");
    let alike = 0;
    while (alike < a.length && alike < b.length && said(a[alike]) === said(b[alike])) alike += 1;
    for (let k = 0; k < Math.max(a.length, b.length); k += 1) {
      for (const row of [a[k], b[k]]) {
        if (!row) continue;
        const copy = row.cloneNode(true);
        copy.className = k < alike ? "both" : "own";
        find("th", copy).append(` #${row.dataset.attempt}`);
        if (row === b[k] && k < alike) {
          copy.classList.add("second");
          find("td.said", copy).textContent = "= the same turn";
        }
        body.append(copy);
      }
    }
    return [body, alike];
  }

  function compare() {
    const i = attempts.value, j = against.value;
    pair.hidden = j === "-1" || i === j;
    if (pair.hidden) return;
    const [body, alike] = interleaved(i, j), scroll = find(".wb-scroll", section(i)).cloneNode(true);
    find("tbody", scroll).replaceWith(body);
    const words = document.createElement("p");
    const turns = alike === 1 ? "turn" : `${alike} turns`;
    words.textContent = alike ? `#${i} and #${j} begin with the same ${turns}.`
      : `#${i} and #${j} differ from the first turn on.`;
    pair.replaceChildren(scroll, words);
  }

  function mark(scrollTo) {
    turn = Math.max(0, Math.min(turn, rows(attempts.value).length - 1));
    all("tr.here").forEach((row) => row.classList.remove("here"));
    const row = own()[turn];
    row.classList.add("here");
    if (scrollTo) row.scrollIntoView({ block: "nearest" });
    all("[data-tokens]", section(attempts.value)).forEach((one) => {
      one.hidden = one.dataset.tokens !== String(turn);
    });
  }

  function draw() {
    compare();
    all("section[data-attempt]").forEach((one) => {
      one.hidden = one.dataset.attempt !== attempts.value;
    });
    find(".wb-scroll", section(attempts.value)).hidden = !pair.hidden;
    mark(true);
  }

  function choose(by) {
    const next = Number(attempts.value) + by;
    if (next < 0 || next >= attempts.options.length) return;
    attempts.value = String(next);
    draw();
  }

  const keys = {
    ArrowDown: () => { turn += 1; mark(true); },
    ArrowUp: () => { turn -= 1; mark(true); },
    ArrowRight: () => choose(1),
    ArrowLeft: () => choose(-1),
    Enter: () => { const opened = find("details", own()[turn]); if (opened) opened.open = !opened.open; },
    s: () => { share.checked = !share.checked; drawShare(); },
  };
  // Every cell keeps the number that it does not show.
  function drawShare() {
    all("td[data-other]").forEach((cell) => {
      [cell.innerHTML, cell.dataset.other] = [cell.dataset.other, cell.innerHTML];
    });
  }

  document.addEventListener("keydown", (event) => {
    // a menu has arrows and letters of its own, and a row's text its Enter
    const taken = event.target.closest(event.key === "Enter" ? "select, summary" : "select");
    if (taken || event.ctrlKey || event.altKey || event.metaKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  page.addEventListener("click", (event) => {
    const row = event.target.closest("tbody tr");
    if (!row || row.dataset.attempt !== attempts.value) return;
    turn = Number(row.dataset.turn);
    mark(false);
  });
  attempts.addEventListener("change", draw);
  against.addEventListener("change", draw);
  share.addEventListener("change", drawShare);

  const first = find("section[data-attempt]:not([hidden])");
  attempts.value = first.dataset.attempt;
  turn = Number(find("[data-tokens]:not([hidden])", first).dataset.tokens);
  draw();
})();
