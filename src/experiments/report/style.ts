/** @file What a paper's report looks like beyond the style of all reports. */

export const PAPER_STYLE = `
.counts { display: flex; gap: 8px; flex-wrap: wrap; margin-top: 16px; }
.lead { margin-top: 14px; max-width: 80ch; color: var(--ink2); text-wrap: pretty; }
.hash { font: 12.5px ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.claims td, .claims th { vertical-align: top; } .claims tbody th { min-width: 250px; max-width: 380px; font-weight: 400; }
.claims tbody th a { font-weight: 620; color: var(--ink); text-decoration: none; } .claims tbody th a:hover { text-decoration: underline; }
.claims tbody tr.more > * { border-top: 0; padding-top: 0; } .claims tbody tr.more-follow > :not([rowspan]) { border-bottom: 0; }
section > .panel { margin-top: 16px; } .panel > .scroll:first-child { margin-top: 0; } .claims thead th.num { min-width: 4.5em; }
.claims td.forest { min-width: 210px; width: 26%; padding-top: 13px; }
.pair-name { color: var(--ink2); }
.details { display: grid; gap: 14px; margin-top: 16px; }
.lines { width: 100%; height: auto; display: block; margin-top: 8px; } .lines line { stroke: var(--grid); } .lines text { font-size: 11px; fill: var(--muted); }
.lines polygon { opacity: .16; } .lines polyline { fill: none; stroke-width: 2; }
.profile-grid { grid-template-columns: minmax(70px, 9em) 1fr 9.5em; margin: 12px 0 14px; }
.cut { margin: 12px 0 0; padding-left: 20px; max-width: 85ch; } .cut li { margin: 4px 0; }
@media screen and (max-width: 760px) {
  .claims tbody th { min-width: 170px; } .claims td.forest { min-width: 150px; }
}
@media print { .lead { font-size: 9.5px; } }
`
