/** @file The look of a rollout's card: prompt and response to the left, steps and verdicts to the right of it. */

/** A narrow table of verdicts is a list. */
const VERDICTS = `
.verdicts-place { container-type: inline-size; }
.verdict-table { font-size: 13px; }
.verdict-table th[scope="row"] { min-width: 150px; overflow-wrap: anywhere; }
.verdict-table td, .verdict-table th { vertical-align: top; padding-right: 12px; }
.verdict { display: inline-block; font-size: 12.5px; line-height: 1.5; padding: 1px 8px; border-radius: 5px; white-space: nowrap; background: var(--idle-bg); color: var(--idle); }
.verdict.good { background: var(--good-bg); color: var(--good); } .verdict.bad { background: var(--bad-bg); color: var(--bad); }
.verdict-table .says { overflow-wrap: anywhere; max-width: 46ch; } .verdict-table .says b { font-variant-numeric: tabular-nums; }
.judge { overflow-wrap: anywhere; min-width: 110px; }
.raw { margin-top: 4px; font-size: 12px; } .raw pre { max-height: 24em; overflow: auto; margin-top: 4px; }
.reason { color: var(--ink2); overflow-wrap: anywhere; max-width: 110ch; }
.asked { font-size: 13px; margin-top: 8px; }
@container (max-width: 760px) {
  .verdict-table thead, .verdict-table td.num:empty { display: none; }
  .verdict-table :is(tbody, th, td) { display: block; }
  .verdict-table tr { display: grid; grid-template-columns: minmax(0, 1fr) auto auto; gap: 2px 12px; padding: 10px 0; border-bottom: 1px solid var(--grid); }
  .verdict-table tr > :is(th, td) { padding: 0; border: 0; max-width: none; }
  .verdict-table tr > td.num::before { content: "credit "; color: var(--muted); }
  .verdict-table tr > .judge { grid-row: 3; } .verdict-table tr > :is(.judge, .reason) { grid-column: 1 / -1; }
  .verdict-table td.num + td.judge { padding: 0; font-size: 12px; color: var(--muted); }
  .verdict-table .judge small { display: inline; margin-left: 8px; }
}
`

export const ROLLOUT_STYLE = `
.beside, .single { display: grid; gap: 14px; margin-top: 12px; }
@media (min-width: 1200px) {
  .beside { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
  .beside .rollout-cols { grid-template-columns: minmax(0, 1fr); }
}
.rollout header { display: flex; flex-wrap: wrap; gap: 2px 12px; align-items: baseline; font-size: 13.5px; margin-bottom: 12px; overflow-wrap: anywhere; }
.reward { font-size: 18px; font-weight: 650; } .reward small { display: inline; font-size: 13.5px; font-weight: 400; color: var(--muted); }
.rollout-cols { display: grid; gap: 18px 32px; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); }
.rollout section { min-width: 0; } .rollout h3 { margin: 14px 0 6px; } .rollout section > h3:first-child { margin-top: 0; } .rollout pre { max-width: 110ch; }
.rollout .prompt { color: var(--ink2); font-size: 14px; max-width: 90ch; }
.piece { margin: 6px 0; } .piece-name { font-size: 12px; color: var(--muted); }
.piece:not(.text) { border-left: 3px solid var(--line); padding: 4px 0 4px 12px; }
.piece.thinking { border-color: var(--c4); } .piece.call { border-color: var(--c1); } .piece.output { border-color: var(--before); }
.piece.output pre, .piece.thinking pre { color: var(--ink2); }
.turn .quiet { font-size: 12px; } .turn.environment > pre { border-left: 2px solid var(--muted); padding-left: 10px; color: var(--ink2); }
.steps { list-style: none; margin: 0; padding: 0; }
.steps li { display: grid; grid-template-columns: 1fr auto; gap: 0 14px; padding: 5px 0; border-bottom: 1px solid var(--grid); align-items: baseline; }
.step-text { overflow-wrap: anywhere; } .step-verdict { display: flex; gap: 6px; justify-content: flex-end; flex-wrap: wrap; }
.step-note { grid-column: 1 / -1; }
.answer { margin-top: 10px; } .answer .right { color: var(--good); font-weight: 600; } .answer .wrong { color: var(--bad); font-weight: 600; }
.parts { display: flex; flex-wrap: wrap; gap: 4px 16px; margin-top: 10px; }
${VERDICTS}
@media (max-width: 900px) { .rollout-cols { grid-template-columns: minmax(0, 1fr); } }
@media screen and (max-width: 760px) { .steps li { grid-template-columns: 1fr; gap: 3px; padding: 8px 0; } .step-verdict { justify-content: flex-start; } }
@media (max-width: 560px) { .panel.rollout { padding: 14px; } }
`
