import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { fakeContent, fakeContext, fakeRegistration, fakeRuns } from '../fake-paper.fixture.ts'
import { paperSummary } from '../report/report.ts'
import { earlierLooks } from './earlier.ts'
import { readClaimFile, writeResults } from './files.ts'
import { analysePaper } from './paper.ts'

const root = mkdtempSync(join(tmpdir(), 'gradus-earlier-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const [first] = fakeContent().claims as object[]
const registration = fakeRegistration({
  seeds: [1, 2, 3],
  arms: { ...(fakeContent().arms as object), twin: { draws: 'twin' } },
  claims: [
    {
      ...first,
      arms: {
        pairs: [
          ['twin', 'plain'],
          ['better', 'worse'],
        ],
      },
      earlier: [
        { results: 'before', claim: 'OLD-1' },
        { results: 'before', claim: 'OLD-2' },
      ],
    },
  ],
})
const result = analysePaper(registration, fakeRuns(registration), fakeContext(registration))

describe('earlier looks at a claim', () => {
  const before = join(root, 'before')
  const now = join(root, 'now')
  mkdirSync(before)
  mkdirSync(now)
  const pairs = [0.01, 0.03].map((d, i) => ({ start: 'a', seed: `old ${i}`, a: 0.5 + d, b: 0.5 }))
  writeFileSync(
    join(before, 'OLD-1.json'),
    JSON.stringify({
      status: 'inconclusive',
      claim: { metric: { name: 'score', options: { set: 'unseen' } } },
      comparisons: [{ a: 'better', b: 'plain', equal: 'steps', pairs }],
    }),
  )
  const looksAt = () => earlierLooks(now, result.claims[0], registration.arms)

  it('are told with their own pairs and with all pairs together', () => {
    const [look, missing] = looksAt()
    // The other pair of arms was not compared then.
    expect(look.comparisons).toHaveLength(1)
    expect(look).toMatchObject({ results: 'before', claim: 'OLD-1', status: 'inconclusive' })
    const [{ name, earlier, together }] = look.comparisons
    expect(name).toBe('twin − plain')
    expect(earlier).toMatchObject({ pairs: 2, difference: expect.closeTo(0.02, 12) })
    const own = result.claims[0].comparisons[0].pairs.map(({ a, b }) => a - b)
    const sum = own.reduce((total, d) => total + d, 0.04)
    expect(together).toMatchObject({ pairs: 8, difference: expect.closeTo(sum / 8, 12) })
    expect(missing).toEqual({ results: 'before', claim: 'OLD-2', status: null, comparisons: [] })
  })

  it('of another value are not put together with it', () => {
    const other = {
      status: 'inconclusive',
      claim: { metric: { name: 'score', options: {} } },
      comparisons: [],
    }
    writeFileSync(join(before, 'OLD-2.json'), JSON.stringify(other))
    expect(looksAt()[1]).toEqual({
      results: 'before',
      claim: 'OLD-2',
      status: 'inconclusive',
      comparisons: [],
    })
    rmSync(join(before, 'OLD-2.json'))
  })

  it('lie in the results and in the summary, where they decide nothing', () => {
    writeResults(now, result)
    const file = readClaimFile(now, 'FAKE-1')!
    expect(file.looks).toBe(3)
    expect(file.earlier).toHaveLength(2)
    expect(file.comparisons[0].statistics!.n).toBe(6)
    const text = paperSummary(result, now)
    expect(text).toContain('## Looked at before')
    expect(text).toContain('| FAKE-1 | before/OLD-1 |  |  | inconclusive |')
    expect(text).toMatch(/\| {2}\| twin − plain \| \+2\.0 \[.*\], 2 pairs \| .*, 8 pairs \| {2}\|/)
    expect(text).toContain('| FAKE-1 | before/OLD-2 |  |  | not there |')
  })
})
