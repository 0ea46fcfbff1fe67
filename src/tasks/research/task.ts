/** @file Research on real text as a task: any chat model as agent and reflector, any tools, questions with answers or criteria. */

import { z } from 'zod'
import {
  DEFAULT_EVOLVING,
  judgeGroup,
  type ReflectionToJudge,
  type StageJudge,
  stagedRollout,
} from '../../grade/evolving/index.ts'
import { criterionOf } from '../../grade/evolving/scorer.ts'
import type { Grader } from '../../grade/grader.ts'
import {
  type ReflectionScores,
  type Retrieval,
  readReflection,
  referenceExamples,
} from '../../memory/index.ts'
import type { ChatFormat } from '../../model/chat-format.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { Rollout } from '../../rl/rollout.ts'
import type { Criterion, Rubric, Verdict } from '../../rubric/criterion.ts'
import { signedScore } from '../../rubric/index.ts'
import { mean } from '../../util/descriptive.ts'
import { ConfigError } from '../../util/errors.ts'
import { cutToRoom } from '../prompt-tokens.ts'
import type { AttemptMetrics, ReflectedLessons, Reflector, StagedRead, Stages } from '../stages.ts'
import type { Item, TaskWith, Verdicts } from '../task.ts'
import { type ChatAgentFormat, chatAgentFormat } from './agent-format.ts'
import { answerText } from './elements.ts'
import { mostTurns, ResearchWorld, rolloutStages } from './environment.ts'
import { type SaidKind, saidKind } from './outcome.ts'
import type { ProblemKind } from './problems.ts'
import type { ResearchQuestion } from './questions.ts'
import { articlesText, isOfReference, raceScore } from './race.ts'
import { reflectorMessages } from './reflector.ts'
import type { ResearchSettings } from './settings.ts'
import {
  judgedAnswer,
  judgedScores,
  NOT_ATTEMPTED,
  shortAnswerScores,
  withoutCitations,
} from './short-answer.ts'
import type { ToolBox } from './tool-box.ts'

type Judge = StageJudge<ResearchQuestion>
type Settings = Omit<ResearchSettings, 'tools' | 'file'>

export interface ResearchParts {
  format: ChatFormat
  tools: ToolBox
  settings: Settings
  /** Most tokens of a reflection. */
  reflectionTokens: number
  judge: Judge
  /** Grades answers by a benchmark's rubric, and short ones where `judgeAnswers` says so. */
  grader: Grader
  /** Grades answers beside reference articles (`RACE_JUDGE`). */
  articleGrader: Grader
  /** How useful a reflection is; null where that cannot be told. */
  judgeReflection(asked: ReflectionToJudge): Promise<ReflectionScores | null>
}

/**
 * Research without questions of its own (`openResearchTask` has them).
 * @throws DataError for a template that cannot write several turns, or lacks the form of calls that is asked for; ConfigError
 * where a reflector has no room
 */
export const researchTask = (parts: ResearchParts): TaskWith<ResearchQuestion, 'world' | 'stages'> => {
  const { format, tools, settings } = parts
  const { rules, callForm, scaffold, maxTokens, maxOutputTokens } = settings
  const agent = chatAgentFormat(format, {
    ...{ calls: callForm, maxTokens: maxOutputTokens },
    prompt: { tools: tools.tools, rules, scaffold },
  })
  const read = attemptReader(agent, settings)
  const { stopTokens, stopStrings } = agent.sampling
  return {
    ...{ train: [], tests: {}, label: 'research', stopTokens },
    id: ({ id }) => id,
    question: ({ question }) => question,
    fromQuestion: question => ({ id: question, question, answers: [], persistent: [] }),
    prompt: ({ question }) => agent.prompt(question),
    show: tokens => agent.read(tokens).text,
    rubric: question => rubricOf(question, settings),
    grade: items => Promise.all(items.map(item => gradeAnswer(item as Attempt, read, parts))),
    world: {
      environment: new ResearchWorld({ format: agent, tools, rules }),
      limits: { turns: mostTurns(rules), tokens: maxTokens },
      stopStrings,
      outcome: () => null,
    },
    stages: stagesOf(parts, agent, read),
    notes: [
      `calls are written as ${agent.form === 'xml' ? 'tags of our own' : "the model's template has them"}`,
    ],
  }
}

interface ReadAttempt extends StagedRead {
  answer: string | null
  calls: number
  said: SaidKind[]
}
type Read = (rollout: Rollout) => ReadAttempt

/** What a run without the scaffold does not ask for. */
const SCAFFOLD_PROBLEMS: ReadonlySet<ProblemKind> = new Set(['missing-plan', 'missing-review'])

