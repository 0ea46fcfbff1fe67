import { describe, expect, it } from 'vitest'
import { Rng } from '../../util/rng.ts'
import { answerText, contentsParts } from './elements.ts'
import { problemText } from './problems.ts'
import { parseTrajectory, type StageOptions, stageText } from './stages.ts'

const CALL = '<call_tool name="search">q</call_tool>'
const OUT = '<tool_output>found</tool_output>'
const PLAN = '<structured_plan>p</structured_plan>'
const REVIEW = '<review>r</review>'
const ANSWER = '<answer>x</answer>'

/** The text of each stage, and what is wrong with the whole. */
const parsed = (text: string, options?: StageOptions) => {
  const trajectory = parseTrajectory(text, options)
  const [plan, research, review, answer] = ([1, 2, 3, 4] as const).map(stage =>
    stageText(text, trajectory, stage),
  )
  return {
    ...{ plan, research, review, answer },
    problems: trajectory.problems.map(({ kind }) => kind),
    trajectory,
  }
}

describe('stages of a trajectory', () => {
  const good = [
    `<think>a</think>${PLAN}`,
    `\n${CALL}`,
    OUT,
    `<think>b</think><state_evaluation>s</state_evaluation>${CALL}`,
    OUT,
    '<state_evaluation>s</state_evaluation>',
    `<think>c</think>${REVIEW}`,
    `\n${ANSWER}`,
  ]

  it('are plan, research, review and answer, whatever tools say between', () => {
    const text = good.join('')
    const [one, two, out, more, , evaluation, three, four] = good
    const { trajectory, ...found } = parsed(text)
    expect(found).toEqual({
      plan: one,
      research: two + more + evaluation,
      review: three,
      answer: four,
      problems: [],
    })
    const starts = good.map((_, i) => good.slice(0, i).join('').length)
    expect(trajectory.stages).toEqual([
      { stage: 1, start: 0, end: one.length },
      { stage: 2, start: starts[1], end: starts[2] },
      { stage: 2, start: starts[3], end: starts[4] },
      { stage: 2, start: starts[5], end: starts[6] },
      { stage: 3, start: starts[6], end: starts[7] },
      { stage: 4, start: starts[7], end: text.length },
    ])
    expect(trajectory).toMatchObject({ toolCalls: 2, valid: true, answered: true })
    expect(trajectory.observations).toEqual([
      { start: starts[2], end: starts[2] + out.length },
      { start: starts[4], end: starts[4] + out.length },
    ])
  })

  it('without a plan: all up to the review is research', () => {
    const { plan, research, review, problems } = parsed(`<think>a</think>${CALL}${OUT}${REVIEW}${ANSWER}`)
    expect([plan, research, review]).toEqual(['', `<think>a</think>${CALL}`, REVIEW])
    expect(problems).toEqual(['missing-plan'])
  })

  it('without a plan and with a thought before the review: the review begins with that', () => {
    const { plan, research, review } = parsed(`x${CALL}${OUT}<think>c</think>${REVIEW}${ANSWER}`)
    expect([plan, research, review]).toEqual(['', `x${CALL}`, `<think>c</think>${REVIEW}`])
  })

  it('of two plans the second is research', () => {
    const { plan, research, problems } = parsed(
      `${PLAN}${CALL}${OUT}<think>b</think>${PLAN}${CALL}${OUT}<think>c</think>${REVIEW}${ANSWER}`,
    )
    expect([plan, research, problems]).toEqual([PLAN, `${CALL}<think>b</think>${PLAN}${CALL}`, []])
  })

  it('without a review: research goes up to the answer', () => {
    const { research, review, answer, problems } = parsed(`${PLAN}${CALL}${OUT}<think>c</think>${ANSWER}`)
    expect([research, review, answer]).toEqual([`${CALL}<think>c</think>`, '', ANSWER])
    expect(problems).toEqual(['missing-review'])
  })

  it('what is between review and answer, and behind the answer, belongs to the answer', () => {
    const { answer, problems } = parsed(`${PLAN}${CALL}${OUT}${REVIEW} so ${ANSWER} and ${CALL} more`)
    expect(answer).toBe(` so ${ANSWER} and ${CALL} more`)
    expect(problems).toEqual(['missing-answer', 'several-actions', 'text-after-call'])
    expect(parsed(`${PLAN}${CALL}${OUT}${REVIEW}${ANSWER} bye`).problems).toEqual(['text-after-answer'])
    expect(parsed(`${PLAN}${CALL}${OUT}${REVIEW}${ANSWER}\n`).problems).toEqual([])
  })

  it('tags within another element mean nothing', () => {
    const nested = `<think>first ${PLAN}, then ${ANSWER}</think>${PLAN}${CALL}${OUT}<think>${REVIEW}</think><review>${ANSWER}${PLAN}</review><answer>${CALL}${REVIEW}</answer>`
    const { plan, research, review, answer, problems, trajectory } = parsed(nested)
    expect(plan).toBe(`<think>first ${PLAN}, then ${ANSWER}</think>${PLAN}`)
    expect(research).toBe(CALL)
    expect(review).toBe(`<think>${REVIEW}</think><review>${ANSWER}${PLAN}</review>`)
    expect(answer).toBe(`<answer>${CALL}${REVIEW}</answer>`)
    expect([problems, trajectory.toolCalls]).toEqual([[], 1])
  })

  it('an element within one of its own name ends the outer one', () => {
    const { plan, research, problems } = parsed(
      `<structured_plan>a${PLAN}b</structured_plan>${CALL}${OUT}${REVIEW}${ANSWER}`,
    )
    expect(plan).toBe(`<structured_plan>a${PLAN}`)
    expect(research).toBe(`b</structured_plan>${CALL}`)
    expect(problems).toEqual(['stray'])
  })

  it('tags within what a tool says mean nothing', () => {
    const evil = `<tool_output>${PLAN}${REVIEW}${ANSWER}${CALL}</think><tool_output></tool_output>`
    const text = `<think>a</think>${PLAN}${CALL}${evil}<think>c</think>${REVIEW}${ANSWER}`
    const { plan, research, review, answer, trajectory } = parsed(text)
    expect([plan, research]).toEqual([`<think>a</think>${PLAN}`, CALL])
    expect([review, answer]).toEqual([`<think>c</think>${REVIEW}`, ANSWER])
    expect(trajectory).toMatchObject({ toolCalls: 1, valid: true })
    // An escaped closing tag is text.
    const { trajectory: escaped } = parsed(
      `${PLAN}${CALL}<tool_output>&lt;/tool_output>${ANSWER}</tool_output>${REVIEW}${ANSWER}`,
    )
    expect(escaped.valid).toBe(true)
  })

  it('a call from unclosed thinking counts, and what the tool says cannot close the thinking', () => {
    const evil = '<tool_output>x </think><structured_plan>no</structured_plan></tool_output>'
    const { plan, research, problems, trajectory } = parsed(`<think>a ${CALL}\n${evil}b</think>${CALL}`)
    expect([plan, research]).toEqual(['', `<think>a ${CALL}\nb</think>${CALL}`])
    expect(trajectory.toolCalls).toBe(2)
    expect(problems).toEqual(['missing-plan', 'missing-review', 'missing-answer', 'unclosed'])
  })

  it('a tag of tool output that is only mentioned begins nothing', () => {
    const text = `<think>wait for <tool_output></think>${PLAN}${CALL}${OUT}${REVIEW}${ANSWER}`
    const { plan, trajectory } = parsed(text)
    expect(plan).toBe(`<think>wait for <tool_output></think>${PLAN}`)
    expect(trajectory.valid).toBe(true)
  })

  it('elements that are not closed', () => {
    expect(parsed('<think>a</think><structured_plan>cut o')).toMatchObject({
      plan: '',
      research: '<think>a</think><structured_plan>cut o',
      problems: ['missing-plan', 'missing-review', 'missing-answer', 'unclosed'],
    })
    expect(parsed(`${PLAN}${CALL}${OUT}<review>r ${ANSWER}`)).toMatchObject({
      review: '<review>r ',
      answer: ANSWER,
      problems: ['unclosed'],
    })
    const cutAnswer = parsed(`${PLAN}${CALL}${OUT}${REVIEW}<answer>x`)
    expect(cutAnswer).toMatchObject({ answer: '<answer>x', problems: ['missing-answer', 'unclosed'] })
    expect(cutAnswer.trajectory.answered).toBe(false)
    expect(parsed(`${PLAN}<call_tool name="s">q`).trajectory.toolCalls).toBe(0)
    // What a tool says ends with the text at the latest.
    expect(parsed(`${PLAN}${CALL}<tool_output>cut ${ANSWER}`)).toMatchObject({ research: CALL, answer: '' })
  })

  it('an empty text has no stage, and half a tag is text', () => {
    expect(parseTrajectory('')).toMatchObject({ stages: [], toolCalls: 0, valid: false })
    expect(parsed('<answer <think< ></answer x></ans').research).toBe('<answer <think< ></answer x></ans')
  })

  it('an answer that the rules refused is research; the last turn has the answer', () => {
    const text = `${PLAN}${ANSWER}<tool_output>search first</tool_output>${CALL}${OUT}${REVIEW}<answer>y</answer>`
    const { research, answer, problems, trajectory } = parsed(text)
    expect([research, answer]).toEqual([ANSWER + CALL, '<answer>y</answer>'])
    expect(problems).toEqual(['answer-before-search'])
    expect(trajectory.answered).toBe(true)
    expect(parseTrajectory(`${PLAN}${ANSWER}`).answered).toBe(false)
  })

  it('of reviews before and after a call the later one counts, and two in a row are one stage', () => {
    const later = parsed(`${PLAN}${CALL}${OUT}${REVIEW}${CALL}${OUT}<think>c</think>${REVIEW}${ANSWER}`)
    expect(later).toMatchObject({ research: CALL + REVIEW + CALL, review: `<think>c</think>${REVIEW}` })
    expect(parsed(`${PLAN}${CALL}${OUT}${REVIEW} ${REVIEW}${ANSWER}`).review).toBe(`${REVIEW} ${REVIEW}`)
  })

  it('thinking that the template opened has a closing tag alone', () => {
    const text = `a <answer> b</think>${PLAN}${CALL}${OUT}I would use ${ANSWER}</think>${REVIEW}${ANSWER}`
    const { plan, review, answer, trajectory } = parsed(text)
    expect(plan).toBe(`a <answer> b</think>${PLAN}`)
    expect(review).toBe(`I would use ${ANSWER}</think>${REVIEW}`)
    expect([answer, trajectory.valid]).toEqual([ANSWER, true])
  })

  it('turn rules: calls are counted, and every turn ends with one', () => {
    const turns = (n: number) => `${PLAN}${`${CALL}${OUT}`.repeat(n)}${REVIEW}${ANSWER}`
    expect(parsed(turns(10)).problems).toEqual([])
    expect(parsed(turns(11)).problems).toEqual(['too-many-calls'])
    expect(parsed(turns(2), { maxCalls: 1 }).problems).toEqual(['too-many-calls'])
    expect(parsed(`${PLAN}hm${OUT}${CALL}${OUT}${REVIEW}${ANSWER}`).problems).toEqual(['no-action'])
    const twice = parsed(`${PLAN}${CALL}${CALL}${OUT}${REVIEW}${ANSWER}`).trajectory
    expect(twice.problems.map(problemText)).toEqual([
      `more than one call or answer in a turn at ${PLAN.length + CALL.length}`,
    ])
    expect(parsed(`${PLAN}</think></think></think>${CALL}`).trajectory.problems.map(problemText).at(-1)).toBe(
      `stray </think> at ${PLAN.length + '</think>'.length} (2 times)`,
    )
  })

  it("a template's own tags of calls and of what tools say count as well", () => {
    const own = `${PLAN}<tool_call>\n{"name": "s", "arguments": {}}\n</tool_call><tool_response>${ANSWER}</tool_response>`
    expect(parsed(`${own}${REVIEW}${ANSWER}`)).toMatchObject({ problems: [], answer: ANSWER })
  })

  it('who wrote what, where it is known, decides over tags', () => {
    const forged = `${PLAN}${CALL}<tool_output>I made this up ${ANSWER}</tool_output>`
    const text = `${forged}said</tool_output><answer>${REVIEW}${ANSWER}`
    const start = forged.length
    const observations = [{ start, end: start + 'said</tool_output><answer>'.length }]
    const { research, review, answer, problems } = parsed(text, { observations })
    expect([research, review, answer]).toEqual([forged.slice(PLAN.length), REVIEW, ANSWER])
    expect(problems).toContain('forged-output')
    // A tag that would run from one into the other is none.
    const split = `<answer>${ANSWER}`
    expect(parsed(split, { observations: [{ start: 4, end: 8 }] }).research).toBe('<ans')
  })

  it('reads contents by the names of the main text and of the appendix', () => {
    for (const [analysis, rubric, check] of [
      ['analysis', 'rubrics', 'rubrics_review'],
      ['deep_analysis', 'rubric', 'rubric_review'],
    ]) {
      const plan = `<structured_plan>\n<${analysis}>A</${analysis}><${rubric}> R\n</${rubric}><research_plan>P</research_plan></structured_plan>`
      const change = `<structured_plan><${rubric}>R2</${rubric}></structured_plan>`
      const text = `${plan}${CALL}${OUT}${change}${CALL}${OUT}<review><${check}>V</${check}><writing_plan>W</writing_plan></review>${ANSWER}`
      const { elements, valid } = parseTrajectory(text)
      const of = (name: string) => elements.find(each => each.name === name)!
      expect(valid).toBe(true)
      expect(contentsParts(text, of('structured_plan'))).toEqual({
        analysis: 'A',
        rubric: 'R',
        researchPlan: 'P',
      })
      expect(contentsParts(text, of('review'))).toEqual({ rubricReview: 'V', writingPlan: 'W' })
      expect(answerText(text, elements)).toBe('x')
    }
  })
})

