import { describe, expect, it } from 'vitest'
import { createTokenizer } from '../../model/tokenizer.ts'
import { shortHash } from '../../util/canonical.ts'
import { Rng } from '../../util/rng.ts'
import { rubricHabitsSchema } from '../thinking-grammar/rubricator.ts'
import { DEFAULT_ERRORS, demonstrate, demonstrateWell, drawHabits } from './demonstrations.ts'
import { answeredDigit, readResponse, reasonerPrompt, rubricatorPrompt } from './format.ts'
import { ARITHMETIC_GRAMMAR, evidenceOf, isMet } from './predicates.ts'
import { answerOf, arithmeticProblem } from './problem.ts'
import { arithmeticRubricator } from './rubricator.ts'
import {
  ARITHMETIC_PIECES,
  ARITHMETIC_TOKENS,
  ARITHMETIC_VOCABULARY,
  arithmeticTokenizer,
} from './vocabulary.ts'

const HABITS = rubricHabitsSchema.parse({})

const demonstrations = Array.from({ length: 300 }, (_, i) => {
  const problem = arithmeticProblem('format', i)
  const rng = new Rng(`format/${i}`)
  const { text, right } = demonstrate(problem, drawHabits(rng), DEFAULT_ERRORS, rng)
  return { problem, text, right, rng }
})

describe('arithmetic as tokens', () => {
  it('keeps every text as it is, without an unknown piece', () => {
    for (const { problem, text, right, rng } of demonstrations) {
      const tokens = ARITHMETIC_PIECES.encode(text)
      expect(tokens).not.toContain(ARITHMETIC_TOKENS.unk)
      expect(ARITHMETIC_PIECES.decode(tokens)).toBe(text)
      const response = readResponse([...tokens, ARITHMETIC_TOKENS.eos])
      expect(answeredDigit(response) === answerOf(problem)).toBe(right)
      const prompt = rubricatorPrompt(problem, response)
      // The rubricator reads the thinking in the very tokens in which it was written.
      const thinking = tokens.slice(0, -2)
      expect(prompt.slice(-1 - thinking.length, -1)).toEqual(thinking)
      const written = arithmeticRubricator.demonstrate(
        problem,
        evidenceOf(problem, response.thinking, null),
        HABITS,
        rng,
      )!
      expect(ARITHMETIC_PIECES.decode(ARITHMETIC_PIECES.encode(written.text))).toBe(written.text)
    }
  })

  it('has a vocabulary that checkpoints rely on', () => {
    expect(ARITHMETIC_VOCABULARY.length).toBe(301)
    expect(shortHash([...ARITHMETIC_VOCABULARY])).toBe('e3b235e0a35de100')
  })

  it('has a tokenizer file that splits as its pieces do', () => {
    const files = arithmeticTokenizer(256)
    const tokenizer = createTokenizer(
      JSON.parse(files['tokenizer.json']),
      JSON.parse(files['tokenizer_config.json']),
    )
    for (const { problem, text, rng } of demonstrations.slice(0, 50)) {
      const { text: rubric } = arithmeticRubricator.demonstrate(
        problem,
        evidenceOf(problem, '', null),
        HABITS,
        rng,
      )!
      for (const each of [text, rubric])
        expect(tokenizer.encode(each).filter(id => id !== ARITHMETIC_TOKENS.bos)).toEqual(
          ARITHMETIC_PIECES.encode(each),
        )
    }
  })

  it('says hints of the grammar in the prompt, and leaves others out', () => {
    const { problem } = demonstrations[0]
    const hints = [
      { id: 'a', text: 'Checks a step.', points: 2 },
      { id: 'b', text: 'repeats a step', points: -2 },
      { id: 'c', text: 'is nice', points: 1 },
    ]
    const text = ARITHMETIC_PIECES.decode(reasonerPrompt(problem, hints))
    expect(text).toContain('\ndo checks a step\navoid repeats a step\n<think>')
    expect(text).not.toContain('nice')
    expect(reasonerPrompt(problem, hints)).not.toContain(ARITHMETIC_TOKENS.unk)
  })

  it('has an answer only after thinking that ended', () => {
    expect(answeredDigit(readResponse(ARITHMETIC_PIECES.encode('\nanswer 3')))).toBeNull()
    expect(answeredDigit(readResponse(ARITHMETIC_PIECES.encode('\n</think>\nanswer 3')))).toBe(3)
    expect(answeredDigit(readResponse(ARITHMETIC_PIECES.encode('\n</think>\nanswer 3\nanswer 4')))).toBeNull()
  })
})

describe('scripted teachers', () => {
  it('try again until the answer is right, so often as they may', () => {
    const shares = [1, 4].map(tries => {
      const right = Array.from({ length: 400 }, (_, i) => {
        const rng = new Rng(`tries/${i}`)
        return demonstrateWell(
          arithmeticProblem('tries', i),
          own => drawHabits(own),
          DEFAULT_ERRORS,
          tries,
          rng,
        )
      })
      expect(right.every(({ tries: used }) => used <= tries)).toBe(true)
      return right.filter(each => each.right).length / 400
    })
    expect(shares[0]).toBeGreaterThan(0.35)
    expect(shares[0]).toBeLessThan(0.6)
    expect(shares[1]).toBeGreaterThan(shares[0] + 0.25)
  })

  it('write rubrics whose sums are right and under which the response is below the middle', () => {
    for (const { problem, text, rng } of demonstrations) {
      const response = readResponse(ARITHMETIC_PIECES.encode(text))
      const evidence = evidenceOf(problem, response.thinking, null)
      const { text: json } = arithmeticRubricator.demonstrate(problem, evidence, HABITS, rng)!
      const rubric = JSON.parse(json)
      const points: number[] = rubric.rubrics.map((item: { points: number }) => item.points)
      const sum = (values: number[]) => values.reduce((a, b) => a + b, 0)
      expect(points.length).toBeGreaterThanOrEqual(5)
      expect(points.length).toBeLessThanOrEqual(8)
      expect(rubric.maximum_score).toBe(sum(points.filter(p => p > 0)))
      expect(rubric.minimum_score).toBe(sum(points.filter(p => p < 0)))
      const met = rubric.rubrics.map((item: { criterion: string }) =>
        isMet(ARITHMETIC_GRAMMAR.read(item.criterion)!, evidence),
      )
      expect(rubric.current_score).toBe(sum(points.filter((_, i) => met[i])))
      expect(rubric.current_score).toBeLessThan((rubric.maximum_score + rubric.minimum_score) / 2)
      expect(new Set(rubric.rubrics.map((item: { criterion: string }) => item.criterion)).size).toBe(
        points.length,
      )
    }
  })
})
