"use strict";
// What the list and the details of a row share: the words of the page, numbers, and elements.
var falcon = (function () {
  var data = JSON.parse(document.getElementById("rows").textContent);
  // From here on evidence is called for or against a prediction, and a value unusual.
  var AGAINST = 0.75, FOR = 0.5, UNUSUAL = 0.05;

  function say(key) {
    var given = Array.prototype.slice.call(arguments, 1);
    return data.words[key].replace(/\{(\d)\}/g, function (whole, i) { return String(given[Number(i)]); });
  }

  function make(tag, attributes, children) {
    var node = document.createElement(tag);
    Object.keys(attributes || {}).forEach(function (name) {
      if (name === "text") { node.textContent = attributes[name]; }
      else if (name === "on") {
        Object.keys(attributes.on).forEach(function (event) { node.addEventListener(event, attributes.on[event]); });
      } else if (attributes[name] !== null && attributes[name] !== undefined) { node.setAttribute(name, attributes[name]); }
    });
    (children || []).forEach(function (child) { if (child) { node.appendChild(child); } });
    return node;
  }

  function percent(share) {
    if (share >= 1) { return "100%"; }
    return (Math.floor(share * 1000) / 10).toFixed(1) + "%";
  }
  // A share of rows: never rounded to none or to all.
  function part(share) {
    if (share > 0 && share < 0.01) { return "under 1%"; }
    if (share < 1 && share > 0.99) { return "over 99%"; }
    return Math.round(100 * share) + "%";
  }

  function meter(share, text, kind) {
    var fill = make("i");
    fill.style.width = Math.round(100 * Math.max(0, Math.min(1, share))) + "%";
    return make("span", { class: "num" }, [
      make("span", { class: "meter" + (kind ? " " + kind : ""), "aria-hidden": "true" }, [fill]), make("span", { text: text })
    ]);
  }

  function shown(value, unit) {
    if (value === null || value === undefined) { return say("undefined"); }
    if (unit === "share" || unit === "odds") { return percent(value); }
    return unit === "ratio" ? value.toFixed(2) + " ×" : String(Math.round(value * 1000) / 1000);
  }

  function table(key, heads, lines) {
    return make("table", { class: "pairs", "data-key": key }, [
      heads ? make("thead", {}, [make("tr", {}, heads.map(function (head) { return make("th", { scope: "col", text: head }); }))]) : null,
      make("tbody", {}, lines)
    ]);
  }

  function neighbours(row) {
    var k = row.neighbours[0], alike = row.neighbours[1], dots = [], i;
    for (i = 0; i < k; i += 1) { dots.push(make("i", { class: i < alike ? "" : "other" })); }
    return [
      make("h4", { text: say("neighbours") }),
      make("div", { class: "dots", "aria-hidden": "true" }, dots),
      make("p", { class: "quiet", "data-key": "neighbours", text: say("neighbours.words", alike, k, k - alike) })
    ];
  }

  function evidence(row) {
    var sides = { against: [], "for": [], typical: [] };
    data.signals.forEach(function (signal, i) {
      var doubt = row.doubt[i], trust = row.trust[i];
      if (doubt === null || doubt === undefined) { return; }
      var side = doubt >= AGAINST ? "against" : trust >= FOR ? "for" : "typical";
      sides[side].push({ signal: signal, value: shown(row.signals[i], signal.unit), rank: side === "against" ? doubt : trust });
    });
    var parts = [make("p", { class: "quiet", text: say("evidence.note") })];
    Object.keys(sides).forEach(function (side) {
      if (!sides[side].length) { return; }
      sides[side].sort(function (a, b) { return b.rank - a.rank; });
      parts.push(make("h4", { text: say(side) }));
      parts.push(table("evidence-" + side, null, sides[side].map(function (one) {
        return make("tr", {}, [
          make("th", { scope: "row", text: one.signal.label }), make("td", { class: "num", text: one.value }),
          side === "typical" ? make("td") : make("td", {}, [meter(one.rank, say(side + ".rank", part(one.rank)), side)])
        ]);
      })));
    });
    return make("div", { class: "evidence" }, parts);
  }

  function place(row, i) {
    var where = row.place[i], tail = row.tail[i];
    if (where === null || where === undefined) { return ""; }
    if (data.kinds[i] === "categorical" || data.texts[row.values[i]] === "missing") {
      return where > 0 ? say("place.share", part(where)) : say("place.new");
    }
    if (tail > 0.2) { return say("place.middle"); }
    return where < 0.5 ? say("place.low", part(1 - where)) : say("place.high", part(where));
  }

  function values(row) {
    var near = data.names.indexOf("near") >= 0;
    var order = data.columns.map(function (column, i) { return i; }).sort(function (a, b) { return row.tail[a] - row.tail[b] || a - b; });
    var k = row.neighbours ? row.neighbours[0] : "";
    var heads = [say("column"), say("value")].concat(near ? [say("near", k)] : [], [say("unusual")]);
    return make("div", { class: "values" }, [
      make("h4", { text: say("values") }),
      table("values", heads, order.map(function (i) {
        var odd = row.tail[i] <= UNUSUAL ? "odd" : "";
        return make("tr", { class: odd }, [
          make("th", { scope: "row", dir: "auto", text: data.columns[i] }),
          make("td", { dir: "auto", text: data.texts[row.values[i]] }),
          near ? make("td", { dir: "auto", "data-label": say("near", k), text: data.texts[row.near[i]] }) : null,
          make("td", { "data-label": say("unusual"), text: place(row, i) })
        ]);
      })),
      near ? make("p", { class: "quiet", text: say("near.note") }) : null,
      data.columns_left_out ? make("p", { class: "quiet", text: say("columns.more", data.columns_left_out) }) : null
    ]);
  }

  function panel(row, tag) {
    var why = make("div", {}, [make("h4", { text: say("why") }), make("p", { text: row.reason })]);
    (row.regions || []).forEach(function (i) {
      why.appendChild(make("p", { dir: "auto", title: data.region_words[i], text: say("region") + ": " + data.regions[i] }));
    });
    if (tag) { why.appendChild(make("p", {}, [make("span", { text: say("known") + ": " }), tag])); }
    if (row.neighbours) { neighbours(row).forEach(function (part) { why.appendChild(part); }); }
    return make("div", { class: "panel" }, [
      why, row.signals ? evidence(row) : null, row.values ? values(row) : null
    ]);
  }

  return { data: data, say: say, make: make, percent: percent, meter: meter, panel: panel };
}());
