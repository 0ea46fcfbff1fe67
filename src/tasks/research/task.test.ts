import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { persistentRubrics, type StageJudge } from '../../grade/evolving/index.ts'
import type { GradeItem, Grader } from '../../grade/grader.ts'
import { questionHash, type Retrieval } from '../../memory/index.ts'
import { chatFormatOf } from '../../model/chat-format.ts'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import type { Rollout } from '../../rl/rollout.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import type { Tool } from '../../tools/index.ts'
import type { ResearchQuestion } from './questions.ts'
import { ofBothArticles } from './race.ts'
import { researchTaskSchema } from './settings.ts'
import { researchTask } from './task.ts'
import { ToolBox } from './tool-box.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-research-chat-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const format = chatFormatOf(writeTinyChat(join(folder, 'model'), 40_000), 'a test')

const search: Tool = {
  name: 'search',
  description: 'Finds.',
  parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
  call: async () => ({ text: 'yes' }),
}

/** Finds everything there to the half, and cannot tell where it is asked to sing. */
const judge: StageJudge<ResearchQuestion> = {
  propose: async () => ({ drafts: null, problem: 'expected not to be asked' }),
  score: async ({ rubrics }) => ({
    scores: Object.fromEntries(
      rubrics.map(({ id, title }) => [id, { level: title === 'sings' ? null : 1, justification: 'so' }]),
    ),
  }),
}

/** Says of each criterion what its text says it is to say, and cannot where that is nothing. */
const grader: Grader & { asked: [GradeItem, Criterion][] } = {
  asked: [],
  grade: async (item, criteria) =>
    criteria.map(own => {
      grader.asked.push([item, own])
      const said = /says (yes|no|\d(?:\.\d+)?)\b/.exec(own.text)?.[1]
      const verdict = { criterionId: own.id, source: 'llm' as const }
      if (said === undefined) return { ...verdict, met: null }
      if (own.levels) return { ...verdict, met: Number(said) > 0.5, credit: Number(said) }
      return { ...verdict, met: said === 'yes' }
    }),
}

/** Says of each criterion what its text says of the article that it is asked about: `answer .8, reference .6`. */
const articleGrader: Grader & { responses: string[] } = {
  responses: [],
  grade: async ({ response }, criteria) => {
    articleGrader.responses.push(response)
    return criteria.map(({ id, text }) => {
      const of = id.endsWith(' (reference)') ? 'reference' : 'answer'
      const said = new RegExp(`${of} (\\S+?)(?:,|$)`).exec(text)?.[1]
      const verdict = { criterionId: id, source: 'llm' as const }
      if (said === undefined) return { ...verdict, met: null }
      return { ...verdict, met: Number(said) > 0.5, credit: Number(said) }
    })
  },
}

const taskOf = (changes: object = {}, reflectionTokens = 1000) => {
  const settings = researchTaskSchema.parse({ kind: 'research', maxPromptTokens: 14_000, ...changes })
  const tools = new ToolBox([search])
  const judges = { judge, grader, articleGrader, judgeReflection: async () => null }
  return researchTask({ format, tools, settings, reflectionTokens, ...judges })
}

const QUESTION = { id: 'q', question: 'Why?', answers: ['cape 3'], persistent: [] }

/** Pieces in turn: the agent's, what was said to it, the agent's, ... */
const rolloutOf = (...pieces: string[]): Rollout => {
  const tokens = pieces.map(piece => format.tokens(piece))
  const mask = tokens.flatMap((own, i) => own.map(() => (i + 1) % 2))
  return {
    ...{ key: 'k', role: 'agent', group: 'g', sample: 0, prompt: [], turns: [], end: 'over' },
    tokens: Int32Array.from(tokens.flat()),
    mask: Uint8Array.from(mask),
    logprobs: new Float32Array(mask.length),
  }
}

const PLAN = '<think>a</think><structured_plan>p</structured_plan><call_tool name="search">q</call_tool>'
const REVIEW = '<think>c</think><review>r</review>'
const said = (text: string) => `\n<tool_output>\n${text}\n</tool_output>\n`
const whole = rolloutOf(PLAN, said('yes'), `${REVIEW}<answer>\\boxed{Cape 3}</answer>`)

const lessons = (takeaways: string, how: 'within' | 'cross' = 'within'): Retrieval => ({
  question: 'Why?',
  items: [
    {
      item: {
        qHash: questionHash('Why?'),
        question: 'Why?',
        rubrics: 'r',
        takeaways: [takeaways],
        u: 1,
        step: 1,
      },
      how,
      score: 1,
    },
  ],
  fellBack: false,
})

