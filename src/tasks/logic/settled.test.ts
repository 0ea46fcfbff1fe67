import { describe, expect, it } from 'vitest'
import { extractLabel } from '../../grade/logic/answer.ts'
import { parseSentence } from '../../grade/logic/english.ts'
import { extractReasoning } from '../../grade/logic/steps.ts'
import { decodeLogicWithOffsets, encodeResponse, tokenSpan } from './format.ts'
import { generateLogicProblems } from './generator.ts'
import { countSkippedSteps, settlesQuestion } from './settled.ts'
import { LOGIC_TOKENS } from './vocabulary.ts'

const problems = (['real', 'shortcut-free'] as const).flatMap(style =>
  generateLogicProblems(150, { style, labels: 'three-way', hops: { 1: 1, 2: 1, 5: 2 } }, 'settled'),
)

describe('the end of a proof', () => {
  it('gold proofs settle the question, and no shorter ones do', () => {
    for (const problem of problems) {
      const steps = problem.proof!.map(parseSentence)
      expect(settlesQuestion(problem, steps)).toBe(true)
      for (let n = 0; n < steps.length; n++) expect(settlesQuestion(problem, steps.slice(0, n))).toBe(false)
    }
  })

  it('an Unknown proof must state every kind, in any order, and True or False must come last', () => {
    const unknown = problems.find(problem => problem.label === 'Unknown' && problem.hops! > 3)!
    const steps = unknown.proof!.map(parseSentence)
    expect(settlesQuestion(unknown, steps.toReversed())).toBe(true)
    expect(settlesQuestion(unknown, steps.toSpliced(2, 1))).toBe(false)
    const known = problems.find(problem => problem.label === 'True')!
    expect(settlesQuestion(known, [parseSentence(known.conclusion), ...known.premisesFol])).toBe(false)
  })

  it('counts steps that skip over others', () => {
    for (const problem of problems) {
      const steps = problem.proof!.map(parseSentence)
      expect(countSkippedSteps(problem, steps)).toBe(0)
      if (problem.hops! < 2) continue
      expect(countSkippedSteps(problem, steps.toSpliced(1, 2))).toBe(1)
      expect(countSkippedSteps(problem, steps.slice(-1))).toBe(1)
      expect(countSkippedSteps(problem, [parseSentence('Every rompus is a rompus.')])).toBe(1)
    }
  })

  it('the grader finds the steps and answer in a decoded response, and spans lead back to their tokens', () => {
    for (const problem of problems) {
      const tokens = encodeResponse(problem)
      const decoded = decodeLogicWithOffsets(tokens)
      const { steps, tagged } = extractReasoning(decoded.text)
      expect(tagged).toBe(true)
      expect(steps.map(step => parseSentence(step.text))).toEqual(problem.proof!.map(parseSentence))
      let end = 1
      for (const [i, step] of steps.entries()) {
        const span = tokenSpan(decoded, ...step.span)!
        expect(span.start).toBe(end)
        expect(tokens[span.start]).toBe(LOGIC_TOKENS.steps[i])
        end = span.end
      }
      expect(tokens[end]).toBe(LOGIC_TOKENS.reasoningClose)
      expect(extractLabel(decoded.text).label).toBe(problem.label)
    }
  })
})
