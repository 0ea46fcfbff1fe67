import { describe, expect, it } from 'vitest'
import type { RolloutRow } from '../../rows.ts'
import { withoutRaw } from '../answers.ts'
import { part } from '../page.ts'
import { scoreTable } from '../tables.ts'
import type { Block, PageView } from '../view.ts'
import { Blocks } from './blocks.tsx'
import { FilePage } from './page.tsx'
import { RolloutCard } from './rollout.tsx'
import { TextTable } from './table.tsx'

const HOSTILE = `"><img src=x onerror="window.harmed=1"><script>window.harmed=1</script>'&`

const row: RolloutRow = {
  step: 1,
  problemId: HOSTILE,
  prompt: HOSTILE,
  response: `<think>${HOSTILE}</think>${HOSTILE}`,
  reward: 0.5,
  monitor: HOSTILE,
  answer: HOSTILE,
  gold: HOSTILE,
  parts: { [HOSTILE]: 1 },
  flags: { [HOSTILE]: 2 },
  lessons: [{ how: 'cross', question: HOSTILE, text: HOSTILE }],
  steps: [{ text: HOSTILE, status: HOSTILE, flags: [HOSTILE], note: HOSTILE }],
  verdicts: [{ criterionId: HOSTILE, met: true, explanation: HOSTILE, call: 0 }],
  judgeCalls: [{ judge: HOSTILE, raw: `${HOSTILE} thinks aloud` }],
}

const chip = { text: HOSTILE, class: HOSTILE }
const mark = { class: HOSTILE, at: 0.5, title: HOSTILE, href: `#${HOSTILE}`, color: HOSTILE }
const line = {
  name: HOSTILE,
  about: HOSTILE,
  marks: [mark],
  label: HOSTILE,
  value: HOSTILE,
  notes: [HOSTILE],
}

/** Every kind that shows words of runs. */
const BLOCKS: Block[] = [
  { kind: 'text', text: HOSTILE, class: HOSTILE },
  { kind: 'heading', text: HOSTILE, about: HOSTILE },
  {
    kind: 'facts',
    facts: [
      [HOSTILE, 1],
      ['', chip],
      [HOSTILE, HOSTILE],
    ],
  },
  { kind: 'links', links: [{ text: HOSTILE, href: `/${HOSTILE}`, key: HOSTILE }] },
  { kind: 'list', lines: [HOSTILE] },
  { kind: 'pairs', pairs: [{ name: HOSTILE, text: HOSTILE, note: HOSTILE }] },
  { kind: 'contents', titles: [HOSTILE, HOSTILE, HOSTILE] },
  { kind: 'events', events: [{ level: 'info', message: HOSTILE }] },
  { kind: 'lines', lines: [{ ...line, below: HOSTILE }], ends: [HOSTILE, HOSTILE] },
  { kind: 'key', colors: [[HOSTILE, HOSTILE]] },
  { kind: 'document', text: HOSTILE },
  { kind: 'panel', id: HOSTILE, title: HOSTILE, chip, note: HOSTILE, blocks: [] },
  { kind: 'fold', title: HOSTILE, blocks: [] },
]

const page: PageView = {
  ...{ title: HOSTILE, status: chip, facts: [[HOSTILE, HOSTILE]], intro: BLOCKS, footer: HOSTILE },
  sections: [{ title: HOSTILE, about: HOSTILE, blocks: BLOCKS }],
}

/** Elements and attributes that no component writes. */
const harmful = /<(?:img|script)|[^;"=]" ?onerror/

describe('components in a file', () => {
  it('show text as text, in elements and attributes', () => {
    const shown = [
      part(RolloutCard, { row, criteria: { [HOSTILE]: { name: HOSTILE, text: HOSTILE, points: -1 } } }),
      part(RolloutCard, { row: { ...row, turns: [{ by: 'environment', text: HOSTILE }] }, criteria: {} }),
      part(FilePage, { page }),
      ...BLOCKS.map(block => part(Blocks, { blocks: [block] })),
      part(TextTable, {
        table: scoreTable(
          [{ name: HOSTILE, note: HOSTILE, kind: 'before', scores: { [HOSTILE]: { value: 0.5 } } }],
          { bars: [HOSTILE], others: [], evals: [] },
        ),
      }),
    ].map(String)
    for (const text of shown) {
      expect(text).toContain('&lt;script>')
      expect(text).not.toMatch(harmful)
    }
  })

  it('make no element of an object in place of a text', () => {
    const element = { type: 'script', props: { children: 'window.harmed=1' }, key: null, constructor: null }
    const strange = { ...row, prompt: element, response: element, answer: element, gold: undefined }
    const text = String(part(RolloutCard, { row: strange as unknown as RolloutRow, criteria: {} }))
    expect(text).not.toMatch(harmful)
    expect(text).toContain('<h3>Response</h3>')
  })

  it('leave out of a report what judges wrote, and keep who they were', () => {
    const card = String(part(RolloutCard, { row, criteria: {} }))
    const report = String(part(RolloutCard, { criteria: {}, row: withoutRaw(row) }))
    expect(card).toContain('thinks aloud')
    expect(report).not.toContain('thinks aloud')
    expect(report).toContain('class="judge"')
  })

  it('say that verdicts are missing only where nothing was judged', () => {
    const { steps: _, verdicts: __, ...bare } = row
    const text = (own: Partial<RolloutRow>) =>
      String(part(RolloutCard, { row: { ...bare, ...own }, criteria: {} }))
    expect(text({})).toContain('No verdicts were recorded')
    expect(text({ steps: row.steps })).not.toContain('No verdicts were recorded')
    expect(text({ verdicts: row.verdicts })).not.toContain('No verdicts were recorded')
    const answer = String(part(RolloutCard, { row: bare, criteria: {}, of: 'score' }))
    expect(answer).not.toContain('Verdicts')
  })
})
