/// The style of a page: on a screen, light or dark, wide or narrow, and printed.
enum PageStyle {
    static let sheet: Markup = "\(light)\n\(dark)\n\(page)\n\(tables)\n\(charts)\n\(narrow)\n\(print)"

    // Colours have a contrast of 4.5:1 for text and 3:1 for lines, and differ for readers who see no red or green.
    private static let light: Markup = """
        :root { color-scheme: light dark; --ground: #fff; --ink: #1b1d1f; --quiet: #5a6068;
          --rule: #dcdcd8; --grid: #e8e8e4; --link: #0a5a9c; --mark: #fff0b8; --origin: #6f7781; --live: #00795a; --fresh: #0072b2;
          --stale: #8150a8; --fallback: #c94f00; --failed: #1b1d1f; --offline: #4d6472; }
        """
    private static let dark: Markup = """
        @media (prefers-color-scheme: dark) { :root { --ground: #16181b; --ink: #e9eaec;
          --quiet: #a3abb5; --rule: #363b41; --grid: #292d32; --link: #7fbcf0; --mark: #4d4112; --origin: #98a1ab; --live: #3dba8e;
          --fresh: #58aee8; --stale: #b995e3; --fallback: #ff8f45; --failed: #f2f3f4; --offline: #9db4c3; } }
        """
    private static let page: Markup = """
        * { box-sizing: border-box; }
        html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; scroll-padding-top: 1rem; }
        body { margin: 0 auto; max-width: 70rem; padding: 2rem 1.5rem 4rem; background: var(--ground); color: var(--ink);
          font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", Arial, sans-serif; }
        h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 1rem; letter-spacing: -0.01em; }
        h2 { font-size: 1.375rem; line-height: 1.25; margin: 2.5rem 0 .75rem; overflow-wrap: anywhere; }
        h3 { font-size: 1rem; margin: 2rem 0 .5rem; }
        p { margin: 0 0 .75rem; max-width: 46rem; }
        a { color: var(--link); }
        code { font: .85em/1.4 ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; overflow-wrap: anywhere; }
        small { font-size: .8125rem; color: var(--quiet); }
        :focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
        .skip { position: absolute; left: -999rem; padding: .5rem 1rem; background: var(--ground); }
        .skip:focus { left: 1rem; top: 1rem; z-index: 1; }
        section { border-top: 1px solid var(--rule); margin-top: 3rem; }
        section > h2 { font-size: 1.5rem; margin-top: 2rem; }
        .facts { display: flex; flex-wrap: wrap; gap: .75rem 2.5rem; margin: 0; }
        dt { font-size: .8125rem; color: var(--quiet); }
        dd { margin: 0; overflow-wrap: anywhere; }
        .remarks, .findings { padding-left: 1.2rem; margin: 0; max-width: 52rem; overflow-wrap: anywhere; }
        li + li { margin-top: .35rem; }
        .findings { font-size: 1.0625rem; }
        .findings li::first-letter { text-transform: uppercase; }
        .findings li::marker { color: var(--quiet); }
        .tiles { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); margin: 0; border: 1px solid var(--rule);
          border-width: 1px 0 0 1px; }
        .tiles > div { padding: .75rem 1rem .7rem; border: 1px solid var(--rule); border-width: 0 1px 1px 0; }
        .tiles dt code { display: block; font-size: .75rem; }
        .tiles strong { display: block; font-size: 1.5rem; font-weight: 600; line-height: 1.35;
          font-variant-numeric: tabular-nums; }
        .pair, .trio { display: grid; gap: 0 2.5rem; align-items: start; }
        .pair { grid-template-columns: repeat(2, minmax(0, 1fr)); }
        .trio { grid-template-columns: repeat(3, minmax(0, 1fr)); }
        .well { color: var(--quiet); margin-top: .35rem; }
        """
    private static let tables: Markup = """
        .scroll { overflow-x: auto; max-width: 100%; }
        .long { max-height: 22rem; overflow-y: auto; }
        table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; min-width: 20rem; }
        nav table, .pair table, .trio table { width: 100%; }
        caption { text-align: left; color: var(--quiet); font-size: .8125rem; padding: .35rem 0; }
        th, td { padding: .35rem .75rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--rule); }
        th:first-child, td:first-child { padding-left: 0; }
        th:last-child, td:last-child { padding-right: 0; }
        th { font-weight: 500; }
        thead th { color: var(--quiet); font-weight: 400; vertical-align: bottom; }
        tbody th, .word { text-align: left; }
        tbody th { max-width: 22rem; overflow-wrap: anywhere; white-space: normal; min-width: 6.5rem; }
        tbody th span { padding-left: 1rem; }
        .editions thead th { white-space: normal; }
        .trio table { min-width: 0; }
        .trio td { vertical-align: bottom; }
        .long tbody th { white-space: nowrap; }
        .long thead th { position: sticky; top: 0; background: var(--ground); }
        tr { scroll-margin-top: 4rem; }
        .below tr { scroll-margin-top: 27rem; }
        tr:target > * { background: var(--mark); }
        .long th a { color: inherit; text-decoration-color: var(--rule); }
        details { margin-top: .5rem; }
        summary { font-size: .8125rem; color: var(--quiet); cursor: pointer; width: fit-content; padding: .25rem 0; }
        """
    private static let charts: Markup = """
        figure { margin: 0; }
        figcaption { font-size: .8125rem; color: var(--quiet); }
        .legend { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; margin: .6rem 0 .4rem; padding: 0;
          font-size: .875rem; }
        .legend li { margin: 0; }
        .legend svg { margin-right: .5rem; overflow: visible; }
        .frame { display: grid; grid-template-columns: 3.25rem minmax(0, 1fr); margin-top: .75rem; }
        .spread .frame { grid-template-columns: 7.25rem minmax(0, 1fr); }
        .frame > svg { display: block; width: 100%; height: var(--height); overflow: visible; grid-column: 2; grid-row: 2; }
        .side { position: relative; grid-column: 1; grid-row: 2; }
        .across, .above { position: relative; height: 1.5rem; grid-column: 2; }
        .across { grid-row: 4; }
        .frame > .strip { height: 16px; margin-top: .7rem; overflow: hidden; grid-row: 3; }
        .strip-name { grid-column: 1; grid-row: 3; align-self: end; padding-right: .6rem; text-align: right; font-size: .75rem;
          line-height: 16px; color: var(--quiet); }
        .strip { color: var(--offline); }
        .strip path { fill: currentColor; }
        .strip rect { fill-opacity: .18; }
        .above { grid-row: 1; }
        .side span, .across span, .above span { position: absolute; font-size: .75rem; line-height: 1.2; white-space: nowrap;
          color: var(--quiet); font-variant-numeric: tabular-nums; }
        .side span { right: .6rem; transform: translateY(-50%); text-align: right; }
        .side small { display: block; font-size: .75rem; }
        .spread .side span { left: 0; right: .5rem; text-align: left; color: var(--ink); }
        .across span, .above span { top: .35rem; transform: translateX(-50%); }
        .across .first { transform: none; }
        .across .last, .above .last { transform: translateX(-100%); }
        .above span { top: .15rem; }
        svg path, svg polyline { fill: none; vector-effect: non-scaling-stroke; }
        .grid { stroke: var(--grid); stroke-width: 1; }
        .base { stroke: var(--rule); stroke-width: 1; }
        .change { stroke: var(--quiet); stroke-width: 1; stroke-dasharray: 1 3; }
        .line { stroke: currentColor; stroke-width: 2; stroke-linejoin: round; stroke-linecap: butt; }
        rect { fill: currentColor; fill-opacity: .85; }
        .failed > rect { fill-opacity: .5; }
        .band { color: var(--fallback); fill-opacity: .07; }
        section:has(.below tr:nth-child(1):target) .band-1, section:has(.below tr:nth-child(2):target) .band-2,
        section:has(.below tr:nth-child(3):target) .band-3 { fill-opacity: .25; }
        polygon { fill: currentColor; fill-opacity: .14; }
        .origin { color: var(--origin); } .live { color: var(--live); } .fresh { color: var(--fresh); }
        .stale { color: var(--stale); } .fallback { color: var(--fallback); } .failed { color: var(--failed); }
        .line.origin, .origin > .line { stroke-width: 1.25; }
        .line.stale, .stale > .line { stroke-dasharray: 7 3; }
        .line.failed, .failed > .line { stroke-dasharray: 2 2; }
        .line.middle, .line.most { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: none; }
        .line.most { stroke-dasharray: 3 2; }
        .line.dot { stroke-width: 5; stroke-linecap: round; stroke-dasharray: none; }
        @media (forced-colors: active) { .line, .base, .change { stroke: CanvasText; } rect, polygon, .strip path { fill: CanvasText; } }
        """
    private static let narrow: Markup = """
        @media (max-width: 56rem) { .pair, .trio { grid-template-columns: minmax(0, 1fr); } }
        @media (max-width: 40rem) {
          body { padding: 1.25rem 1rem 3rem; }
          .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); }
          .tiles > div { padding: .6rem .7rem; }
          .tiles strong { font-size: 1.3rem; }
          .tiles dt code { font-size: .6875rem; }
          th, td { padding-left: .4rem; padding-right: .4rem; }
          tbody th { min-width: 5rem; }
          thead th { white-space: normal; }
          .stack table, .stack caption, .stack tbody, .stack th, .stack td { display: block; }
          .stack thead { display: none; }
          .stack tr { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); column-gap: 1rem;
            padding: .35rem 0; border-bottom: 1px solid var(--rule); }
          .stack th, .stack td { border: 0; padding: .15rem 0; }
          .stack th { grid-column: 1 / -1; font-weight: 600; max-width: none; }
          .stack td { display: flex; justify-content: space-between; white-space: normal; }
          .stack td::before { content: attr(data-label); color: var(--quiet); text-align: left; padding-right: .5rem; }
          .stack td:empty { display: none; }
          .stack td.word { grid-column: 1 / -1; }
          nav .stack td, .below td, .editions td:not(.word) { white-space: nowrap; }
          nav .stack td::before, .below td::before, .editions td::before { white-space: normal; }
          .across .minor { display: none; }
          .spread .frame { grid-template-columns: 6rem minmax(0, 1fr); }
          .frame { grid-template-columns: 2.6rem minmax(0, 1fr); }
        }
        """
    private static let print: Markup = """
        @media print {
          :root { color-scheme: light; --ground: #fff; --ink: #000; --quiet: #444; --rule: #bbb;
            --grid: #e2e2e2; --link: #000; --mark: #fff; --origin: #6f7781; --live: #00795a; --fresh: #0072b2; --stale: #8150a8;
            --fallback: #c94f00; --failed: #000; --offline: #4d6472; }
          @page { margin: 14mm; }
          body { max-width: none; padding: 0; font-size: 10pt; }
          .skip, details { display: none; }
          .scroll { overflow: visible; }
          .pair, .trio { gap: 0 1.5rem; }
          .pair { grid-template-columns: repeat(2, minmax(0, 1fr)); }
          .trio { grid-template-columns: repeat(3, minmax(0, 1fr)); }
          .spread .frame { grid-template-columns: 6rem minmax(0, 1fr); }
          .across .minor { display: none; }
          .legend, small { font-size: 8pt; }
          .tiles dt code { font-size: 7pt; }
          .tiles strong { font-size: 14pt; }
          h2 { margin-top: 1.5rem; }
          h3 { margin-top: 1.1rem; }
          tbody th { min-width: 4.5rem; }
          table { font-size: 8.5pt; }
          th, td { padding: .15rem .3rem; white-space: normal; }
          td:not(.word) { white-space: nowrap; }
          figure, .tiles, .scroll, .findings li { break-inside: avoid; }
          h2, h3 { break-after: avoid; }
          section + section { break-before: page; }
        }
        """
}
