import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { evalItem } from '../runs/eval-row.fixture.ts'
import { writeFileAtomic } from '../util/atomic.ts'
import { fakeContent, fakeContext, fakeRegistration, fakeRuns } from './fake-paper.fixture.ts'
import { readRegistration } from './plan/read.ts'
import { recompute, writeRecomputed } from './recompute.ts'
import { renderPaperReport, writePaperSummary } from './report/report.ts'
import { countsOf } from './results/counts.ts'
import { readClaimFile, writeResults } from './results/files.ts'
import { analysePaper } from './results/paper.ts'
import { readSlimRuns, writeSlimRuns } from './results/slim-runs.ts'

const root = mkdtempSync(join(tmpdir(), 'gradus-recompute-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const NOW = { versions: { gradus: '0.1.0' }, machine: {}, command: 'gradus experiment made-up --recompute' }

/** Values that nothing registered asks for, texts of a probe, items. */
const rich = (runs: ReturnType<typeof fakeRuns>) =>
  runs.map(run => ({
    ...run,
    metrics: run.metrics.map(row => ({ ...row, idle: 1.23456789 * row.step, 'exploits.x': 1 / 3 })),
    probes: { ...run.probes, novelty: { n: 1, median: 2, top: [{ text: 'a long response' }] } },
    evals: run.evals.map(row => ({
      ...row,
      items: Array.from({ length: 300 }, (_, i) =>
        evalItem(`problem ${i}`, Number((i * 7 + Number(run.seed)) % 10 < (run.arm === 'better' ? 6 : 5))),
      ),
    })),
  }))

/** Writes all that an analysis leaves. */
const leave = (name: string, registration = fakeRegistration(), rule?: number) => {
  const folder = join(root, name)
  const runs = rich(fakeRuns(registration))
  const context = fakeContext(registration, rule)
  const result = analysePaper(registration, runs, context)
  writeResults(folder, result)
  writePaperSummary(folder, result)
  writeSlimRuns(folder, registration, context, runs)
  return { folder, result, runs, registration }
}

const plain = (value: unknown) => JSON.parse(JSON.stringify(value))

describe('results worked out again', () => {
  it('from slim runs are the same: statuses, statistics, pairs', () => {
    const { folder, result } = leave('whole')
    const again = recompute(folder, NOW)
    expect(again.from).toBe('runs')
    expect(again.differences).toEqual([])
    expect(plain(again.result.claims)).toEqual(plain(result.claims))
    expect(plain(again.result.controls)).toEqual(plain(result.controls))
    expect(plain(again.result.arms)).toEqual(plain(result.arms))
    expect(again.result.analysedWith).toEqual(NOW)
    // Item by item as well: of the last evaluation of both arms.
    expect(again.result.claims[0].comparisons[0].items!.items).toBe(300)
  })

  it('know what their registration says since, where it is still the same one', () => {
    const file = join(root, 'since.yaml')
    const says = (content: object) => writeFileSync(file, JSON.stringify(content))
    says(fakeContent())
    const { folder } = leave('since', readRegistration(file))
    const [{ id }] = fakeRegistration().claims
    const afterwards = {
      apart: [{ claims: [id], is: 'by construction', why: 'whatever is trained, it comes out so' }],
    }
    says(fakeContent({ afterwards }))
    const again = recompute(folder, NOW)
    const { apart, counted } = countsOf(again.result)
    expect(apart.map(({ claim }) => claim.claim.id)).toEqual([id])
    expect(counted).toHaveLength(again.result.claims.length - 1)
    writeRecomputed(folder, again)
    expect(readClaimFile(folder, id)!.apart).toEqual({
      is: 'by construction',
      why: 'whatever is trained, it comes out so',
    })
    expect(readFileSync(join(folder, 'summary.md'), 'utf8')).toContain('## Apart, not counted')
    expect(renderPaperReport(again.result, again.runs)).toContain('1 apart, not counted')
    // Another content is another experiment, and says nothing of these results.
    says(fakeContent({ steps: 61, afterwards }))
    expect(countsOf(recompute(folder, NOW).result).apart).toEqual([])
  })

  it('refuse a file that was cut short or changed, by its name', () => {
    const { folder } = leave('damaged')
    const path = join(folder, 'runs.jsonl.br')
    const whole = readFileSync(path)
    for (const bytes of [whole.subarray(0, whole.length >> 1), Buffer.from('no runs'), Buffer.alloc(0)]) {
      writeFileSync(path, bytes)
      expect(() => readSlimRuns(folder)).toThrow(
        `${path}: expected the runs of results, got a file that was cut`,
      )
    }
  })

  it('keep what claims read at every step, the rest at a few, and no texts', () => {
    const { folder, runs } = leave('slim')
    const [slim] = readSlimRuns(folder)!.runs
    expect(slim.metrics.map(({ entropy }) => entropy)).toEqual(runs[0].metrics.map(({ entropy }) => entropy))
    expect(slim.metrics.filter(row => 'idle' in row).map(({ step }) => step)).toEqual([
      ...Array.from({ length: 20 }, (_, i) => 1 + 3 * i),
      60,
    ])
    expect(slim.metrics[0].idle).toBe(1.23457)
    expect(slim.metrics[0]['exploits.x']).toBe(0.333333)
    expect(slim.evals).toEqual(runs[0].evals)
    expect(JSON.stringify(slim.probes)).not.toContain('a long response')
    // 40 runs of 60 steps and 4 x 300 items.
    expect(statSync(join(folder, 'runs.jsonl.br')).size).toBeLessThan(150_000)
  })

  it('keep what a value that is made of others reads, and work a trend out again', () => {
    const [first] = fakeRegistration().claims
    const registration = fakeRegistration({
      claims: [
        { ...first, id: 'TREND', metric: 'score', test: 'trend' },
        {
          id: 'BOTH',
          statement: 'Both fall.',
          arms: { a: 'better' },
          metric: {
            name: 'all-of',
            of: [
              { metric: { name: 'curve', key: 'idle', statistic: 'change' }, above: 0 },
              { metric: { name: 'curve', key: 'entropy', statistic: 'change' }, below: 0 },
            ],
          },
          test: 'share',
          atLeast: 0.8,
          smallestEffect: 0,
        },
      ],
    })
    const { folder, result } = leave('trend', registration)
    const [slim] = readSlimRuns(folder)!.runs
    expect(slim.metrics.every(row => typeof row.idle === 'number')).toBe(true)
    const again = recompute(folder, NOW)
    expect(again.differences).toEqual([])
    expect(plain(again.result.claims)).toEqual(plain(result.claims))
    expect(result.claims.map(({ status }) => status)).toEqual(['reproduced', 'reproduced'])
    expect(renderPaperReport(again.result, again.runs)).toContain('trend better … plain … worse')
  })

  it('tell where they come out otherwise than their files say, and write them anew when asked', () => {
    const { folder } = leave('changed')
    const path = join(folder, 'FAKE-5.json')
    const found = JSON.parse(readFileSync(path, 'utf8'))
    writeFileAtomic(path, JSON.stringify({ ...found, status: 'reproduced' }))
    const again = recompute(folder, NOW)
    expect(again.differences).toEqual(['FAKE-5: not reproduced, its file says reproduced'])
    expect(writeRecomputed(folder, again)).toBe(join(folder, 'report.html'))
    expect(recompute(folder, NOW).differences).toEqual([])
  })

  it('have both rules where they were registered under another one', () => {
    const { folder } = leave('earlier', fakeRegistration(), 1)
    const { claims, registered } = recompute(folder, NOW).result
    expect(registered.rule).toBe(1)
    expect(claims.map(({ atRegistration }) => atRegistration?.rule)).toEqual([1, 1, 1, 1, 1])
    expect(readFileSync(join(folder, 'summary.md'), 'utf8')).toContain('by rule 1, at registration')
  })

  it('of several blocks are shown for each of them, alone and together', () => {
    const { folder, result } = leave(
      'blocks',
      fakeRegistration({
        seeds: [1, 2, 3],
        blocks: [{ seeds: [4, 5, 6], registered: '2026-12-01' }],
      }),
    )
    expect(result.blocks.map(({ nth, runs, seeds }) => [nth, runs, seeds])).toEqual([
      [1, 24, [1, 2, 3]],
      [2, 24, [4, 5, 6]],
    ])
    const [first, second] = result.blocks
    expect(first.alone).toEqual(first.together)
    expect(second.together).toEqual(
      result.claims.map(({ claim, status, reason }) => ({ id: claim.id, status, reason })),
    )
    // Six pairs at the first look, twelve together.
    expect([first, second].map(({ together }) => together[1].status)).toEqual(['inconclusive', 'reproduced'])
    const page = renderPaperReport(result, [])
    expect(page).toContain('Blocks of seeds')
    expect(readFileSync(join(folder, 'summary.md'), 'utf8')).toMatch(
      /\| Claim \| Block 1, 3 seeds \| Block 2, 3 seeds \| Together, look 2 \|[\s\S]*\| FAKE-1 \| /,
    )
    const { blocks, looks } = JSON.parse(readFileSync(join(folder, 'FAKE-1.json'), 'utf8'))
    expect([blocks.length, looks]).toEqual([2, 2])
    expect(recompute(folder, NOW).differences).toEqual([])
  })
})

describe('published results, of which pairs are kept and runs are not', () => {
  const results = fileURLToPath(new URL('../../results', import.meta.url))

  it.each(['rubric-as-reward', 'ruscarl'])('of %s have the statuses that their pairs give', paper => {
    const again = recompute(join(results, paper), NOW)
    expect(again.from).toBe('pairs')
    expect(again.differences).toEqual([])
  })

  it('of logic-longer have their statuses, and name the control that made no update, also where only pairs are kept', () => {
    const folder = join(root, 'no-update')
    cpSync(join(results, 'logic-longer'), folder, { recursive: true })
    const again = recompute(folder, NOW)
    expect(again.differences).toEqual([])
    const notes = [null, 'made no update in 6 of 6 runs: it says nothing', null]
    expect(again.result.controls.map(({ note }) => note)).toEqual(notes)
    writeRecomputed(folder, again)
    expect(readFileSync(join(folder, 'summary.md'), 'utf8')).toMatch(
      /\| shuffled-rubrics; .* \| passed; made no update in 6 of 6 runs: it says nothing \|/,
    )
    expect(readFileSync(join(folder, 'report.html'), 'utf8')).toContain(
      '<small>made no update in 6 of 6 runs: it says nothing</small>',
    )
    expect(JSON.parse(readFileSync(join(folder, 'LON-1.json'), 'utf8')).controls[1].note).toBe(notes[1])
    rmSync(join(folder, 'runs.jsonl.br'))
    expect(recompute(folder, NOW).result.controls.map(({ note }) => note)).toEqual(notes)
  })

  it('have RAR-5-little not reproduced under the rule at its registration', () => {
    const { result } = recompute(join(results, 'rubric-as-reward'), NOW)
    const little = result.claims.find(({ claim }) => claim.id === 'RAR-5-little')!
    expect(little).toMatchObject({
      status: 'inconclusive',
      atRegistration: { rule: 1, status: 'not reproduced', reason: 'the difference lies beyond the margin' },
    })
  })

  it('are refused where a file is of another registration', () => {
    const folder = join(root, 'mixed')
    cpSync(join(results, 'rubric-as-reward'), folder, { recursive: true })
    const path = join(folder, 'RAR-2.json')
    const found = JSON.parse(readFileSync(path, 'utf8'))
    writeFileAtomic(path, JSON.stringify({ ...found, registration: { ...found.registration, sha256: 'f' } }))
    expect(() => recompute(folder, NOW)).toThrow(
      /RAR-2\.json: expected results of the registration 61dff8547bc25588/,
    )
  })
})