/** A rollout is read several times, for its judge, its credit, its row: once here. */
const attemptReader = (agent: ChatAgentFormat, { rules, scaffold }: Settings): Read => {
  const known = new WeakMap<Int32Array, ReadAttempt>()
  const read: Read = rollout => {
    const found = rolloutStages(rollout, agent, rules)
    const { text, stages, observations, elements, problems, answered, toolCalls, tokenStages } = found
    return {
      ...{ tokenStages, calls: toolCalls },
      staged: stagedRollout(rollout.key, text, stages),
      wellFormed: problems.every(({ kind }) => !scaffold && SCAFFOLD_PROBLEMS.has(kind)),
      answer: answered ? answerText(text, elements) : null,
      said: observations.map(({ start, end }) => saidKind(text.slice(start, end))),
    }
  }
  return rollout => {
    const attempt = known.get(rollout.tokens) ?? read(rollout)
    known.set(rollout.tokens, attempt)
    return attempt
  }
}

type Attempt = Item<ResearchQuestion> & { rollout: Rollout }

const RIGHT: Criterion = { id: 'right', text: 'The answer is right', points: 1 }

/** A benchmark's own; else the right answer where one is known, else what was given with the question. */
const rubricOf = (
  { answers, persistent, benchmark }: ResearchQuestion,
  { judgeAnswers = false }: Settings,
): Rubric => {
  if (benchmark) return benchmark.rubric
  if (answers.length === 0) return { criteria: persistent.map(criterionOf) }
  return { criteria: judgeAnswers ? [RIGHT, judgedAnswer(answers)] : [RIGHT] }
}

/** By the rubric of a benchmark, right or not, or what the judge makes of the answer by what was given with the question. */
const gradeAnswer = async (attempt: Attempt, read: Read, parts: ResearchParts): Promise<Verdicts> => {
  const { answers, persistent, benchmark } = attempt.problem
  const { answer, wellFormed } = read(attempt.rollout)
  if (benchmark || answers.length > 0)
    return { ...(await gradeByRubric(attempt.problem, answer, parts)), wellFormed }
  if (persistent.length === 0) return { verdicts: [], wellFormed, score: null }
  return { ...(await opinionOf(attempt, read, parts.judge)), wellFormed }
}

/** Without an answer nobody is asked. */
const gradeByRubric = async (
  problem: ResearchQuestion,
  response: string | null,
  { grader, articleGrader, settings }: ResearchParts,
): Promise<Omit<Verdicts, 'wellFormed'>> => {
  const { id, question, answers, members, benchmark } = problem
  const rubric = rubricOf(problem, settings)
  const { prompt = [{ role: 'user' as const, content: question }] } = benchmark ?? {}
  const asked = (criteria: readonly Criterion[]): Verdict[] | Promise<Verdict[]> => {
    if (response !== null && criteria.length > 0) return grader.grade({ id, prompt, response }, criteria)
    return criteria.map(own => ({ criterionId: own.id, met: false, source: 'rule' }))
  }
  if (benchmark?.reference != null) {
    const { reference } = benchmark
    const own = rubric.criteria.filter(each => !isOfReference(each))
    if (response === null) return { verdicts: await asked(own), score: 0, scores: { score: 0 } }
    const articles = articlesText(withoutCitations(response), reference)
    const verdicts = await articleGrader.grade({ id, prompt, response: articles }, rubric.criteria)
    const score = raceScore(rubric, verdicts)
    return { verdicts, score, scores: { score } }
  }
  if (benchmark) {
    const verdicts = await asked(rubric.criteria)
    return { verdicts, scores: { score: signedScore(rubric, verdicts).score } }
  }
  const { right } = shortAnswerScores(response, answers, members)
  const own: Verdict = { criterionId: 'right', met: right === 1, source: 'rule' }
  if (!settings.judgeAnswers) return { verdicts: [own] }
  const [judged] = response === null ? [NOT_ATTEMPTED] : await asked(rubric.criteria.slice(1))
  return { verdicts: [own, judged], score: right, scores: { right, ...judgedScores(judged) } }
}

const opinionOf = async (
  { problem, rollout }: Attempt,
  read: Read,
  judge: Judge,
): Promise<Omit<Verdicts, 'wellFormed'>> => {
  const { id, persistent } = problem
  const group = { step: 0, question: problem, key: id, rollouts: [read(rollout).staged], persistent }
  const judged = await judgeGroup(judge, group, { ...DEFAULT_EVOLVING, generate: false })
  const [{ scores, rewards_K }] = judged.rollouts
  const verdicts = persistent.map(({ id: criterionId }): Verdict => {
    const { level = null, justification: explanation } = scores[criterionId] ?? {}
    if (level === null) return { criterionId, met: null, explanation, source: 'llm' }
    return { criterionId, met: level === 2, credit: level / 2, explanation, source: 'llm' }
  })
  return { verdicts, score: rewards_K[3] }
}