const shownOf = (tokens: ArrayLike<number>) => format.show(Array.from(tokens))

describe('a prompt with lessons', () => {
  it('has them before the question, with the preamble of where they are from', () => {
    const task = taskOf()
    const within = shownOf(task.stages.reminded(QUESTION, lessons('Box it.')))
    expect(within).toMatch(
      /this very question[\s\S]*- Box it\.[\s\S]*<\/reference_examples>\n\nWhy\?<\|im_end\|>/,
    )
    expect(shownOf(task.stages.reminded(QUESTION, lessons('Box it.', 'cross')))).toContain(
      'another one, so copy neither',
    )
    const plain = task.prompt(QUESTION)
    expect(shownOf(plain)).not.toContain('reference_examples')
    expect(task.stages.reminded(QUESTION, { question: 'Why?', items: [], fellBack: true })).toEqual(plain)
  })

  it('is cut where it would be too long, and without them where nothing helps', () => {
    const plain = taskOf().prompt(QUESTION).length
    const long = lessons(`${'lesson '.repeat(500)}end`)
    const most = plain + 3000
    const cut = taskOf({ maxPromptTokens: most }).stages.reminded(QUESTION, long)
    expect(cut.length).toBeLessThanOrEqual(most)
    expect(shownOf(cut)).toMatch(/lesson[\s\S]*\[\.\.\.\][\s\S]*\n\nWhy\?/)
    expect(taskOf({ maxPromptTokens: plain + 100 }).stages.reminded(QUESTION, long)).toHaveLength(plain)
  })
})

