/** @file The look of a report: system fonts, much air, light and dark, phone to paper. */

import { CLAIM_STYLE } from './claim-style.ts'
import { ROLLOUT_STYLE } from './rollout-style.ts'

const LIGHT = `
  --bg: #faf9f7; --surface: #ffffff; --ink: #1c1d20; --ink2: #4d4f56; --muted: #6b6e76;
  --line: #e5e3de; --grid: #eeece8; --track: #edebe6; --before: #9a9da5;
  --c1: #2b6cc4; --c2: #bf5615; --c3: #12806a; --c4: #7a4fc0; --c5: #96690a; --c6: #b8376a;
  --good: #0f6b4f; --good-bg: #e0f2ea; --warn: #7d5200; --warn-bg: #faeecd;
  --bad: #a52a2a; --bad-bg: #fbe5e3; --idle: #55585f; --idle-bg: #ecebe8; --odd: #66409f; --odd-bg: #efe8fa;
`

const DARK = `
  --bg: #131417; --surface: #1b1d21; --ink: #ececef; --ink2: #bcbec5; --muted: #91949c;
  --line: #2e3137; --grid: #272a2f; --track: #2a2d33; --before: #83878f;
  --c1: #6ea8f7; --c2: #f0965f; --c3: #4cc2a3; --c4: #b79af0; --c5: #dfb04e; --c6: #f080a8;
  --good: #6fdcb4; --good-bg: #16352c; --warn: #f0c566; --warn-bg: #3a2f14;
  --bad: #ff9a92; --bad-bg: #43211f; --idle: #bbbec5; --idle-bg: #2c2f35; --odd: #cdb2fa; --odd-bg: #322548;
`

/** Figures with a column for each score or criterion: where there is little room, a list a row. */
const FIGURE_TABLE = `.figures-place { container-type: inline-size; }
@container (max-width: 560px) {
  .figure-table thead { display: none; } .figure-table :is(tbody, tr, th) { display: block; }
  .figure-table tr { padding: 10px 0; border-bottom: 1px solid var(--grid); } .figure-table tr:last-child { border-bottom: 0; }
  .figure-table tr > :is(th, td) { padding: 2px 0; border: 0; max-width: none; }
  .figure-table tr > td { display: flex; justify-content: space-between; gap: 12px; } .figure-table tr > td.none { display: none; }
  .figure-table th[data-head]::before { content: attr(data-head) ' '; }
  .figure-table td[data-name]::before { content: attr(data-name); color: var(--muted); font-weight: 400; white-space: normal; text-align: left; min-width: 0; overflow-wrap: anywhere; }
}
`

