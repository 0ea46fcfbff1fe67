/** @file Research on real text as RubricEM trains on it: any chat model as agent and reflector, any tools, questions of files. */

import { z } from 'zod'
import { stagedRollout } from '../../grade/evolving/index.ts'
import { type Retrieval, readReflection, referenceExamples } from '../../memory/index.ts'
import type { ChatFormat } from '../../model/chat-format.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { TurnLimits } from '../../rl/environment.ts'
import type { Rollout } from '../../rl/rollout.ts'
import type { MetricsRow } from '../../runs/rows.ts'
import {
  answerText,
  type ChatAgentFormat,
  chatAgentFormat,
  mostTurns,
  type ProblemKind,
  type ResearchQuestion,
  ResearchWorld,
  reflectorMessages,
  rolloutStages,
  type SaidKind,
  saidKind,
  shortAnswerScores,
  type ToolBox,
} from '../../tasks/research/index.ts'
import { mean } from '../../util/descriptive.ts'
import { ConfigError } from '../../util/errors.ts'
import type { ResearchTaskConfig } from './config.ts'
import type { Lessons, ResearchTask, StagedRead } from './research-task.ts'

/** Lessons are lines of text. */
export type ChatTakeaways = string[]

interface ReadRollout extends StagedRead {
  text: string
  answer: string | null
  calls: number
  said: SaidKind[]
}

/** What a run without the scaffold does not ask for. */
const SCAFFOLD_PROBLEMS: ReadonlySet<ProblemKind> = new Set(['missing-plan', 'missing-review'])

/** Shares of `maxCharacters` that references are cut to until they fit. */
const CUTS = [1, 0.5, 0.25, 0.1]

/** How often it is tried how much of a long attempt a reflector's prompt has room for. */
const MOST_TRIES = 8
const LEAST_CHARACTERS = 100

/** Tokens at the end of a prompt that are never left out: there the reflector's turn begins. */
const KEPT_TOKENS = 64

/** Where even excerpts are too long, as of attempts with a great many parts: never more than there is room for. */
const withoutMiddle = (tokens: number[], most: number): number[] =>
  tokens.length <= most
    ? tokens
    : [...tokens.slice(0, Math.max(0, most - KEPT_TOKENS)), ...tokens.slice(-KEPT_TOKENS)]

export interface ResearchChatOptions {
  format: ChatFormat
  tools: ToolBox
  task: Omit<ResearchTaskConfig, 'tools' | 'file'>
  /** Most tokens of a reflection. */
  reflectionTokens: number
}

export class ResearchChatTask implements ResearchTask<ResearchQuestion, ChatTakeaways> {
  readonly stopTokens: readonly number[]
  readonly stopStrings: readonly string[]
  readonly reflectorStopTokens: readonly number[]
  readonly takeaways = z.array(z.string())
  readonly world: ResearchWorld
  readonly limits: TurnLimits
  readonly #format: ChatFormat
  readonly #agent: ChatAgentFormat
  readonly #task: ResearchChatOptions['task']
  /** Tokens of a reflector's prompt. */
  readonly #room: number
  /** A rollout is read several times: for its judge, its credit, its row. */
  readonly #read = new WeakMap<Int32Array, ReadRollout>()

