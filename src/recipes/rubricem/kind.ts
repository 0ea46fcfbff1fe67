/** @file Research by its name, to be measured: questions of a file, answered with tools as trainings of rubricem have it. */

import type { z } from 'zod'
import { DEFAULT_EVOLVING, modelStageJudge, STAGE_SCORER } from '../../grade/evolving/index.ts'
import type { Grader } from '../../grade/grader.ts'
import { needsJudge } from '../../grade/rubric-grader.ts'
import type { MetricGroup } from '../../runs/rows.ts'
import { kindOf } from '../../tasks/conversation/index.ts'
import {
  RACE_JUDGE,
  type ResearchQuestion,
  readReferenceArticles,
  readResearchQuestions,
  researchTaskSchema,
} from '../../tasks/research/index.ts'
import { openResearchTask } from '../../tasks/research/open.ts'
import { scored } from '../../tasks/scored-response.ts'
import type { Verdicts } from '../../tasks/task.ts'
import { UsageError } from '../../util/errors.ts'
import { contextLength } from '../common/starting-model.ts'
import type { TaskKind, TaskParts, TaskScores } from '../common/task-kind.ts'
import { attemptScores, BENCHMARK_SCORES, SCORE_NAMES, SET_SCORES } from './evaluation.ts'

const FILES = { file: true, testFile: true, tests: true, holdOut: true } as const
const settings = researchTaskSchema.omit({ kind: true, judgeAnswers: true, ...FILES })

interface Said extends Verdicts {
  truth: MetricGroup
}

const { referred: _, ...named } = SCORE_NAMES

const scores: TaskScores = Object.fromEntries(
  Object.entries({ ...BENCHMARK_SCORES, ...named, ...SET_SCORES }).map(([name, words]) => [
    name,
    { words, count: ({ said }) => ({ value: (said as Said | undefined)?.truth[name] ?? null }) },
  ]),
)

/** The judge of stages says what it makes of the answer. */
const isOpen = ({ answers, benchmark }: ResearchQuestion): boolean => answers.length === 0 && !benchmark

const LEVELS = [0, 1, 2] as const

/** Levels of verdicts, also of saved ones, which keep their credit alone. */
const withLevels = (grader: Grader): Grader => ({
  async grade(...asked) {
    const verdicts = await grader.grade(...asked)
    return verdicts.map(own => ({
      ...own,
      ...(own.credit !== undefined && { level: LEVELS[Math.round(2 * own.credit)] }),
    }))
  },
})

const open = async (
  { columns, ...own }: z.output<typeof settings>,
  { folder, files: [file], grader, tests, judged }: TaskParts,
) => {
  if (own.tools.length === 0)
    throw new UsageError('--set: tools: expected at least one tool, got none', {
      hint: "for example --set 'tools=[{kind: index, path: passages.index}]'",
    })
  const scorer = withLevels(grader)
  const judge = modelStageJudge<ResearchQuestion>(
    { scorer, generator: scorer, prompt: ({ question }) => [{ role: 'user', content: question }] },
    DEFAULT_EVOLVING,
  )
  const articles = readReferenceArticles(own.articles)
  const questions = readResearchQuestions(file, columns, articles).slice(0, tests)
  const judgeAnswers = judged && !questions.some(isOpen)
  const positions = contextLength(folder)
  const maxPromptTokens = Math.min(own.maxPromptTokens, positions - 1)
  const task = await openResearchTask({
    ...{ folder, judge, grader, articleGrader: grader, reflectionTokens: 0 },
    judgeReflection: async () => null,
    settings: { kind: 'research', file, testFile: null, holdOut: 0, ...own, maxPromptTokens, judgeAnswers },
    questions: { train: [], test: questions, notes: [] },
  })
  const { unseen } = task.tests
  const longest = Math.max(...unseen.map(question => task.prompt(question).length))
  const tokens = Math.min(own.maxTokens, positions - longest)
  return {
    ...{ ...task, tests: { [file]: unseen } },
    world: { ...task.world, limits: { ...task.world.limits, tokens } },
    async grade(items: Parameters<typeof task.grade>[0]) {
      const said = await scored(task).grade(items)
      return said.map((own, i) => {
        const { problem, rollout } = items[i]
        return { ...own, truth: attemptScores(task, { problem, rollout: rollout! }, own) }
      })
    },
  }
}

export const RESEARCH_KIND: TaskKind<z.output<typeof settings>, ResearchQuestion> = {
  settings,
  about:
    "Questions that are answered with tools, as trainings of rubricem have them; right is the right answer where one is known; of a benchmark's file the score is that of its rubric, else a judge scores the answer by the criteria of the question.",
  ...{ asked: 'turns', reads: true, maxTokens: 2048 },
  judge: questions => ({
    ...(questions.some(isOpen) && { calls: 'rubric', form: STAGE_SCORER }),
    // A file of that benchmark has no other questions.
    ...(questions.some(own => own.benchmark?.reference != null) && { calls: 'rubric', form: RACE_JUDGE }),
    needed: questions.some(own => (own.benchmark ? needsJudge(own.benchmark.rubric) : isOpen(own))),
  }),
  rate: own => {
    if (own.id === 'right' || own.id === 'judged') return null
    return own.category === undefined ? (own.title ?? own.id) : kindOf(own, new Set())
  },
  scores,
  primary: questions => {
    if (questions.some(({ answers }) => answers.length > 0)) return 'right'
    return questions.some(({ benchmark }) => benchmark) ? 'score' : 'opinion'
  },
  open,
}