export const STYLE = `
:root { color-scheme: light dark; ${LIGHT} }
@media (prefers-color-scheme: dark) { :root:not(.paper) { ${DARK} } }
:root.paper { color-scheme: light; --bg: #ffffff; }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--bg); color: var(--ink);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", sans-serif;
  font-variant-numeric: tabular-nums;
}
main { max-width: 1160px; margin: 0 auto; padding: 48px 32px 80px; }
h1 { font-size: 30px; line-height: 1.2; font-weight: 650; letter-spacing: -0.015em; margin: 0; text-wrap: balance; }
h2 { font-size: 20px; font-weight: 640; letter-spacing: -0.01em; margin: 64px 0 4px; }
h3 { font-size: 15px; font-weight: 620; margin: 0 0 2px; }
h4 { font-size: 12px; font-weight: 560; color: var(--muted); margin: 0 0 6px; }
p { margin: 0; }
.quiet, .about { color: var(--muted); }
.about { font-size: 13.5px; text-wrap: pretty; }
.contents { display: flex; flex-wrap: wrap; gap: 6px 18px; margin: 26px 0 0; padding: 10px 0; border-top: 1px solid var(--line); border-bottom: 1px solid var(--line); font-size: 13.5px; }
.contents a { color: var(--ink2); text-decoration: none; } .contents a:hover { color: var(--ink); text-decoration: underline; }
.place { scroll-margin-top: 12px; } .panel.rewarded { margin-top: 12px; } .rewarded .pairs { margin: 0; }
h3 .quiet { font-weight: 400; font-size: 13.5px; margin-left: 6px; }
small { display: block; font-size: 12px; font-weight: 400; color: var(--muted); line-height: 1.35; }
.panel { background: var(--surface); border: 1px solid var(--line); border-radius: 10px; padding: 20px 22px; }

.top { display: flex; gap: 14px; align-items: center; flex-wrap: wrap; }
.facts { display: flex; flex-wrap: wrap; gap: 4px 22px; margin: 14px 0 0; color: var(--ink2); font-size: 14px; }
.facts span b { font-weight: 400; color: var(--muted); margin-right: 5px; }
.status { font-size: 12.5px; padding: 2px 10px; border-radius: 99px; background: var(--idle-bg); color: var(--idle); }
.status.finished { background: var(--good-bg); color: var(--good); }
.status.running { background: var(--warn-bg); color: var(--warn); }

.cards { display: grid; grid-template-columns: 1.25fr 1fr 1fr 1fr; gap: 14px; margin-top: 32px; }
.panel.card { padding: 18px 20px; display: flex; flex-direction: column; gap: 5px; }
.card h3 { font-size: 13.5px; font-weight: 500; color: var(--ink2); margin: 0; }
.card .big { font-size: 25px; line-height: 1.25; font-weight: 600; letter-spacing: -0.02em; white-space: nowrap; }
.card .big .from { color: var(--muted); font-weight: 450; }
.card .big .arrow { color: var(--muted); font-weight: 400; margin: 0 4px; font-size: 0.8em; }
.card .sub { font-size: 13px; color: var(--muted); line-height: 1.45; }
.card .gain { font-size: 13.5px; font-weight: 560; color: var(--ink2); }
.card .gain.up { color: var(--good); } .card .gain.down { color: var(--bad); }

.panel.events { margin-top: 14px; padding: 14px 20px; font-size: 13.5px; }
.events ul { list-style: none; margin: 6px 0 0; padding: 0; }
.events li { display: flex; gap: 10px; padding: 4px 0; align-items: baseline; }
.events li span:last-child { overflow-wrap: anywhere; }
.events .when { color: var(--muted); min-width: 66px; }

.section-warnings > .panel { margin-top: 16px; }
.timeline { display: grid; grid-template-columns: max-content 1fr; gap: 6px 18px; align-items: center; font-size: 13.5px; }
.timeline .what { color: var(--ink2); }
.timeline .track { height: 16px; background-size: 100% 2px; }
.track a { position: absolute; top: 5px; height: 6px; border-radius: 3px; background: var(--warn); opacity: .9; min-width: 3px; }
.track a.open { border-radius: 3px 0 0 3px; background: linear-gradient(90deg, var(--warn), var(--warn-bg)); }
.track a i { position: absolute; left: -6px; top: -3px; width: 12px; height: 12px; border-radius: 50%; background: var(--warn); border: 2px solid var(--surface); }
.axis { display: flex; justify-content: space-between; font-size: 12px; color: var(--muted); }
.warnings { display: grid; grid-template-columns: minmax(0, 1fr); gap: 14px; margin-top: 14px; }
.warning-card { scroll-margin-top: 12px; } .warning-card:target { border-color: var(--warn); }
.warning-card > header { display: flex; gap: 12px; align-items: center; flex-wrap: wrap; } .warning-card > header h3 { margin: 0; }
.warning-card .seen { margin: 8px 0 0; } .warning-card .seen::first-letter { text-transform: uppercase; }
.warning-card > dl { display: grid; grid-template-columns: max-content minmax(0, 80ch); gap: 4px 18px; margin: 10px 0 0; font-size: 13.5px; }
.warning-card > dl dt { color: var(--muted); } .warning-card > dl dd { margin: 0; color: var(--ink2); text-wrap: pretty; }
.warning-card > dl dd::first-letter { text-transform: uppercase; }
.profile-panel { display: grid; grid-template-columns: minmax(260px, 380px) 1fr; gap: 20px 48px; align-items: center; margin-top: 16px; }
.profile-panel.bars-only { grid-template-columns: 1fr; }
.radar { width: 100%; height: auto; display: block; }
.radar .ring { fill: none; stroke: var(--grid); } .radar .spoke { stroke: var(--grid); }
.radar text { font-size: 12px; fill: var(--muted); } .radar .strong { fill: var(--ink2); font-weight: 600; }
.radar .shape { stroke-width: 2; stroke-linejoin: round; }
.radar .shape.before { stroke: var(--before); fill: var(--before); fill-opacity: .1; stroke-dasharray: 5 4; }
.radar .shape.after { stroke: var(--c1); fill: var(--c1); fill-opacity: .14; }
.radar .dot.after { fill: var(--c1); stroke: var(--surface); stroke-width: 1.5; }
.profile { display: grid; gap: 16px; }
.profile-row { display: grid; grid-template-columns: 9.5em 1fr 17em; gap: 16px; align-items: center; font-size: 14px; }
.profile-bars { display: grid; gap: 4px; }
.profile-figures { display: flex; justify-content: space-between; gap: 10px; white-space: nowrap; }
.profile-figures > .quiet { text-align: right; } .profile-figures small { display: block; }
.profile-name .chip { display: table; margin-top: 3px; }
.profile + .about { margin-top: 18px; }
.pbar { display: block; position: relative; height: 8px; border-radius: 4px; background: var(--track); }
.pbar .fill { display: block; height: 100%; border-radius: 4px; background: var(--before); min-width: 2px; }
.pbar .fill.after { background: var(--c1); }
.pbar .fill.baseline { background: var(--c5); opacity: .75; }
.pbar b { position: absolute; top: 50%; height: 2px; margin-top: -1px; background: var(--ink); opacity: .75; }
.pbar b::before, .pbar b::after { content: ""; position: absolute; top: -3px; width: 1.5px; height: 8px; background: inherit; }
.pbar .floor { position: absolute; top: -3px; bottom: -3px; width: 2px; margin-left: -1px; background: var(--ink); }
.pbar b::before { left: 0; } .pbar b::after { right: 0; }
.key { display: flex; gap: 18px; font-size: 13px; color: var(--ink2); margin-bottom: 16px; }
.key i { display: inline-block; width: 12px; height: 8px; border-radius: 3px; margin-right: 6px; background: var(--before); }
.key i.after { background: var(--c1); }

.charts { display: grid; gap: 14px; margin-top: 16px; }
.charts.wide { grid-template-columns: repeat(2, minmax(0, 1fr)); }
.charts.wide .first:nth-last-child(odd) { grid-column: 1 / -1; }
.charts.narrow { grid-template-columns: repeat(3, minmax(0, 1fr)); }
figure.panel { margin: 0; padding: 14px 14px 6px 18px; min-width: 0; }
figcaption { display: flex; justify-content: space-between; gap: 2px 14px; flex-wrap: wrap; align-items: baseline; min-height: 24px; }
figcaption .name { font-size: 14px; font-weight: 600; }
figcaption .name small { display: inline; margin-left: 6px; }
.legend { display: flex; flex-wrap: wrap; gap: 0 14px; font-size: 12.5px; color: var(--ink2); }
.legend i { display: inline-block; width: 12px; height: 3px; border-radius: 2px; margin-right: 6px; vertical-align: middle; }
.legend i.dot { width: 8px; height: 8px; border-radius: 50%; }
.legend b { font-weight: 600; color: var(--ink); } .legend .at:empty { display: none; } .legend .at { color: var(--muted); }
.plot { height: 170px; margin: 4px 0 0 -12px; } .wide .plot { height: 240px; }
.uplot, .uplot *, .uplot *::before, .uplot *::after { box-sizing: border-box; }
.u-select { background: var(--c1) !important; opacity: .13; }
.u-hz .u-cursor-x, .u-vt .u-cursor-y, .u-cursor-x { border-color: var(--muted) !important; }

.set h3::first-letter, .name::first-letter { text-transform: uppercase; }
.sets, .rollouts { grid-template-columns: minmax(0, 1fr); }
.sets { display: grid; gap: 14px; margin-top: 16px; }
.scroll { background: linear-gradient(to right, var(--surface) 40%, transparent) left / 48px 100%, linear-gradient(to left, var(--surface) 40%, transparent) right / 48px 100%, linear-gradient(to right, var(--before), transparent) left / 14px 100%, linear-gradient(to left, var(--before), transparent) right / 14px 100%; background-repeat: no-repeat; background-attachment: local, local, scroll, scroll; }
.scroll { overflow-x: auto; margin: 10px -4px 0; padding: 0 4px; }
table { width: 100%; border-collapse: collapse; font-size: 14px; }
th, td { text-align: left; padding: 8px 14px 8px 0; border-bottom: 1px solid var(--grid); vertical-align: middle; }
tbody tr:last-child > * { border-bottom: 0; }
thead th { font-size: 12.5px; font-weight: 500; color: var(--muted); vertical-align: bottom; }
tbody th { font-weight: 450; min-width: 150px; max-width: 300px; }
tr.after th, tr.after td { font-weight: 620; } tr.baseline th { color: var(--ink2); }
th.num, td.num { text-align: right; padding-right: 0; padding-left: 14px; white-space: nowrap; }
thead th.num { white-space: normal; max-width: 9em; } thead th.num:not(:empty) { min-width: 6.5em; }
th.wide { min-width: 180px; width: 24%; }
.meter-cell { display: grid; grid-template-columns: 4.4em minmax(40px, 1fr); gap: 8px; align-items: center; }
td.none { color: var(--muted); }
.lesson { white-space: pre-line; overflow-wrap: anywhere; } .lifetimes { margin-top: 14px; } .lifetimes :is(th, td):not(:first-child) { padding-left: 16px; } .lifetimes tbody td:last-child { white-space: nowrap; }
td.quiet { font-weight: 400 !important; }
${FIGURE_TABLE}.panel > .scroll + .about { margin-top: 10px; }

.rollouts { display: grid; gap: 14px; margin: 10px 0 30px; }
.section-rollouts > h3 { margin-top: 18px; }
.chip, .flag, .part { font-size: 12px; line-height: 1.5; padding: 1px 8px; border-radius: 5px; white-space: nowrap; background: var(--idle-bg); color: var(--idle); }
.chip { min-width: 106px; flex-shrink: 0; }
.chip.entailed { background: var(--good-bg); color: var(--good); } .chip.consistent { background: var(--warn-bg); color: var(--warn); }
.chip.contradicted { background: var(--bad-bg); color: var(--bad); } .chip.unparsed { background: var(--odd-bg); color: var(--odd); }
.chip.warning { background: var(--warn-bg); color: var(--warn); min-width: 0; } .chip.error { background: var(--bad-bg); color: var(--bad); min-width: 0; }
.chip.info { min-width: 0; }
.flag { background: none; border: 1px solid var(--line); color: var(--muted); }
.part { background: none; padding: 0; color: var(--ink2); } .part b { font-weight: 500; color: var(--muted); }
pre { font: 12.5px/1.6 ui-monospace, "SF Mono", Menlo, Consolas, monospace; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; }
details { margin-top: 12px; font-size: 13.5px; } summary { cursor: pointer; color: var(--muted); width: fit-content; }
summary:hover { color: var(--ink); } details > pre { margin-top: 10px; }
:focus-visible { outline: 2px solid var(--c1); outline-offset: 2px; border-radius: 3px; }
.settings { margin-top: 16px; } .settings > details { margin: 0; } .settings > details + details { margin-top: 12px; }
.settings summary { color: var(--ink); }
.pairs { display: grid; grid-template-columns: max-content 1fr; gap: 2px 24px; margin: 12px 0 0; font-size: 13.5px; }
.pairs dt { color: var(--muted); } .pairs dd { margin: 0; overflow-wrap: anywhere; }
.pairs dd.unset { color: var(--muted); }
.empty { margin-top: 16px; color: var(--muted); }
footer { margin-top: 56px; font-size: 12.5px; color: var(--muted); }

@media screen and (max-width: 1000px) { .cards { grid-template-columns: 1fr 1fr; } .charts.narrow { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
@media screen and (max-width: 760px) {
  main { padding: 28px 16px 56px; } h1 { font-size: 25px; } h2 { margin-top: 44px; } .panel { padding: 16px; }
  .cards, .charts.wide, .charts.narrow, .profile-panel { grid-template-columns: minmax(0, 1fr); }
  figure.panel { padding: 12px 8px 4px 12px; }
  .profile-row { grid-template-columns: 1fr auto; gap: 4px 12px; } .profile-bars { grid-column: 1 / -1; grid-row: 2; }
  .radar { max-width: 360px; margin: 0 auto; }
  tbody th { min-width: 84px; } th.wide { min-width: 116px; } thead th.num:not(:empty) { min-width: 4.5em; } th, td { padding-right: 8px; } th.num, td.num { padding-left: 8px; }
  .timeline, .warning-card > dl { grid-template-columns: minmax(0, 1fr); } .timeline > span:empty { display: none; }
  .pairs { grid-template-columns: minmax(0, 1fr); gap: 0; } .pairs dd { margin: 0 0 8px; }
  .profile-row { padding-bottom: 10px; border-bottom: 1px solid var(--grid); } .profile-name { grid-column: 1 / -1; grid-row: 1; } .profile-bars { grid-row: 3; } .profile-figures { grid-column: 1 / -1; grid-row: 2; flex-wrap: wrap; }
  .card .big { white-space: normal; } .events li { flex-wrap: wrap; gap: 2px 10px; } .events .when:empty { display: none; }
}
${ROLLOUT_STYLE}${CLAIM_STYLE}@media print {
  body { font-size: 10px; } main { max-width: none; padding: 0; } h1 { font-size: 20px; } h2 { font-size: 14px; margin-top: 26px; }
  h2, h2 + .about, h3 { break-after: avoid; } h3 { font-size: 11px; } .about, table, .profile-row, .facts, .prompt, details { font-size: 9.5px; }
  small, .chip, .flag, .part, .legend, figcaption, .card .sub, .card h3, thead th, h4, pre { font-size: 8.5px !important; }
  figcaption .name { font-size: 10px; } .card .big { font-size: 15px; } .card .gain { font-size: 10px; }
  .panel, .panel.card, figure.panel { padding: 10px; break-inside: avoid; } tr, .steps li { break-inside: avoid; } .panel.rollout { break-inside: auto; }
  .cards, .charts, .sets, .rollouts { gap: 8px; } .profile-panel { grid-template-columns: 200px 1fr; gap: 20px; } .profile { gap: 8px; }
  .contents { display: none; } .scroll { overflow: visible; background: none; } th.wide { min-width: 100px; } tbody th { min-width: 90px; } th, td { padding: 4px 8px 4px 0; }
  .plot, .wide .plot { height: auto; } .uplot, .u-wrap { width: 100% !important; height: auto !important; }
  .u-wrap canvas { width: 100% !important; height: auto !important; } .u-over, .u-under { display: none; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
`