describe('an attempt', () => {
  it('is read by stages, once', () => {
    const task = taskOf()
    const read = task.stages.read(whole)
    expect(read.staged.stages).toEqual([
      '<think>a</think><structured_plan>p</structured_plan>',
      '<call_tool name="search">q</call_tool>',
      REVIEW,
      '<answer>\\boxed{Cape 3}</answer>',
    ])
    expect(read.wellFormed).toBe(true)
    expect(Array.from(read.tokenStages, stage => Number(stage > 0))).toEqual(Array.from(whole.mask))
    expect(task.stages.read(whole)).toBe(read)
  })

  it('is right or not where that is known', () => {
    const task = taskOf()
    expect(task.stages.truth(QUESTION, whole)).toEqual({ f1: 1, answered: 1, wellFormed: 1, effort: 0.1 })
    const set = { ...QUESTION, answers: ['cape 3, cape 4'], members: ['cape 3', 'cape 4'] }
    // Of two capes one is listed, and nothing else: P 1, R 1/2, F1 2/3.
    expect(task.stages.truth(set, whole)).toMatchObject({ setPrecision: 1, setRecall: 0.5, setF1: 2 / 3 })
    const open = { ...QUESTION, answers: [] }
    expect(Object.keys(task.stages.truth(open, whole))).toEqual(['answered', 'wellFormed', 'effort'])
    const early = rolloutOf('<answer>\\boxed{cape 3}</answer>')
    expect(task.stages.truth(QUESTION, early)).toEqual({ f1: 0, answered: 0, wellFormed: 0, effort: 0 })
    expect(task.stages.truth(QUESTION, rolloutOf(''))).toMatchObject({ answered: 0 })
  })

  it('is graded by the right answer, and by the judge where none is known', async () => {
    const task = taskOf()
    const gradeOf = async (problem: ResearchQuestion, rollout: Rollout) => {
      const { criteria } = task.rubric(problem)
      const [graded] = await task.grade([{ problem, tokens: rollout.tokens, rollout, criteria }])
      return { ...graded, verdicts: graded.verdicts.map(({ met, credit }) => [met, credit]) }
    }
    expect(await gradeOf(QUESTION, whole)).toEqual({ verdicts: [[true, undefined]], wellFormed: true })
    const early = rolloutOf('<answer>\\boxed{cape 3}</answer>')
    expect(await gradeOf(QUESTION, early)).toEqual({ verdicts: [[false, undefined]], wellFormed: false })
    const given = (...titles: string[]) => ({
      ...{ ...QUESTION, answers: [] },
      persistent: persistentRubrics(
        titles.map((title, i) => ({ id: title, title, text: title, points: i - 2 || 1 })),
      ),
    })
    // A merit or a flaw, half of it is there; what the judge cannot tell is left out.
    const { verdicts, score } = await gradeOf(given('guesses', 'sings', 'cites'), whole)
    expect(verdicts).toEqual([
      [false, 0.5],
      [null, undefined],
      [false, 0.5],
    ])
    expect(score).toBe(0.5)
    expect((await gradeOf(given('sings'), whole)).score).toBeNull()
    expect(await gradeOf(given(), whole)).toEqual({ verdicts: [], wellFormed: true, score: null })
  })

  const scoresOf = async (problem: ResearchQuestion, rollout: Rollout, settings: object = {}) => {
    const task = taskOf(settings)
    grader.asked.length = 0
    const { criteria } = task.rubric(problem)
    const [{ verdicts, scores }] = await task.grade([{ problem, tokens: rollout.tokens, rollout, criteria }])
    return { scores, verdicts, criteria }
  }
  const silent = rolloutOf(PLAN, said('yes'), REVIEW)

  it("is graded by a benchmark's rubric where it has one, and by nobody where there is no answer", async () => {
    const prompt = [
      { role: 'user' as const, content: 'Hm' },
      { role: 'assistant' as const, content: 'Yes?' },
      { role: 'user' as const, content: 'Why?' },
    ]
    const rubric = {
      criteria: [
        { id: 'c0', text: 'says yes', points: 4 },
        { id: 'c1', text: 'says yes', points: -6 },
        { id: 'c2', text: 'says no', points: 4 },
        { id: 'c3', text: 'says nothing', points: 90 },
        { id: 'c4', text: 'says 0.75', points: 2, levels: [{ low: 1, high: 5, text: 'x' }] },
      ],
    }
    const question = { ...QUESTION, answers: [], benchmark: { prompt, rubric } }
    // (4 - 6 + 1.5) / (4 + 4 + 2): below 0, and not clipped; what the judge cannot tell is left out.
    expect(await scoresOf(question, whole)).toMatchObject({ scores: { score: -0.05 } })
    expect(grader.asked[0][0]).toEqual({ id: 'q', prompt, response: '\\boxed{Cape 3}' })
    expect(await scoresOf(question, silent)).toMatchObject({ scores: { score: 0 } })
    expect(grader.asked).toEqual([])
  })

  it("is judged beside a reference article where it has one: RACE's share", async () => {
    const criteria = (text: string, other: string) =>
      ofBothArticles([
        { id: 'insight.0', text, points: 0.6, category: 'insight' },
        { id: 'depth.0', text: other, points: 0.4, category: 'depth' },
      ])
    const drb = (...texts: [string, string]) => ({
      ...{ ...QUESTION, answers: [] },
      benchmark: { prompt: [], rubric: { criteria: criteria(...texts) }, reference: 'The article.' },
    })
    const question = drb('answer 0.8, reference 0.6', 'answer 0.5, reference 1')
    const cited = rolloutOf(PLAN, said('yes'), `${REVIEW}<answer>So <cite id="a">it is</cite>.</answer>`)
    const { scores, verdicts } = await scoresOf(question, cited)
    // Answer .6 x .8 + .4 x .5 = .68, reference .6 x .6 + .4 x 1 = .76: .68 / 1.44.
    expect(scores).toEqual({ score: expect.closeTo(0.68 / 1.44, 12) })
    expect([verdicts.length, articleGrader.responses.at(-1)]).toEqual([4, '["So it is.","The article."]'])
    expect((await scoresOf(drb('answer 0, reference 0', 'answer 0, reference 0'), cited)).scores).toEqual({
      score: 0,
    })
    expect((await scoresOf(drb('answer 1, reference 1', 'answer 1'), cited)).scores).toEqual({ score: null })
    // Nobody is asked about no answer, and of the article nothing is known.
    const before = articleGrader.responses.length
    const none = await scoresOf(question, silent)
    expect([none.scores, none.verdicts.length, articleGrader.responses.length]).toEqual([
      { score: 0 },
      2,
      before,
    ])
  })

  it('that is short has the three grades of SimpleQA beside exact match, where a judge is asked', async () => {
    const judged = (gold: string, rollout = whole) =>
      scoresOf({ ...QUESTION, answers: [gold] }, rollout, { judgeAnswers: true }).then(own => own.scores)
    expect(await judged('cape 3 (it says 1)')).toEqual({ right: 0, correct: 1, attempted: 1 })
    expect(await judged('it says 0')).toEqual({ right: 0, correct: 0, attempted: 1 })
    expect(await judged('it says 0.5')).toEqual({ right: 0, correct: 0, attempted: 0 })
    expect(await judged('cape 3')).toEqual({ right: 1, correct: null, attempted: null })
    expect(await judged('it says 1', silent)).toEqual({ right: 0, correct: 0, attempted: 0 })
    expect(grader.asked).toEqual([])
    expect((await scoresOf(QUESTION, whole)).verdicts).toHaveLength(1)
  })

  it('needs no plan and no review without the scaffold', () => {
    const bare = rolloutOf(
      '<think>a</think><call_tool name="search">q</call_tool>',
      said('yes'),
      '<answer>x</answer>',
    )
    expect(taskOf().stages.read(bare).wellFormed).toBe(false)
    const task = taskOf({ scaffold: false })
    expect(task.stages.read(bare).wellFormed).toBe(true)
    expect(shownOf(task.prompt(QUESTION))).not.toContain('structured_plan')
  })

  it('is counted by what came of its calls', () => {
    const late =
      '\n<tool_output error="timeout">\nError: search did not answer within 1 seconds.\n</tool_output>\n'
    const rude = rolloutOf(PLAN, late, 'hm', said('Not accepted: no'), `${REVIEW}<answer>x</answer>`)
    expect(taskOf().stages.metrics!([whole, rude])).toMatchObject({
      toolCalls: 1,
      answeredShare: 1,
      wellFormedShare: 0.5,
      toolTrouble: {
        failures: 0,
        timeouts: 1,
        badArguments: 0,
        unknownTools: 0,
        unreadable: 0,
        reminders: 1,
      },
    })
    expect(taskOf().stages.metrics!([])).toEqual({})
  })
})

