import { describe, expect, it } from 'vitest'
import { gradeLogicBatch } from '../../grade/logic/criteria.ts'
import { LogicSolver } from '../../grade/logic/solver.ts'
import { coldStartStream } from './coldstart.ts'
import { decodeTokens } from './format.ts'
import { generateLogicProblems } from './generator.ts'
import { lookingProof, proofSteps } from './looking.ts'

const numbered = (proof: readonly string[], answer: string): string =>
  [
    '<reasoning>',
    ...proof.map((step, i) => `${i + 1}. ${step}`),
    '</reasoning>',
    `<answer>${answer}</answer>`,
  ].join('\n')

describe('a proof that looks before it goes on', () => {
  it('says what a kind is before its parent, and nothing of the last kind but what settles', () => {
    const premises = [
      'Wumpuses are zumpuses.',
      'Every yumpus is a wumpus.',
      'Yumpuses are not dull.',
      'Each zumpus is hot.',
      'Every wumpus is not red.',
      'Every impus is blue.',
      'Rex is a yumpus.',
    ]
    const proof = [
      'Rex is a yumpus.',
      'Every yumpus is a wumpus.',
      'Rex is a wumpus.',
      'Wumpuses are zumpuses.',
      'Rex is a zumpus.',
      'Each zumpus is hot.',
      'Rex is hot.',
    ]
    const looking = lookingProof({ premises, proof })
    expect(looking).toEqual([
      'Rex is a yumpus.',
      'Yumpuses are not dull.',
      'Rex is not dull.',
      'Every yumpus is a wumpus.',
      'Rex is a wumpus.',
      'Every wumpus is not red.',
      'Rex is not red.',
      'Wumpuses are zumpuses.',
      'Rex is a zumpus.',
      'Each zumpus is hot.',
      'Rex is hot.',
    ])
    expect(looking).toHaveLength(proofSteps(3, 'looking'))
    expect(proof).toHaveLength(proofSteps(3, 'shortest'))
  })

  it('is correct and proved in every style, and never longer than said', async () => {
    const problems = (['real', 'shortcut-free'] as const).flatMap(style =>
      [1, 3, 5].flatMap(hops => generateLogicProblems(20, { style, hops }, 'looking')),
    )
    const proofs = problems.map(problem => lookingProof({ ...problem, proof: problem.proof! }))
    for (const [i, proof] of proofs.entries())
      expect(proof.length).toBeLessThanOrEqual(proofSteps((problems[i].proof!.length - 1) / 2, 'looking'))
    const solver = await LogicSolver.start({ backend: 'ground' })
    const items = problems.map((problem, i) => ({ problem, response: numbered(proofs[i], problem.label) }))
    const grades = await gradeLogicBatch(items, solver)
    expect(grades.every(({ correctAndProved }) => correctAndProved)).toBe(true)
    await solver.close()
  })

  it('is what a cold start shows where it is asked for, canonical wording included', () => {
    const options = {
      curriculum: {
        sources: [{ hops: 2, style: 'shortcut-free' as const }],
        keyframes: [{ at: 0, weights: [1] }],
      },
      seed: 3,
      wording: 'canonical' as const,
    }
    const text = (proofs: 'shortest' | 'looking') =>
      decodeTokens(coldStartStream({ ...options, proofs })(0, 0).responseTokens)
    const [short, long] = [text('shortest'), text('looking')].map(shown => shown.split('\n'))
    expect(long.length).toBeGreaterThan(short.length)
    const statements = (lines: string[]) => lines.map(line => line.replace(/^\d+\./, ''))
    expect(statements(long)).toEqual(expect.arrayContaining(statements(short)))
  })
})
