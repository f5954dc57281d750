"use strict";
(function () {
  var data = falcon.data, say = falcon.say, make = falcon.make, percent = falcon.percent, meter = falcon.meter;
  var PAGE = 25;
  // The mark, its sign and its key.
  var MARKS = [["right", "✓", "r"], ["wrong", "✗", "w"], ["label wrong", "⚑", "l"], ["unsure", "?", "u"]];

  // A browser may refuse storage for files: marks and theme then last as long as the page.
  function stored(key) { try { return window.localStorage.getItem(key); } catch (e) { return null; } }
  function store(key, value) { try { window.localStorage.setItem(key, value); } catch (e) { return; } }

  function theme() {
    var root = document.documentElement, button = document.getElementById("theme");
    function dark() {
      var chosen = root.getAttribute("data-theme");
      return chosen ? chosen === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
    }
    function label() { button.textContent = say(dark() ? "theme.light" : "theme.dark"); }
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

  function name(row) { return has("id") ? String(row.id) : String(row.row); }
  function within(row, region) { return Boolean(row.regions) && row.regions.indexOf(region) >= 0; }
  function haystack(row) {
    if (!row.text) {
      var cells = (row.values || []).map(function (place) { return data.texts[place]; });
      var regions = (row.regions || []).map(function (i) { return data.region_words[i]; });
      row.text = [row.row, row.id, data.classes[row.predicted], row.reason].concat(regions, cells).join(" ").toLowerCase();
    }
    return row.text;
  }

  var state = { sort: "rank", down: false, limit: PAGE, open: {}, blind: false, query: "", predicted: "", region: "", mark: "", label: "" };
  var body, status, tally, more, said;

  function inRegion(row) {
    if (state.region === "") { return true; }
    return state.region === "-1" ? !(row.regions || []).length : within(row, Number(state.region));
  }
  function chosen() {
    var query = state.query.trim().toLowerCase();
    var found = rows.filter(function (row) {
      var mark = marks[row.row] || "none";
      return (!query || haystack(row).indexOf(query) >= 0) &&
        (state.predicted === "" || String(row.predicted) === state.predicted) && inRegion(row) &&
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

  // Without labels none can be wrong.
  function kinds() { return MARKS.filter(function (kind) { return known || kind[0] !== "label wrong"; }); }

  // A label can be marked wrong where it contradicts the prediction, by hand only while it is shown.
  function fitting(row) {
    return MARKS.filter(function (kind) { return kind[0] !== "label wrong" || (known && row.actual !== row.predicted); });
  }
  function offered(row) { return fitting(row).filter(function (kind) { return !state.blind || kind[0] !== "label wrong"; }); }

  function tag(row) {
    if (state.blind) { return make("span", { class: "tag", text: say("hidden") }); }
    var right = row.actual === row.predicted;
    var words = right ? say("tag.right") : say("tag.wrong", data.classes[row.actual]);
    if (row.label_doubt >= 0.5) { words += say("tag.doubt", percent(row.label_doubt)); }
    return make("span", { class: "tag " + (right ? "right" : "wrong"), dir: "auto", title: words, text: words });
  }

  function buttons(row) {
    return make("span", { class: "marks", role: "group", "aria-label": say("mark.group", name(row)) }, offered(row).map(function (kind) {
      return make("button", {
        type: "button", "data-mark": kind[0], "aria-pressed": "false", title: say("mark.title", kind[0], kind[2]),
        "aria-label": say("mark.button", name(row), say("mark.says." + kind[0])), text: kind[1],
        on: { click: function () { mark(row, kind[0]); } }
      });
    }));
  }

  // One scale for all bars, from 0 to a round number that the head of the column states.
  var SCALE = [0.05, 0.1, 0.2, 0.5, 1].filter(function (top) {
    return rows.every(function (row) { return (row.risk || 0) <= top; });
  })[0];
  function risk(row) {
    if (row.risk === null || row.risk === undefined) { return make("span", { class: "num", text: row.suspicion.toFixed(3) }); }
    return meter(row.risk / SCALE, row.risk > 0 ? percent(row.risk) : "0%");
  }
  function amount(key) {
    return function (row) {
      var value = row[key] === null || row[key] === undefined ? "" : row[key].toLocaleString("en", { maximumFractionDigits: 2 });
      return make("span", { class: "num", text: value });
    };
  }

  function columns() {
    return [
      ["rank", "#", "wide", function (row) { return make("span", { class: "num", text: row.rank }); }],
      ["name", data.identity || say("row"), "", function (row) {
        return make("button", {
          type: "button", class: "open" + (name(row).length <= 14 ? " short" : ""), dir: "auto", "aria-expanded": String(Boolean(state.open[row.rank])), text: name(row),
          "aria-label": say("open", name(row)), on: { click: function () { toggle(row); } }
        });
      }],
      ["predicted", say("predicted"), "label predicted", function (row) { return make("bdi", { title: data.classes[row.predicted], text: data.classes[row.predicted] }); }],
      ["confidence", say("confidence"), "wide", function (row) { return make("span", { class: "num", text: percent(row.confidence) }); }],
      has("risk") ? ["risk", say("risk"), "risk", risk, say("risk.scale", Math.round(100 * SCALE) + "%")] : ["suspicion", say("suspicion"), "", risk],
      has("expected_cost") ? ["expected_cost", say("expected_cost"), "wide", amount("expected_cost")] : has("cost") ? ["cost", say("cost"), "wide", amount("cost")] : null,
      known ? ["label", say("label"), "label", tag] : null,
      ["reason", say("reason"), "why", function (row) { return make("span", { title: row.reason, text: row.reason }); }],
      ["", say("mark"), "act", buttons]
    ].filter(Boolean);
  }

  // Neither the filter nor the order may tell what is hidden.
  function hide(labels) {
    state.blind = labels;
    if (labels && state.sort === "label") { state.sort = "rank"; state.down = false; }
    document.getElementById("filter-label").disabled = labels;
    document.querySelector('th[data-key="label"] .sort').disabled = labels;
    draw();
    members();
  }

  function toggle(row) {
    state.open[row.rank] = !state.open[row.rank];
    draw();
    var button = body.querySelector('tr.row[data-row="' + row.rank + '"] .open');
    if (button) { button.focus(); }
  }

  function draw() {
    var found = chosen(), wanted = columns(), page = found.slice(0, state.limit);
    body.textContent = "";
    page.forEach(function (row) {
      var line = make("tr", { class: "row", "data-row": row.rank }, wanted.map(function (column) {
        return make("td", { class: column[2], "data-label": column[1] }, [column[3](row)]);
      }));
      showMark(line, row);
      body.appendChild(line);
      if (state.open[row.rank]) {
        body.appendChild(make("tr", { class: "detail" }, [make("td", { colspan: wanted.length }, [falcon.panel(row, known ? tag(row) : null)])]));
      }
    });
    if (!found.length) {
      body.appendChild(make("tr", { class: "none" }, [make("td", { colspan: wanted.length, text: say("none") })]));
    }
    document.querySelectorAll(".queue th[data-key]").forEach(function (head) {
      var own = head.getAttribute("data-key") === state.sort;
      if (own) { head.setAttribute("aria-sort", state.down ? "descending" : "ascending"); } else { head.removeAttribute("aria-sort"); }
      head.querySelector(".arrow").textContent = own ? (state.down ? " ▼" : " ▲") : "";
    });
    var numbers = [page, found, rows].map(function (list) { return list.length.toLocaleString("en"); });
    status.textContent = say.apply(null, [found.length < rows.length ? "showing.filtered" : "showing"].concat(numbers));
    more.hidden = page.length >= found.length;
    count();
  }

  function count() {
    var none = !Object.keys(marks).length, button = document.getElementById("download");
    button.disabled = none;
    button.title = none ? say("download.none") : "";
    tally.parentNode.classList.toggle("marked", !none);
    tally.textContent = say("tally", kinds().map(function (kind) {
      return Object.keys(marks).filter(function (key) { return marks[key] === kind[0]; }).length + " " + kind[0];
    }).join(", "));
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

  // Lines of cells, as RFC 4180 has them.
  function parsed(text) {
    var lines = [[]], field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|\r|$)/g, found;
    text = text.replace(/^\ufeff/, "");
    while (field.lastIndex < text.length && (found = field.exec(text))) {
      lines[lines.length - 1].push(found[1] === undefined ? found[2] : found[1].replace(/""/g, '"'));
      if (found[3] !== ",") { lines.push([]); }
    }
    return lines.filter(function (line) { return line.join("") !== ""; });
  }
  function same(row, line, column) {
    return column < 0 || !data.identity || line[column] === undefined || line[column].replace(/^'/, "") === String(row.id);
  }
  function take(text) {
    var lines = parsed(text), head = (lines[0] || []).map(function (word) { return word.trim().replace(/^'/, ""); });
    var at = head.indexOf("row"), which = head.indexOf("mark"), key = data.identity ? head.indexOf(data.identity) : -1, taken = 0;
    if (at < 0 || which < 0) { return say("import.failed"); }
    lines.slice(1).forEach(function (line) {
      var value = String(line[which] || "").trim().toLowerCase();
      var row = rows.filter(function (one) { return String(one.row) === String(line[at]).trim(); })[0];
      if (!row || !same(row, line, key) || !fitting(row).some(function (kind) { return kind[0] === value; })) { return; }
      marks[row.row] = value;
      taken += 1;
    });
    store(storage, JSON.stringify(marks));
    draw();
    if (!taken) { return say("import.other"); }
    return taken === lines.length - 1 ? say("imported", taken) : say("imported.some", taken, lines.length - 1 - taken);
  }
  function choose(event) {
    var file = event.target.files[0], reader = new FileReader();
    if (!file) { return; }
    reader.onload = function () { said.textContent = take(String(reader.result)); };
    reader.readAsText(file);
    event.target.value = "";
  }

  function select(label, key, options) {
    return make("select", {
      id: "filter-" + key, "aria-label": label, on: { change: function (event) { state[key] = event.target.value; state.limit = PAGE; draw(); } }
    }, options.map(function (option) { return make("option", { value: option[0], title: option[2], text: option[1] }); }));
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

  // A region opens to its rows, the riskiest first.
  function members() {
    document.querySelectorAll("[data-region]").forEach(function (place) {
      var number = data.region_ids.indexOf(Number(place.getAttribute("data-region")));
      var own = rows.filter(function (row) { return within(row, number); }), first = own.slice(0, 5);
      place.textContent = "";
      if (!own.length) { place.appendChild(make("p", { class: "quiet", text: say("members.none") })); }
      else {
        place.appendChild(make("details", {}, [
          make("summary", { text: say("members", own.length.toLocaleString("en")) }),
          make("ul", {}, first.map(function (row) {
            return make("li", { dir: "auto" }, [
              make("span", { text: (data.identity || say("row")) + " " + name(row) + ": " + data.classes[row.predicted] + ". " + row.reason + " " }),
              known ? tag(row) : null
            ]);
          })),
          own.length > first.length ? make("p", { class: "quiet", text: say("members.more", (own.length - first.length).toLocaleString("en")) }) : null,
          make("button", { type: "button", class: "button", text: say("members.show"), on: { click: function () {
            state.region = String(number);
            state.limit = PAGE;
            document.getElementById("filter-region").value = state.region;
            draw();
            document.getElementById("review").scrollIntoView();
            document.getElementById("filter-region").focus({ preventScroll: true });
          } } })
        ]));
      }
      place.hidden = false;
    });
  }

  function tools() {
    var search = make("input", { type: "search", id: "search", autocomplete: "off", placeholder: say("search"), "aria-label": say("search"), on: { input: function () { state.query = search.value; state.limit = PAGE; draw(); } } });
    var regions = data.regions.map(function (words, i) { return [String(i), words, data.region_words[i]]; });
    var classes = data.classes.map(function (label, i) { return [String(i), label]; });
    return make("div", { class: "tools" }, [
      search,
      select(say("predicted"), "predicted", [["", say("all.predicted")]].concat(classes)),
      data.regions.length ? select(say("region"), "region", [["", say("all.region")]].concat(regions, [["-1", say("no.region")]])) : null,
      known ? select(say("label"), "label", [["", say("all.label")], ["wrong", say("label.wrong")], ["right", say("label.right")]]) : null,
      select(say("mark"), "mark", [["", say("all.mark")], ["none", say("no.mark")]].concat(kinds().map(function (kind) { return [kind[0], kind[0]]; }))),
      known ? make("label", { class: "check" }, [make("input", { type: "checkbox", id: "blind", on: { change: function (event) { hide(event.target.checked); } } }), make("span", { text: say("blind") })]) : null
    ]);
  }

  function actions() {
    var file = make("input", { type: "file", id: "import", class: "file", accept: ".csv,text/csv", "aria-label": say("import"), tabindex: "-1", on: { change: choose } });
    return make("span", { class: "actions" }, [
      make("button", { type: "button", class: "button main", id: "download", text: say("download"), on: { click: download } }),
      make("button", { type: "button", class: "button", id: "take", text: say("import"), on: { click: function () { file.click(); } } }), file,
      make("button", { type: "button", class: "button", id: "clear", text: say("clear"), on: { click: function () {
        if (Object.keys(marks).length && window.confirm(say("clear.sure"))) { marks = {}; store(storage, "{}"); draw(); }
      } } })
    ]);
  }

  function queue() {
    var place = document.getElementById("queue");
    status = make("span", { id: "status", role: "status" });
    tally = make("span", { id: "tally" });
    said = make("span", { id: "said", role: "status" });
    body = make("tbody");
    var table = make("table", { class: "queue" }, [
      make("caption", { class: "unseen", text: say("list.caption") }),
      make("thead", {}, [make("tr", {}, columns().map(function (column) {
        if (!column[0]) { return make("th", { scope: "col", class: column[2], text: column[1] }); }
        return make("th", { scope: "col", class: column[2], "data-key": column[0] }, [make("button", {
          type: "button", class: "sort", on: { click: function () {
            state.down = state.sort === column[0] ? !state.down : ["rank", "name", "predicted", "reason"].indexOf(column[0]) < 0;
            state.sort = column[0];
            draw();
          } }
        }, [make("span", { text: column[1] }), make("span", { class: "arrow", "aria-hidden": "true" })]), column[4] ? make("span", { class: "scale", text: column[4] }) : null]);
      }))]),
      body
    ]);
    table.addEventListener("keydown", keys);
    more = make("button", { type: "button", class: "button more", id: "more", text: say("more"), on: { click: function () { state.limit += PAGE; draw(); } } });
    place.appendChild(tools());
    place.appendChild(make("div", { class: "scroll" }, [table]));
    place.appendChild(make("p", { class: "rest" }, [more]));
    place.appendChild(make("div", { class: "status" }, [status, tally, said, actions()]));
    place.appendChild(make("p", { class: "quiet keys", text: say("keys", kinds().map(function (kind) { return kind[2] + " (" + kind[0] + ")"; }).join(", ")) }));
    draw();
    place.hidden = false;
    document.getElementById("plain").hidden = true;
    members();
  }

  theme();
  if (rows.length) { queue(); }
}());
