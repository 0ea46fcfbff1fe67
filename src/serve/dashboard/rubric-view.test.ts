import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { shownSections, type TableView } from '../../runs/report/view.ts'
import { OpenRun } from './open-run.ts'
import { rubricPage } from './rubric-view.ts'

const root = mkdtempSync(join(tmpdir(), 'gradus-rubric-view-'))
process.env.GRADUS_CACHE = join(root, 'cache')
afterAll(() => rmSync(root, { recursive: true }))

const lines = (rows: readonly object[]) => rows.map(row => `${JSON.stringify(row)}\n`).join('')

const opened = async (files: Record<string, readonly object[]>) => {
  const dir = mkdtempSync(join(root, 'run-'))
  writeFileSync(
    join(dir, 'config.json'),
    JSON.stringify({ id: 'r', createdAt: '', config: {}, environment: {} }),
  )
  for (const [name, rows] of Object.entries(files)) writeFileSync(join(dir, `${name}.jsonl`), lines(rows))
  const run = new OpenRun({ id: 'r', name: 'r', dir, folder: '' })
  await run.advance()
  await run.rollouts.advance()
  return run
}

/** Cells of a column of the criteria. */
const cellsOf = async (column: string, files: Parameters<typeof opened>[0]) => {
  const [{ blocks }] = shownSections(rubricPage(await opened(files)))
  const { head, rows } = blocks[0] as TableView
  const place = head.findIndex(own => (typeof own === 'string' ? own : own.name) === column)
  return rows.map(cells => cells[place])
}

/** Two rollouts of a group, met or not. */
const pair = (step: number, first: boolean | null, second: boolean) =>
  [first, second].map((met, sample) => ({
    ...{ step, sample, problemId: `p${step}`, prompt: '', response: '', reward: sample },
    verdicts: [{ criterionId: 'c', met }],
  }))

describe('discrimination', () => {
  it('is what the run recorded over all its groups, in the last tenth of the steps', async () => {
    const steps = Array.from({ length: 20 }, (_, i) => i + 1)
    const cells = await cellsOf('Discrimination', {
      metrics: steps.map(step => ({
        step,
        criteria: { c: 0.5 },
        discrimination: { c: step > 18 ? 0.25 : 1 },
      })),
      rollouts: steps.flatMap(step => pair(step, true, false)),
    })
    expect(cells).toEqual(['25.0%'])
  })

  it('of an older run is over the groups of which several were kept, where these are enough', async () => {
    // Eight groups with two verdicts, of which two differ; one in which a verdict is missing.
    const rollouts = [
      ...Array.from({ length: 8 }, (_, i) => pair(i + 1, i < 2, true)).flat(),
      ...pair(9, null, true),
    ]
    const cells = await cellsOf('Discrimination', { rollouts })
    expect(cells).toEqual([{ text: '75.0%', notes: ['of 8 kept groups'] }])
    expect(await cellsOf('Discrimination', { rollouts: rollouts.slice(0, 14) })).toEqual(['–'])
  })
})

it('agreement is of the latest evaluation in which two graders spoke', async () => {
  const evaluation = (step: number, agreement?: object) => ({
    ...{ step, set: `set ${step}`, n: 1, primary: 'a', scores: { a: { value: 1 } } },
    ...(agreement && { agreement }),
  })
  const cells = await cellsOf('Agreement', {
    metrics: [{ step: 1, criteria: { c: 1, d: 1 } }],
    evals: [evaluation(0, { c: 0.5, d: 0.1 }), evaluation(5, { c: 0.75, d: null }), evaluation(9)],
  })
  expect(cells).toEqual([
    { text: '75.0%', notes: ['step 5'], title: 'set 5' },
    { text: '10.0%', notes: ['step 0'], title: 'set 0' },
  ])
})

it('validity stands beside its floor of chance, and metrics by sign apart', async () => {
  const run = await opened({
    metrics: [
      {
        step: 1,
        validRate: 0.6,
        nullValidRate: 0.2,
        saturation: 0.3,
        verifierAgreement: { reward: 0.9, penalty: 0.7 },
      },
    ],
  })
  const section = shownSections(rubricPage(run)).find(({ title }) => title === 'The rubric as a whole')!
  const [table] = section.blocks as TableView[]
  const bar = (text: string, value: number, floor: number | null) => ({
    text,
    bar: { value, floor },
    notes: [],
  })
  expect(table.rows).toEqual([
    [
      'Valid criteria',
      '60.0%',
      bar('60.0%', 0.6, 0.2),
      { text: '+40.0', class: 'change', notes: ['chance 20.0%'] },
    ],
    ['One verdict on all responses', '30.0%', bar('30.0%', 0.3, null), ''],
    ['Verifier agrees with execution, on merits', '90.0%', bar('90.0%', 0.9, null), ''],
    ['Verifier agrees with execution, on flaws', '70.0%', bar('70.0%', 0.7, null), ''],
  ])
})
