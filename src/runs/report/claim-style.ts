/** @file The look of claims of experiments: their status, and figures on a line. */

export const CLAIM_STYLE = `
.verdict.yes { background: var(--good-bg); color: var(--good); } .verdict.no { background: var(--bad-bg); color: var(--bad); }
.verdict.open { background: var(--warn-bg); color: var(--warn); } .verdict + small { display: block; margin-top: 4px; }
.track { position: relative; height: 14px; background: linear-gradient(var(--track), var(--track)) center / 100% 1px no-repeat; }
.track .zone { position: absolute; top: 0; bottom: 0; background: var(--track); border-radius: 3px; }
.track .zero { position: absolute; top: -2px; bottom: -2px; width: 1px; background: var(--muted); }
.track .least { position: absolute; top: 0; bottom: 0; width: 0; border-left: 1px dashed var(--muted); }
.track .span { position: absolute; top: 5px; height: 4px; border-radius: 2px; background: var(--before); opacity: .6; }
.track .mean { position: absolute; top: 2px; width: 10px; height: 10px; margin-left: -5px; border-radius: 50%; background: var(--before); }
.track .yes { background: var(--good); } .track .no { background: var(--bad); } .track .open { background: var(--c5); }
.track .run { position: absolute; top: 4px; width: 7px; height: 7px; margin-left: -3.5px; border-radius: 50%; border: 1.5px solid; background: none; opacity: .8; }
.track .average { position: absolute; top: 0; width: 2px; height: 14px; margin-left: -1px; background: var(--ink); }
.track .span.arm { background: var(--ink2); opacity: .28; top: 4px; height: 6px; }
.claim > header { display: flex; gap: 6px 12px; align-items: baseline; flex-wrap: wrap; margin-bottom: 2px; }
.claim > header h3 { font-size: 16px; margin: 0; }
.claim .statement { color: var(--ink2); max-width: 80ch; } .claim .about { margin-top: 4px; }
.dots-grid { display: grid; grid-template-columns: minmax(110px, 15em) 1fr 9.5em; gap: 8px 18px; align-items: center; margin-top: 16px; font-size: 13.5px; }
.dots-grid .num { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.dots-grid .ends { display: flex; justify-content: space-between; color: var(--muted); font-size: 12px; }
.dots-grid .sub { color: var(--muted); font-size: 12.5px; grid-column: 1 / -1; margin-top: -4px; }
.startkey { display: flex; gap: 4px 16px; flex-wrap: wrap; font-size: 12.5px; color: var(--ink2); margin-top: 14px; }
.startkey i { display: inline-block; width: 8px; height: 8px; border-radius: 50%; border: 1.5px solid; margin-right: 6px; }
.startkey b { display: inline-block; width: 2px; height: 12px; background: var(--ink); margin-right: 6px; vertical-align: -2px; }
@media screen and (max-width: 760px) { .dots-grid { grid-template-columns: 1fr auto; grid-auto-flow: row dense; } .dots-grid .track, .dots-grid .ends { grid-column: 1 / -1; } }
@media print { .dots-grid, .claim .statement { font-size: 9.5px; } .panel.claim { break-inside: avoid; } .verdict { font-size: 8.5px; } }
`