describe('a reflector', () => {
  it('sees the question and the attempt, and where that is too long the ends of its parts', () => {
    const task = taskOf()
    expect(shownOf(task.stages.reflector.prompt(QUESTION, whole))).toMatch(/yes[\s\S]*boxed\{Cape 3\}/)
    const long = rolloutOf(PLAN, said('word '.repeat(4000)), `${REVIEW}<answer>x</answer>`)
    const all = taskOf({ maxReflectorTokens: 40_000 }).stages.reflector.prompt(QUESTION, long).length
    const cut = taskOf({ maxReflectorTokens: 9000 }).stages.reflector.prompt(QUESTION, long)
    expect(all).toBeGreaterThan(20_000)
    expect(cut.length).toBeLessThanOrEqual(9000)
    expect(cut.length).toBeGreaterThan(8500)
    expect(shownOf(cut)).toMatch(/characters are left out here[\s\S]*Now write the two blocks\.<\|im_end\|>/)
  })

  it('never has more than there is room for, whatever an attempt is made of', () => {
    const parts = Array.from({ length: 400 }, (_, i) => (i % 2 === 0 ? 'hm' : said('no')))
    const cut = taskOf({ maxReflectorTokens: 9000 }).stages.reflector.prompt(QUESTION, rolloutOf(...parts))
    expect(cut).toHaveLength(9000)
    expect(shownOf(cut)).toMatch(/<\|im_start\|>assistant\n$/)
    expect(() => taskOf({ maxReflectorTokens: 3000 })).toThrow(/task\.maxReflectorTokens: expected at least/)
    // What it writes needs room as well.
    expect(() => taskOf({}, 38_000)).toThrow(/got 2000 in a context of 40000/)
  })

  const BLOCKS =
    '<reflection_rubrics>\nPitfalls: none\n</reflection_rubrics>\n<reflection_takeaways>\n- one\n- two\n</reflection_takeaways>'

  it('is read with its thinking left out, or not at all', () => {
    const task = taskOf()
    const read = (text: string) => task.stages.reflector.read(QUESTION, format.tokens(text))
    const lesson = { rubrics: 'Pitfalls: none', takeaways: ['one', 'two'] }
    expect(read(`${BLOCKS}<|im_end|>`)).toEqual(lesson)
    expect(read(`<think>hm</think>\n${BLOCKS}`)).toEqual(lesson)
    expect(task.stages.show(lesson)).toBe('Pitfalls: none\n- one\n- two')
    for (const broken of ['So:\n', '<think>']) expect(read(`${broken}${BLOCKS}`)).toBeNull()
    expect(read(BLOCKS.replace('</reflection_takeaways>', ''))).toBeNull()
  })
})
