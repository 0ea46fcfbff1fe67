import { describe, expect, it } from 'vitest'
import { judgeQuality } from '../../eval/judge-quality.ts'
import { checkGrader, type LabelledCase, parseLabelledCase } from './calibration.ts'
import { noisyGrader, scriptedGrader } from './synthetic-graders.ts'

const cases: LabelledCase[] = Array.from({ length: 400 }, (_, i) => {
  const response = `response ${Math.floor(i / 4)}`
  const label = i % 3 === 0
  return {
    prompt: [{ role: 'user', content: 'q' }],
    response,
    criterion: { id: `c${i % 4}`, text: `${label}`, points: i % 4 === 3 ? -1 : 1 },
    label,
  }
})
/** Knows the truth: it is the criterion's text. */
const truthful = scriptedGrader((_item, { text }) => text === 'true')

describe('a grader against labels', () => {
  it('has no errors when it knows the truth, and asks about a response once', async () => {
    const asked: number[] = []
    const counting = {
      grade: (...args: Parameters<typeof truthful.grade>) => {
        asked.push(args[1].length)
        return truthful.grade(...args)
      },
    }
    const rows = await checkGrader(counting, cases)
    expect(asked).toEqual(new Array(100).fill(4))
    expect(rows.map(({ criterionId }) => criterionId)).toEqual(cases.map(({ criterion }) => criterion.id))
    expect(judgeQuality(rows).all.agreement).toMatchObject({
      estimate: 1,
      low: expect.closeTo(0.963, 3),
      high: 1,
    })
  })

  it('is found out at the rates with which it errs', async () => {
    const grader = noisyGrader(truthful, { flipRate: 0.2, nullRate: 0.1, seed: 3 })
    const { all, nullsAcceptable } = judgeQuality(await checkGrader(grader, cases))
    for (const rate of [all.falseAccept, all.falseReject]) {
      expect(rate?.low).toBeLessThan(0.2)
      expect(rate?.high).toBeGreaterThan(0.2)
    }
    expect(all.nullRate?.estimate).toBeGreaterThan(0.06)
    expect(all.nullRate?.estimate).toBeLessThan(0.14)
    expect(nullsAcceptable).toBe(false)
  })

  it('reads rows of a file, and refuses two labels for one thing', async () => {
    const row = { prompt: 'q', response: 'r', criterion: { text: 'T', points: 2 }, label: true, rater: 'me' }
    const labelled = parseLabelledCase(row)
    expect(labelled).toEqual({
      prompt: [{ role: 'user', content: 'q' }],
      response: 'r',
      criterion: { id: 'T', text: 'T', points: 2 },
      label: true,
    })
    await expect(checkGrader(truthful, [labelled, labelled])).rejects.toThrow('labels 1 and 2')
    expect(() => parseLabelledCase({ ...row, label: 'yes' }, 'labels.jsonl:3')).toThrow(
      'labels.jsonl:3: label: expected a boolean, got "yes"',
    )
  })

  it('stops with the signal', async () => {
    await expect(checkGrader(truthful, cases, { signal: AbortSignal.abort() })).rejects.toThrow('aborted')
  })
})