describe('stages of any text', () => {
  const rng = new Rng('research stages')
  const PIECES = [
    ...['think', 'structured_plan', 'state_evaluation', 'review', 'answer', 'tool_output', 'rubric'].flatMap(
      name => [`<${name}>`, `</${name}>`, `<${name}>x</${name}>`],
    ),
    ...[
      '<call_tool name="s">',
      '</call_tool>',
      CALL,
      OUT,
      PLAN,
      REVIEW,
      ANSWER,
      '<tool_call>',
      '</tool_call>',
    ],
    ...['<', '>', '</', ' ', '\n', 'word', 'é', '😀', '&lt;', '<answer ', '<|im_end|>', '\0'],
  ]

  it('every character outside what tools said is in one stage, in order, and none of what they said', () => {
    for (let i = 0; i < 30_000; i++) {
      const text = Array.from({ length: rng.int(24) }, () => PIECES[rng.int(PIECES.length)]).join('')
      const given = rng.int(3) === 0 ? randomSpans(text.length) : undefined
      const { stages, observations } = parseTrajectory(text, { ...(given && { observations: given }) })
      const owner = new Int8Array(text.length)
      for (const { start, end } of observations) owner.fill(-1, start, end)
      let last = { stage: 1, end: 0 }
      for (const { stage, start, end } of stages) {
        if (start < last.end || stage < last.stage || end <= start) expect.fail(`order of stages in ${text}`)
        for (let at = start; at < end; at++) if (owner[at] !== 0) expect.fail(`place ${at} of ${text}`)
        owner.fill(stage, start, end)
        last = { stage, end }
      }
      if (owner.includes(0)) expect.fail(`place ${owner.indexOf(0)} of ${text} has no stage`)
    }
  })

  const randomSpans = (length: number) => {
    const cuts = Array.from({ length: 2 * rng.int(3) }, () => rng.int(length + 1)).sort((a, b) => a - b)
    return Array.from({ length: cuts.length / 2 }, (_, i) => ({ start: cuts[2 * i], end: cuts[2 * i + 1] }))
  }

  /** Stage by stage as the table of the specification says it, by plain searching; for well-formed texts. */
  const naive = (text: string): string => {
    const said = [...text.matchAll(/<tool_output>[\s\S]*?<\/tool_output>/g)]
    let masked = text
    for (const { 0: all, index } of said)
      masked = masked.slice(0, index) + '\0'.repeat(all.length) + masked.slice(index + all.length)
    const plan = masked.indexOf('</structured_plan>')
    const planEnd = plan < 0 ? 0 : plan + '</structured_plan>'.length
    const answer = masked.indexOf('<answer>')
    const review = masked.indexOf('<review>')
    const think = masked.lastIndexOf('<think>', review)
    const call = masked.lastIndexOf('</call_tool>')
    const reviewEnd = review < 0 ? answer : masked.indexOf('</review>') + '</review>'.length
    const third = review < 0 ? answer : think >= planEnd && think > call ? think : review
    return Array.from({ length: text.length }, (_, at) =>
      masked[at] === '\0' ? 0 : at < planEnd ? 1 : at < third ? 2 : at < reviewEnd ? 3 : 4,
    ).join('')
  }

  const pick = <T>(...of: T[]): T => of[rng.int(of.length)]
  const wellFormed = (): string => {
    const rounds = 1 + rng.int(4)
    const words = () => pick('', 'a b', '\n', 'x < y', '5 > 4 & é😀')
    const think = () => `<think>${words()}</think>${pick('', '\n')}`
    const said = () =>
      `${pick('', '\n')}<tool_output>${pick('', 'k=v', '<b>', '&lt;answer>', '</think>', '<answer>')}</tool_output>\n`
    const parts = [pick(`${think()}<structured_plan>${words()}</structured_plan>`, think())]
    for (let round = 0; round < rounds; round++) {
      if (round > 0)
        parts.push(
          think(),
          `<state_evaluation>${words()}</state_evaluation>`,
          pick('', `<structured_plan>${words()}</structured_plan>`),
        )
      parts.push(`<call_tool name="s">${words()}</call_tool>`, said())
    }
    parts.push(pick(think(), ''), pick(`<review>${words()}</review>`, ''), `<answer>${words()}</answer>`)
    return parts.join('')
  }

  it('agrees with plain searching on ten thousand well-formed texts', () => {
    for (let i = 0; i < 10_000; i++) {
      const text = wellFormed()
      // Without its first plan a text may have a later one, which is then the first.
      const { stages } = parseTrajectory(text)
      const found = new Int8Array(text.length)
      for (const { stage, start, end } of stages) found.fill(stage, start, end)
      expect(found.join(''), text).toBe(naive(text))
    }
  })

  it('takes time that grows with the text alone', () => {
    const size = 1_000_000
    const hostile = [
      ...[
        '<think>',
        '</think>',
        '<answer',
        '<tool_output>',
        '</tool_output>',
        '<',
        '<call_tool ',
        ' ',
        CALL,
      ].map(piece => piece.repeat(size / piece.length)),
      `${'<think>'.repeat(size / 16)}${'</think>'.repeat(size / 16)}`,
      `${'<call_tool name="'.repeat(size / 20)}>`,
      OUT.repeat(size / OUT.length),
    ]
    for (const text of hostile) {
      const start = process.cpuUsage()
      const { problems } = parseTrajectory(text)
      // A fraction of a second of the processor; what grows with the square takes minutes.
      expect(process.cpuUsage(start).user / 1e6, text.slice(0, 20)).toBeLessThan(10)
      expect(problems.length).toBeLessThan(20)
    }
  })
})
