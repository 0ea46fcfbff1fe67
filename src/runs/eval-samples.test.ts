import { describe, expect, it } from 'vitest'
import { evalRowOf } from './eval-row.fixture.ts'
import { sampleRow, withSamples } from './eval-samples.ts'

const sample = (response: string) => ({ prompt: 'p', response, reward: 0.5 })

describe('responses of an evaluation', () => {
  it('are kept of the first problems alone, and read by the problem', () => {
    const row = evalRowOf(Array.from({ length: 51 }, () => 1))
    const kept = withSamples(row, i => (i === 1 ? null : sample(`to p${i}`)))
    const having = kept.items!.filter(item => item.sample !== undefined)
    expect(having).toHaveLength(47)
    expect(sampleRow(kept, 'p2')).toEqual({ step: row.step, problemId: 'p2', ...sample('to p2') })
    expect([sampleRow(kept, 'p1'), sampleRow(kept, 'other')]).toEqual([null, null])
    expect(row.items![0]).not.toHaveProperty('sample')
  })

  it('say of a judge’s call what stays the same when an evaluation is repeated', () => {
    const judgeCalls = [{ judge: 'j', raw: 'yes', attempts: 2, reused: 'cache' as const }]
    const [item] = withSamples(evalRowOf([1]), () => ({ ...sample('r'), judgeCalls })).items!
    expect(item.sample!.judgeCalls).toEqual([{ judge: 'j', raw: 'yes' }])
  })

  it('have a share of the room for each of many turns', () => {
    const turns = Array.from({ length: 60 }, () => ({ by: 'policy' as const, text: 'y'.repeat(20_000) }))
    const [item] = withSamples(evalRowOf([1]), () => ({ ...sample('r'), turns })).items!
    expect(item.sample!.turns).toHaveLength(60)
    expect(JSON.stringify(item).length).toBeLessThan(60_000)
  })

  it('are without their middle where they are long', () => {
    const long = `begins ${'x'.repeat(30_000)} ends`
    const [item] = withSamples(evalRowOf([1]), () => ({
      ...sample(long),
      turns: [{ by: 'policy', text: long }],
      answer: long,
      steps: [{ text: long, status: 'entailed' }],
      verdicts: [{ criterionId: 'c', met: true, explanation: long }],
    })).items!
    const pairs = withSamples(evalRowOf([1]), () => sample(`x${'\u{1f600}'.repeat(20_000)}`)).items![0]
      .sample!
    expect(JSON.stringify(pairs.response)).not.toMatch(/\\ud[89a-f]/)
    for (const text of [
      item.sample!.response,
      item.sample!.turns![0].text,
      item.sample!.answer!,
      item.sample!.steps![0].text,
      item.sample!.verdicts![0].explanation!,
    ]) {
      expect(text.length).toBeLessThan(13_000)
      expect(text).toMatch(/^begins x+\n\[\.\.\.\]\nx+ ends$/)
    }
  })
})