  /**
   * @throws DataError for a template that cannot write several turns, or lacks the form of calls that is asked for; ConfigError
   * where a reflector has no room
   */
  constructor({ format, tools, task, reflectionTokens }: ResearchChatOptions) {
    const { rules, callForm, scaffold, maxTokens, maxOutputTokens } = task
    this.#format = format
    this.#task = task
    this.#agent = chatAgentFormat(format, {
      ...{ calls: callForm, maxTokens: maxOutputTokens },
      prompt: { tools: tools.tools, rules, scaffold },
    })
    this.#room = Math.min(task.maxReflectorTokens, format.maxPositions - reflectionTokens)
    const least = format.encode(reflectorMessages('', { key: '', stages: ['', '', '', ''] })).length
    if (this.#room < 2 * least)
      throw new ConfigError(
        `task.maxReflectorTokens: expected at least ${2 * least}, twice what a reflector's instructions take, got ${this.#room} in a context of ${format.maxPositions}`,
        { hint: 'raise it, or lower reflection.maxTokens' },
      )
    this.stopTokens = this.#agent.sampling.stopTokens
    this.stopStrings = this.#agent.sampling.stopStrings
    this.reflectorStopTokens = format.stopTokens
    this.world = new ResearchWorld({ format: this.#agent, tools, rules })
    this.limits = { turns: mostTurns(rules), tokens: maxTokens }
  }

  /** How calls are written. */
  get form() {
    return this.#agent.form
  }

  name({ id }: ResearchQuestion): string {
    return id
  }

  question({ question }: ResearchQuestion): string {
    return question
  }

  /** Lessons that leave the question no room are cut, and left out in the end. */
  prompt({ question }: ResearchQuestion, references: Retrieval<ChatTakeaways> | null): TokenIds {
    if (references === null || references.items.length === 0) return this.#agent.prompt(question)
    for (const share of CUTS) {
      const maxCharacters = Math.round(share * this.#task.referenceCharacters)
      const prompt = this.#agent.prompt(question, referenceExamples(references, { maxCharacters }))
      if (prompt.length <= this.#task.maxPromptTokens) return prompt
    }
    return this.#agent.prompt(question)
  }

  read(_question: ResearchQuestion, rollout: Rollout): ReadRollout {
    const known = this.#read.get(rollout.tokens)
    if (known) return known
    const read = this.#readNew(rollout)
    this.#read.set(rollout.tokens, read)
    return read
  }

  #readNew(rollout: Rollout): ReadRollout {
    const { rules, scaffold } = this.#task
    const read = rolloutStages(rollout, this.#agent, rules)
    const { text, stages, observations, elements, problems, answered, toolCalls, tokenStages } = read
    const broken = scaffold ? problems : problems.filter(({ kind }) => !SCAFFOLD_PROBLEMS.has(kind))
    return {
      ...{ text, tokenStages, calls: toolCalls },
      staged: stagedRollout(rollout.key, text, stages),
      wellFormed: broken.length === 0,
      answer: answered ? answerText(text, elements) : null,
      said: observations.map(({ start, end }) => saidKind(text.slice(start, end))),
    }
  }

  text(rollout: Rollout): string {
    return this.#agent.read(rollout.tokens).text
  }

  persistent({ persistent }: ResearchQuestion) {
    return persistent
  }

  /** Of a long attempt, the middle of each part is left out, as much as need be. */
  reflectorPrompt(question: ResearchQuestion, attempt: Rollout): TokenIds {
    const { staged } = this.read(question, attempt)
    const encode = (most: number | null) =>
      this.#format.encode(reflectorMessages(question.question, staged, most))
    const whole = encode(null)
    if (whole.length <= this.#room) return whole
    let [below, above] = [LEAST_CHARACTERS, Math.max(...(staged.parts ?? []).map(({ text }) => text.length))]
    let fitting = encode(below)
    for (let round = 0; round < MOST_TRIES && above - below > 1; round++) {
      const middle = (below + above) >> 1
      const tokens = encode(middle)
      if (tokens.length <= this.#room) [below, fitting] = [middle, tokens]
      else above = middle
    }
    return withoutMiddle(fitting, this.#room)
  }

  readReflection(tokens: ArrayLike<number>): Lessons<ChatTakeaways> | null {
    const read = readReflection(this.#format.answer(tokens))
    return read.valid ? { rubrics: read.rubrics, takeaways: read.takeaways } : null
  }

  kept(_question: ResearchQuestion, lessons: Lessons<ChatTakeaways>): Lessons<ChatTakeaways> {
    return lessons
  }

  lessonsText({ rubrics, takeaways }: Lessons<ChatTakeaways>): string {
    return [rubrics, ...takeaways.map(lesson => `- ${lesson}`)].join('\n')
  }

  /** `right` and `f1` only where a right answer is known; `effort`: calls, of those allowed. */
  truth(question: ResearchQuestion, rollout: Rollout): Record<string, number> {
    const { answer, wellFormed, calls } = this.read(question, rollout)
    return {
      ...(question.answers.length > 0 && shortAnswerScores(answer, question.answers)),
      answered: Number(answer !== null),
      wellFormed: Number(wellFormed),
      effort: Math.min(1, calls / this.#task.rules.maxCalls),
    }
  }

  /** How calls went: by rollout, by what came of them, as shares of all that was said. */
  figures(rollouts: readonly { problem: ResearchQuestion; rollout: Rollout }[]): Omit<MetricsRow, 'step'> {
    const read = rollouts.map(({ problem, rollout }) => this.read(problem, rollout))
    const said = read.flatMap(own => own.said)
    const of = (kind: SaidKind) => said.filter(own => own === kind).length
    if (read.length === 0) return {}
    return {
      toolCalls: mean(read.map(({ calls }) => calls)),
      answeredShare: mean(read.map(({ answer }) => Number(answer !== null))),
      wellFormedShare: mean(read.map(({ wellFormed }) => Number(wellFormed))),
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
}
