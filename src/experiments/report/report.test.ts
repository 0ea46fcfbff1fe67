import { describe, expect, it } from 'vitest'
import { fakeContext, fakeRegistration, fakeRuns } from '../fake-paper.fixture.ts'
import { analysePaper } from '../results/paper.ts'
import { renderPaperReport } from './report.ts'

const registration = fakeRegistration()
const runs = fakeRuns(registration)

describe('the report', () => {
  const result = analysePaper(registration, runs, fakeContext(registration))
  const page = renderPaperReport(result, runs)

  it('holds every claim with its status, and what was cut', () => {
    const shown = result.claims.map(({ claim }) => {
      const [, rest] = page.split(`id="claim-${claim.id}"`)
      return /<span class="verdict[^"]*">([^<]*)</.exec(rest)?.[1]
    })
    expect(shown).toEqual(result.claims.map(({ status }) => status))
    expect(new Set(shown)).toEqual(new Set(['reproduced', 'not reproduced']))
    expect(page).toContain('nobody would believe more')
    expect(page).toContain(registration.hash)
  })

  it('says of each claim what was expected, in its unit', () => {
    expect(page).toContain('score on unseen; expected: above; smallest effect that matters: 1.0 points.')
    expect(page).toContain('expected: above, at equal generated tokens; smallest effect')
    expect(page).toContain('response-tokens on unseen; expected: not above; margin: 1.')
    expect(page).toContain('expected in at least 80.0% of the runs.')
    const equal: ('tokens' | 'minutes')[] = ['tokens', 'minutes']
    const claims = result.claims.map(own => ({ ...own, claim: { ...own.claim, equal } }))
    expect(renderPaperReport({ ...result, claims }, runs)).toContain(
      'expected: above, at equal generated tokens and in equal time; smallest effect',
    )
  })

  it('says where effects differ between cold starts, and what lies behind values', () => {
    const shifted = runs.map(run => ({
      ...run,
      metrics: run.metrics.filter(({ step }) => step !== 7),
      evals: run.evals.map(row =>
        run.arm === 'better' && run.start === 'b'
          ? { ...row, scores: { accuracy: { value: row.scores.accuracy.value! + 0.2 } } }
          : row,
      ),
    }))
    const differs = renderPaperReport(analysePaper(registration, shifted, fakeContext(registration)), shifted)
    expect(differs).toMatch(/differs between cold starts: a \+\d+\.\d, b \+2\d\.\d/)
    expect(differs).toMatch(/By cold start: a [^ ]+, b [^ ]+ \(p of a difference between them \.0079\)/)
    expect(differs).toMatch(
      /better: peak above the first value by 0\.\d+ to 0\.\d+; last value below the peak by [\d.]+ to [\d.]+; peak at [\d.%]+ to [\d.%]+; share of steps with a value 98\.3%; last step with one 60\./,
    )
    expect(page).not.toContain('differs between cold starts')
  })

  it('gives each of several comparisons its own p and status', () => {
    expect(page).toContain('p .0020, by itself corrected .0059; reproduced: interval, test and size agree.')
  })

  it('needs nothing from elsewhere', () => {
    expect(page).not.toMatch(/(src|href)="(https?:)?\/\//)
    expect(page.includes('default-src &#39;none&#39;')).toBe(true)
  })

  it('is written also when nothing is done yet', () => {
    const empty = analysePaper(registration, [], fakeContext(registration))
    expect(renderPaperReport(empty, [])).toContain('No finished run has this metric yet.')
  })
})
