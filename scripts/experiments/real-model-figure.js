#!/usr/bin/env node
/**
 * @file Draws what experiments/real-model came to: of the start and of each arm's runs a dot, their mean a bar, by measure.
 *
 *   node scripts/experiments/real-model-figure.js results/real-model/claims.json > docs/images/real-model.svg
 */

import { readFileSync } from 'node:fs'

const [path] = process.argv.slice(2)
if (path === undefined) {
  process.stderr.write('expected claims.json of real-model-claims.js\n')
  process.exit(2)
}
const { runs } = JSON.parse(readFileSync(path, 'utf8'))

const ROWS = [
  { arm: 'start', label: 'as published', colour: '#6b7280' },
  { arm: 'cold', label: 'its own answers, edited', colour: '#b45309' },
  { arm: 'content', label: 'and rewarded by rules', colour: '#1d4ed8' },
]
const PANELS = [
  { title: 'IFEval, strict', of: run => run.ifeval?.promptStrict },
  { title: 'Answers that end', of: run => run.response && 1 - run.response.cutOff },
  { title: 'IFBench, kinds never trained', of: run => run.ifbench?.promptLoose },
]
const [LEFT, PANEL, GAP, TOP, ROW] = [220, 190, 30, 56, 34]
const width = LEFT + PANELS.length * (PANEL + GAP)
const height = TOP + ROWS.length * ROW + 34

const valuesOf = (arm, of) =>
  Object.entries(runs)
    .filter(([name]) => name === arm || new RegExp(`^${arm}-\\d+$`).test(name))
    .map(([, run]) => of(run))
    .filter(value => typeof value === 'number')
const mean = values => values.reduce((sum, value) => sum + value, 0) / values.length
const percent = value => (100 * value).toFixed(1)

/** A measure's panel: its axis from 0 to a round number above all values. */
const panel = ({ title, of }, p) => {
  const x0 = LEFT + p * (PANEL + GAP)
  const most = Math.max(...ROWS.flatMap(({ arm }) => valuesOf(arm, of)), 0.1)
  const end = Math.ceil(most * 11) / 10
  const x = value => (x0 + (PANEL - 46) * (value / end)).toFixed(1)
  const rows = ROWS.flatMap(({ arm, colour }, r) => {
    const values = valuesOf(arm, of)
    if (values.length === 0) return []
    const y = TOP + r * ROW
    const dots = values.map(
      value => `<circle cx="${x(value)}" cy="${y + 9}" r="3.5" fill="${colour}" stroke="#fff"/>`,
    )
    return [
      `<rect x="${x0}" y="${y}" width="${(x(mean(values)) - x0).toFixed(1)}" height="18" fill="${colour}" opacity=".3"/>`,
      ...(values.length > 1 ? dots : []),
      `<text x="${Number(x(Math.max(...values))) + 8}" y="${y + 13}" fill="#111827">${percent(mean(values))}</text>`,
    ]
  })
  return [`<text x="${x0}" y="${TOP - 16}" font-weight="600" fill="#111827">${title}</text>`, ...rows].join(
    '\n',
  )
}

const labels = ROWS.map(
  ({ label }, r) =>
    `<text x="${LEFT - 12}" y="${TOP + r * ROW + 13}" text-anchor="end" fill="#111827">${label}</text>`,
)
process.stdout.write(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="13">
<title>SmolLM2-135M-Instruct before and after training by rules</title>
<rect width="${width}" height="${height}" fill="#fff"/>
${labels.join('\n')}
${PANELS.map(panel).join('\n')}
<text x="${LEFT}" y="${height - 12}" fill="#4b5563">percent; a dot is a run, a bar the mean of its arm</text>
</svg>
`)
