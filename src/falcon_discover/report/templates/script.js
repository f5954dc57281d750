"use strict";
(function () {
  var data = JSON.parse(document.getElementById("rows").textContent);
  var PAGE = 25;
  // The mark, its sign, its key, and what it says of a row.
  var MARKS = [
    ["right", "✓", "r", "the prediction is right"], ["wrong", "✗", "w", "the prediction is wrong"],
    ["label wrong", "⚑", "l", "wrong label, right prediction"], ["unsure", "?", "u", "the prediction is unsure"]
  ];

  // A browser may refuse storage for files: marks and theme then last as long as the page.
  function stored(key) { try { return window.localStorage.getItem(key); } catch (e) { return null; } }
  function store(key, value) { try { window.localStorage.setItem(key, value); } catch (e) { return; } }

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

  function theme() {
    var root = document.documentElement, button = document.getElementById("theme");
    function dark() {
      var chosen = root.getAttribute("data-theme");
      return chosen ? chosen === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
    }
    function label() { button.textContent = dark() ? "Light mode" : "Dark mode"; }
    var kept = stored("falcon-discover:theme");
    if (kept === "dark" || kept === "light") { root.setAttribute("data-theme", kept); }
    button.addEventListener("click", function () {
      var next = dark() ? "light" : "dark";
      root.setAttribute("data-theme", next);
      store("falcon-discover:theme", next);
      label();
    });
    button.hidden = false;
    label();
  }

  var rows = data.rows.map(function (values, rank) {
    var row = { rank: rank + 1 };
    data.names.forEach(function (name, i) { row[name] = values[i]; });
    return row;
  });
  function has(name) { return data.names.indexOf(name) >= 0; }
  var known = has("actual");
  var storage = "falcon-discover:marks:" + data.key;
  var marks = kept(stored(storage));

  // What is stored may be of anybody who writes to the same storage: only marks are taken.
  function kept(words) {
    var found = {}, read;
    try { read = JSON.parse(words || "{}"); } catch (e) { read = null; }
    if (!read || typeof read !== "object") { return found; }
    Object.keys(read).forEach(function (row) {
      if (MARKS.some(function (kind) { return kind[0] === read[row]; })) { found[row] = read[row]; }
    });
    return found;
  }

  function percent(share) {
    if (share >= 1) { return "100 %"; }
    return (Math.floor(share * 1000) / 10).toFixed(1) + " %";
  }
  function name(row) { return has("id") ? String(row.id) : String(row.row); }
  function region(row) { return row.region >= 0 ? data.region_words[row.region] : ""; }
  function haystack(row) {
    if (!row.text) {
      row.text = [row.row, row.id, data.classes[row.predicted], region(row), row.reason].concat(row.values || []).join(" ").toLowerCase();
    }
    return row.text;
  }

  var state = { sort: "rank", down: false, limit: PAGE, open: {}, blind: false, query: "", predicted: "", region: "", mark: "", label: "" };
  var body, status, tally, more;

  function chosen() {
    var query = state.query.trim().toLowerCase();
    var found = rows.filter(function (row) {
      var mark = marks[row.row] || "none";
      return (!query || haystack(row).indexOf(query) >= 0) &&
        (state.predicted === "" || String(row.predicted) === state.predicted) &&
        (state.region === "" || String(row.region) === state.region) &&
        (state.mark === "" || mark === state.mark) &&
        (state.blind || state.label === "" || (row.actual === row.predicted ? "right" : "wrong") === state.label);
    });
    var key = state.sort, sign = state.down ? -1 : 1;
    return found.sort(function (a, b) {
      var x = key === "name" ? (has("id") ? name(a) : a.row) : key === "label" ? Number(a.actual !== a.predicted) : a[key];
      var y = key === "name" ? (has("id") ? name(b) : b.row) : key === "label" ? Number(b.actual !== b.predicted) : b[key];
      if (typeof x === "string") { return sign * x.localeCompare(y, undefined, { numeric: true }) || a.rank - b.rank; }
      return sign * (x - y) || a.rank - b.rank;
    });
  }

  function mark(row, value) {
    if (marks[row.row] === value) { delete marks[row.row]; } else { marks[row.row] = value; }
    store(storage, JSON.stringify(marks));
    document.querySelectorAll('tr.row[data-row="' + row.rank + '"]').forEach(function (line) { showMark(line, row); });
    count();
  }
  function showMark(line, row) {
    var own = marks[row.row] || null;
    if (own) { line.setAttribute("data-mark", own); } else { line.removeAttribute("data-mark"); }
    line.querySelectorAll(".marks button").forEach(function (button) {
      button.setAttribute("aria-pressed", String(button.getAttribute("data-mark") === own));
    });
  }

  // A label can be marked wrong where it is shown and contradicts the prediction.
  function offered(row) {
    var contradicted = known && !state.blind && row.actual !== row.predicted;
    return MARKS.filter(function (kind) { return contradicted || kind[0] !== "label wrong"; });
  }

  function tag(row) {
    if (state.blind) { return make("span", { class: "tag", text: "hidden" }); }
    var right = row.actual === row.predicted;
    var words = right ? "✓ right" : "✗ wrong: " + data.classes[row.actual];
    if (row.label_doubt >= 0.5) { words += " (label doubtful: " + percent(row.label_doubt) + ")"; }
    return make("span", { class: "tag " + (right ? "right" : "wrong"), dir: "auto", text: words });
  }

  function buttons(row) {
    return make("span", { class: "marks", role: "group", "aria-label": "Mark row " + name(row) }, offered(row).map(function (kind) {
      return make("button", {
        type: "button", "data-mark": kind[0], "aria-pressed": "false", title: kind[0] + " (" + kind[2] + ")",
        "aria-label": "Row " + name(row) + ": " + kind[3], text: kind[1],
        on: { click: function () { mark(row, kind[0]); } }
      });
    }));
  }

  function meter(share, text) {
    var fill = make("i");
    fill.style.width = Math.round(100 * Math.max(0, Math.min(1, share))) + "%";
    return make("span", { class: "num" }, [make("span", { class: "meter", "aria-hidden": "true" }, [fill]), make("span", { text: text })]);
  }

  function risk(row) {
    if (row.risk === null || row.risk === undefined) { return make("span", { class: "num", text: row.suspicion.toFixed(3) }); }
    var most = rows.reduce(function (top, other) { return Math.max(top, other.risk || 0); }, 0.0001);
    return meter(row.risk / most, row.risk > 0 ? percent(row.risk) : "0 %");
  }

  function columns() {
    return [
      ["rank", "#", "wide", function (row) { return make("span", { class: "num", text: row.rank }); }],
      ["name", data.identity || "Row", "", function (row) {
        return make("button", {
          type: "button", class: "open" + (name(row).length <= 14 ? " short" : ""), dir: "auto", "aria-expanded": String(Boolean(state.open[row.rank])), text: name(row),
          "aria-label": "Row " + name(row) + ": details", on: { click: function () { toggle(row); } }
        });
      }],
      ["predicted", "Predicted", "", function (row) { return make("bdi", { text: data.classes[row.predicted] }); }],
      ["confidence", "Sure", "wide", function (row) { return make("span", { class: "num", text: percent(row.confidence) }); }],
      [has("risk") ? "risk" : "suspicion", has("risk") ? "Risk" : "Suspicion", "", risk],
      known ? ["label", "Label", "wide", tag] : null,
      ["reason", "Why", "why wide", function (row) { return make("span", { text: row.reason }); }],
      ["", "Your mark", "act", buttons]
    ].filter(Boolean);
  }

  // Neither the filter nor the order may tell what is hidden.
  function hide(labels) {
    state.blind = labels;
    if (labels && state.sort === "label") { state.sort = "rank"; state.down = false; }
    document.getElementById("filter-label").disabled = labels;
    document.querySelector('th[data-key="label"] .sort').disabled = labels;
    draw();
  }

  function toggle(row) {
    state.open[row.rank] = !state.open[row.rank];
    draw();
    var button = body.querySelector('tr.row[data-row="' + row.rank + '"] .open');
    if (button) { button.focus(); }
  }

  function shown(value, unit) {
    if (value === null || value === undefined) { return "not defined"; }
    if (unit === "share" || unit === "odds") { return percent(value); }
    return unit === "ratio" ? value.toFixed(2) + " ×" : String(Math.round(value * 1000) / 1000);
  }

  function pairs(heads, lines) {
    var third = heads.length > 2;
    return make("table", { class: "pairs" }, [
      make("thead", {}, [make("tr", {}, heads.map(function (head, i) { return make("th", { scope: "col", class: i === 1 && third ? "num" : "", text: head }); }))]),
      make("tbody", {}, lines.map(function (line) {
        return make("tr", {}, [make("th", { scope: "row", dir: "auto", text: line[0] }), make("td", { class: third ? "num" : "", dir: "auto", text: line[1] })]
          .concat(third ? [make("td", {}, [meter(line[2], Math.round(100 * line[2]) + " %")])] : []));
      }))
    ]);
  }

  function panel(row) {
    var why = make("div", {}, [make("h4", { text: "Why" }), make("p", { text: row.reason })]);
    if (region(row)) { why.appendChild(make("p", { dir: "auto", title: region(row), text: "Region: " + data.regions[row.region] })); }
    if (known) { why.appendChild(make("p", {}, [make("span", { text: "Known label: " }), tag(row)])); }
    if (has("neighbours")) {
      var k = row.neighbours[0], alike = row.neighbours[1], dots = [], i;
      for (i = 0; i < k; i += 1) { dots.push(make("i", { class: i < alike ? "" : "other" })); }
      why.appendChild(make("h4", { text: "Labels of its nearest neighbours" }));
      why.appendChild(make("div", { class: "dots", "aria-hidden": "true" }, dots));
      why.appendChild(make("p", { class: "quiet", text: alike + " of " + k + " are labelled as predicted (●), " + (k - alike) + " otherwise (□)." }));
    }
    var parts = [why];
    if (has("signals")) {
      parts.push(make("div", {}, [make("h4", { text: "Signals" }), pairs(
        ["Signal", "Value", "More doubtful than"],
        data.signals.map(function (signal, i) { return [signal.label, shown(row.signals[i], signal.unit), row.doubt[i] || 0]; }))]));
    }
    if (has("values")) {
      var rest = data.columns_left_out ? "Value (" + data.columns_left_out + " more columns are not shown)" : "Value";
      parts.push(make("div", {}, [make("h4", { text: "The row itself" }), pairs(
        ["Column", rest], data.columns.map(function (column, i) { return [column, row.values[i]]; }))]));
    }
    return make("div", { class: "panel" }, parts);
  }

  function draw() {
    var found = chosen(), wanted = columns(), page = found.slice(0, state.limit);
    body.textContent = "";
    page.forEach(function (row) {
      var line = make("tr", { class: "row", "data-row": row.rank }, wanted.map(function (column) {
        return make("td", { class: column[2] }, [column[3](row)]);
      }));
      showMark(line, row);
      body.appendChild(line);
      if (state.open[row.rank]) {
        body.appendChild(make("tr", { class: "detail" }, [make("td", { colspan: wanted.length }, [panel(row)])]));
      }
    });
    if (!found.length) {
      body.appendChild(make("tr", { class: "none" }, [make("td", { colspan: wanted.length, text: "No row matches. Clear the search or choose “all” in the filters." })]));
    }
    document.querySelectorAll(".queue th[data-key]").forEach(function (head) {
      var own = head.getAttribute("data-key") === state.sort;
      if (own) { head.setAttribute("aria-sort", state.down ? "descending" : "ascending"); } else { head.removeAttribute("aria-sort"); }
      head.querySelector(".arrow").textContent = own ? (state.down ? " ▼" : " ▲") : "";
    });
    status.textContent = "Showing " + page.length.toLocaleString("en") + " of " + found.length.toLocaleString("en") + " rows" +
      (found.length < rows.length ? " (filtered from " + rows.length.toLocaleString("en") + ")" : "") + ".";
    more.hidden = page.length >= found.length;
    count();
  }

  function count() {
    var seen = { right: 0, wrong: 0, unsure: 0, "label wrong": 0 };
    Object.keys(marks).forEach(function (key) { if (seen[marks[key]] !== undefined) { seen[marks[key]] += 1; } });
    var none = !(seen.right + seen.wrong + seen.unsure + seen["label wrong"]), button = document.getElementById("download");
    button.disabled = none;
    button.title = none ? "Mark a row first" : "";
    tally.textContent = "Marked: " + seen.right + " right, " + seen.wrong + " wrong, " + seen.unsure + " unsure" + (known ? ", " + seen["label wrong"] + " label wrong" : "") + ".";
  }

  // Spreadsheets run a cell that begins with one of these; an apostrophe makes it text.
  function cell(value) {
    var words = value === null || value === undefined ? "" : String(value);
    if (typeof value !== "number" && /^[=+\-@\t\r]/.test(words)) { words = "'" + words; }
    return '"' + words.replace(/"/g, '""') + '"';
  }
  function csv() {
    var head = ["row"].concat(data.identity ? [data.identity] : [], ["mark", "predicted", "confidence", "suspicion"]);
    var lines = rows.filter(function (row) { return marks[row.row]; }).map(function (row) {
      return [row.row].concat(data.identity ? [row.id] : [], [marks[row.row], data.classes[row.predicted], row.confidence, row.suspicion]).map(cell).join(",");
    });
    return [head.map(cell).join(",")].concat(lines).join("\r\n") + "\r\n";
  }
  function download() {
    var address = URL.createObjectURL(new Blob([csv()], { type: "text/csv;charset=utf-8" }));
    var link = make("a", { href: address, download: "marks.csv" });
    document.body.appendChild(link);
    link.click();
    link.remove();
    window.setTimeout(function () { URL.revokeObjectURL(address); }, 1000);
  }

  function select(label, key, options) {
    return make("label", { text: label }, [make("select", {
      id: "filter-" + key, on: { change: function (event) { state[key] = event.target.value; state.limit = PAGE; draw(); } }
    }, options.map(function (option) { return make("option", { value: option[0], title: option[2], text: option[1] }); }))]);
  }

  function keys(event) {
    var line = event.target.closest ? event.target.closest("tr.row") : null;
    if (!line || event.ctrlKey || event.metaKey || event.altKey) { return; }
    var row = rows[Number(line.getAttribute("data-row")) - 1];
    var kind = offered(row).filter(function (one) { return one[2] === event.key.toLowerCase(); })[0];
    if (kind) { mark(row, kind[0]); event.preventDefault(); return; }
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      var lines = Array.prototype.slice.call(body.querySelectorAll("tr.row"));
      var next = lines[lines.indexOf(line) + (event.key === "ArrowDown" ? 1 : -1)];
      if (next) { next.querySelector(".open").focus(); event.preventDefault(); }
    }
  }

  function queue() {
    var place = document.getElementById("queue");
    var search = make("input", { type: "search", id: "search", autocomplete: "off", on: { input: function () { state.query = search.value; state.limit = PAGE; draw(); } } });
    var regions = [["", "all"]].concat(data.regions.map(function (words, i) { return [String(i), words, data.region_words[i]]; }));
    place.appendChild(make("div", { class: "tools" }, [
      make("label", { text: "Search" }, [search]),
      select("Predicted", "predicted", [["", "all"]].concat(data.classes.map(function (label, i) { return [String(i), label]; }))),
      data.regions.length ? select("Region", "region", regions.concat([["-1", "in none"]])) : null,
      known ? select("Label", "label", [["", "all"], ["wrong", "model wrong"], ["right", "model right"]]) : null,
      select("Your mark", "mark", [["", "all"], ["none", "not marked"], ["right", "right"], ["wrong", "model wrong"]].concat(known ? [["label wrong", "label wrong"]] : [], [["unsure", "unsure"]])),
      known ? make("label", { class: "check" }, [make("input", { type: "checkbox", id: "blind", on: { change: function (event) { hide(event.target.checked); } } }), make("span", { text: "Hide known labels" })]) : null
    ]));
    status = make("span", { id: "status", role: "status" });
    tally = make("span", { id: "tally" });
    place.appendChild(make("div", { class: "status" }, [status, tally, make("span", { class: "actions" }, [
      make("button", { type: "button", class: "button main", id: "download", text: "Download marks (CSV)", on: { click: download } }),
      make("button", { type: "button", class: "button", id: "clear", text: "Clear marks", on: { click: function () {
        if (Object.keys(marks).length && window.confirm("Clear all marks?")) { marks = {}; store(storage, "{}"); draw(); }
      } } })
    ])]));
    body = make("tbody");
    var table = make("table", { class: "queue" }, [
      make("caption", { text: "Review list. Open a row for its signals, its neighbours and its values." }),
      make("thead", {}, [make("tr", {}, columns().map(function (column) {
        if (!column[0]) { return make("th", { scope: "col", class: column[2], text: column[1] }); }
        return make("th", { scope: "col", class: column[2], "data-key": column[0] }, [make("button", {
          type: "button", class: "sort", on: { click: function () {
            state.down = state.sort === column[0] ? !state.down : ["rank", "name", "predicted", "reason"].indexOf(column[0]) < 0;
            state.sort = column[0];
            draw();
          } }
        }, [make("span", { text: column[1] }), make("span", { class: "arrow", "aria-hidden": "true" })])]);
      }))]),
      body
    ]);
    table.addEventListener("keydown", keys);
    place.appendChild(make("div", { class: "scroll" }, [table]));
    more = make("button", { type: "button", class: "button more", id: "more", text: "Show 25 more", on: { click: function () { state.limit += PAGE; draw(); } } });
    place.appendChild(make("p", {}, [more]));
    var help = make("p", { class: "quiet keys" });
    help.textContent = "Keyboard: in a row, r, w and u mark it right, wrong or unsure" + (known ? ", l marks its label wrong" : "") + "; the arrow keys move between rows; Enter opens one. ";
    place.appendChild(help);
    draw();
    place.hidden = false;
    document.getElementById("plain").hidden = true;
  }

  theme();
  if (rows.length) { queue(); }
}());