const stagesOf = (parts: ResearchParts, agent: ChatAgentFormat, read: Read): Stages<ResearchQuestion> => ({
  read,
  persistent: ({ persistent }) => persistent,
  judge: parts.judge,
  reflector: researchReflector(parts, read),
  reminded: ({ question }, found) => reminded(agent, parts.settings, question, found),
  show: lessonsText,
  takeaways: z.array(z.string()),
  /** `f1`, and of a set its scores, only where a right answer is known; `effort`: calls, of those allowed. */
  truth({ answers, members }, rollout) {
    const { answer, wellFormed, calls } = read(rollout)
    const { right: _, ...shared } = shortAnswerScores(answer, answers, members)
    return {
      ...(answers.length > 0 && shared),
      answered: Number(answer !== null),
      wellFormed: Number(wellFormed),
      effort: Math.min(1, calls / parts.settings.rules.maxCalls),
    }
  },
  metrics: rollouts => attemptMetrics(rollouts.map(read)),
})

/** Lessons are lines of text. */
const lessonsText = ({ rubrics, takeaways }: ReflectedLessons): string =>
  [rubrics, ...(takeaways as string[]).map(lesson => `- ${lesson}`)].join('\n')

/** Shares of `referenceCharacters` that lessons are cut to until they fit. */
const CUTS = [1, 0.5, 0.25, 0.1]

/** Lessons that leave the question no room are cut, and left out in the end. */
const reminded = (agent: ChatAgentFormat, most: Settings, question: string, found: Retrieval): TokenIds => {
  for (const share of found.items.length === 0 ? [] : CUTS) {
    const maxCharacters = Math.round(share * most.referenceCharacters)
    const prompt = agent.prompt(question, referenceExamples(found, { maxCharacters }))
    if (prompt.length <= most.maxPromptTokens) return prompt
  }
  return agent.prompt(question)
}

const researchReflector = (
  { format, settings, reflectionTokens, judgeReflection }: ResearchParts,
  read: Read,
): Reflector<ResearchQuestion> => {
  const room = Math.min(settings.maxReflectorTokens, format.maxPositions - reflectionTokens)
  const least = format.encode(reflectorMessages('', { key: '', stages: ['', '', '', ''] })).length
  if (room < 2 * least)
    throw new ConfigError(
      `task.maxReflectorTokens: expected at least ${2 * least}, twice what a reflector's instructions take, got ${room} in a context of ${format.maxPositions}`,
      { hint: 'raise it, or lower reflection.maxTokens' },
    )
  return {
    prompt({ question }, attempt) {
      const { staged } = read(attempt)
      const longest = Math.max(...(staged.parts ?? []).map(({ text }) => text.length))
      const encode = (most: number | null) => format.encode(reflectorMessages(question, staged, most))
      // Of a long attempt, the middle of each part is left out, as much as need be.
      const found = cutToRoom(encode, { room, least: LEAST_CHARACTERS, most: longest, tries: MOST_TRIES })
      if (found.length <= room) return found
      // Even excerpts are too long, as of attempts with a great many parts: never more than there is room for.
      return [...found.slice(0, Math.max(0, room - KEPT_TOKENS)), ...found.slice(-KEPT_TOKENS)]
    },
    stopTokens: format.stopTokens,
    read(_, tokens) {
      const found = readReflection(format.answer(tokens))
      return found.valid ? { rubrics: found.rubrics, takeaways: found.takeaways } : null
    },
    judge: items =>
      Promise.all(
        items.map(({ problem: { question }, attempt, judged, lessons }) => {
          const { rubrics = [], rollout = null } = judged ?? {}
          const prompt = [{ role: 'user' as const, content: question }]
          const staged = rollout?.rollout ?? read(attempt).staged
          const reflection = lessonsText(lessons)
          return judgeReflection({ prompt, rollout: staged, rubrics, judged: rollout, reflection })
        }),
      ),
  }
}

/** How often it is tried how much of a long attempt a reflector's prompt has room for. */
const MOST_TRIES = 8
const LEAST_CHARACTERS = 100

/** Tokens at the end of a prompt that are never left out: there the reflector's turn begins. */
const KEPT_TOKENS = 64

/** How calls went: by rollout, by what came of them. */
const attemptMetrics = (attempts: readonly ReadAttempt[]): AttemptMetrics => {
  if (attempts.length === 0) return {}
  const said = attempts.flatMap(own => own.said)
  const of = (kind: SaidKind) => said.filter(own => own === kind).length
  return {
    toolCalls: mean(attempts.map(({ calls }) => calls)),
    answeredShare: mean(attempts.map(({ answer }) => Number(answer !== null))),
    wellFormedShare: mean(attempts.map(({ wellFormed }) => Number(wellFormed))),
    toolTrouble: {
      failures: of('failed'),
      timeouts: of('timeout'),
      badArguments: of('bad-arguments'),
      unknownTools: of('unknown-tool'),
      unreadable: of('unreadable'),
      reminders: of('reminder'),
    },
  }
}
