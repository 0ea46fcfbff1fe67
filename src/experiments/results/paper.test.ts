import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { writeFileAtomic } from '../../util/atomic.ts'
import { fakeContext, fakeRegistration, fakeRuns } from '../fake-paper.fixture.ts'
import { renderPaperReport } from '../report/report.ts'
import { foreignResults, writeResults } from './files.ts'
import { analysePaper } from './paper.ts'

const registration = fakeRegistration()
const runs = fakeRuns(registration)

describe('what a judge was asked', () => {
  const context = fakeContext(registration)
  /** 60 steps of 5 calls under the first seed, 7 under the others, and a cache that comes to answer half of the questions. */
  const judged = runs.map(run =>
    run.arm !== 'better'
      ? run
      : {
          ...run,
          metrics: run.metrics.map(row => ({
            ...row,
            time: {
              ...row.time,
              judgeCallCount: run.seed === '1' ? 5 : 7,
              // A step that asked nothing has no share.
              judgeCachedShare: row.step <= 20 ? null : row.step <= 40 ? 0.25 : 0.75,
            },
          })),
        },
  )

  it('stands beside steps, tokens and seconds, for arms that have a judge', () => {
    const result = analysePaper(registration, judged, context)
    const [better, plain] = result.arms
    // Two runs of ten have 300 calls, the others 420.
    expect(better).toMatchObject({
      arm: 'better',
      judgeCalls: (2 * 300 + 8 * 420) / 10,
      judgeCachedShare: 0.5,
    })
    expect(plain).not.toHaveProperty('judgeCalls')
    const [claim] = result.claims
    expect(claim.runs.find(({ arm, seed }) => arm === 'better' && seed === '1')).toMatchObject({
      judgeCalls: 300,
      judgeCachedShare: 0.5,
    })
    expect(claim.runs.find(({ arm }) => arm === 'plain')).not.toHaveProperty('judgeCalls')
    const page = renderPaperReport(result, judged)
    expect(page).toContain('Judge calls')
    expect(page).toMatch(/396<small>50\.0% of the questions needed none/)
  })

  it('is not shown where no run has a judge', () => {
    const result = analysePaper(registration, runs, context)
    expect(result.arms.some(arm => 'judgeCalls' in arm)).toBe(false)
    expect(renderPaperReport(result, runs)).not.toContain('Judge calls')
    // What an arm started from was asked nothing.
    const before = analysePaper(registration, judged, context).claims[3].runs
    expect(before.filter(({ arm }) => arm === 'start').some(run => 'judgeCalls' in run)).toBe(false)
  })
})

describe('the file of a claim', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gradus-results-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const made = { versions: { gradus: '0.1.0', commit: 'abc' }, machine: { cores: 2 } }
  const trainedWith = [{ ...made, runs: 42 }]
  const result = analysePaper(registration, runs, { ...fakeContext(registration), trainedWith })
  writeResults(folder, result)
  const written = (id: string) => JSON.parse(readFileSync(join(folder, `${id}.json`), 'utf8'))

  it('holds the claim as it was registered, beside the test set and what its arms took', () => {
    const { claim, test, arms, status, p } = written('FAKE-3')
    expect(claim).toEqual(JSON.parse(JSON.stringify(registration.claims[2])))
    expect(claim).toMatchObject({ test: 'share', arms: { a: 'better' } })
    expect(test).toEqual(registration.test)
    expect(arms).toMatchObject([{ arm: 'better', runs: 10, planned: 10 }])
    expect([status, p]).toEqual(['reproduced', null])
    expect(written('FAKE-1').runs).toHaveLength(30)
  })

  it('is told of where it belongs to no claim of the registration any more', () => {
    const { claims } = registration
    expect(foreignResults(folder, registration)).toEqual([])
    // Beside claims lie the controls, and files of others.
    writeFileAtomic(join(folder, 'diagnosis.json'), JSON.stringify({ registration: registration.hash }))
    const fewer = { ...registration, claims: claims.slice(2) }
    expect(foreignResults(folder, fewer)).toEqual(['FAKE-1.json', 'FAKE-2.json'])
  })

  it('tells what trained the runs from what worked out the results', () => {
    const { trainedWith: trained, analysedWith } = written('FAKE-1')
    expect(trained).toEqual(trainedWith)
    expect(analysedWith.machine.node).toBe(process.version)
  })
})
