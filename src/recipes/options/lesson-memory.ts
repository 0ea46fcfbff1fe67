/**
 * @file A memory for recipes with a scaffold: what a question's rollouts missed is kept as its lesson, and lessons of the
 * question or of similar ones are shown to later rollouts as a scaffold's criteria are. No model writes them.
 */

import { join } from 'node:path'
import { z } from 'zod'
import type { MemorySettings } from '../../memory/config.ts'
import {
  BankFile,
  countFallbacks,
  type GuidanceOptions,
  type Json,
  lessonCriteria,
  openBank,
  type Reflection,
  type Retrieval,
  type Retrieved,
  type RubricBank,
} from '../../memory/index.ts'
import { openEmbedder } from '../../policy/open-embedder.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import { creditOf } from '../../rubric/score.ts'
import type { MetricsRow } from '../../runs/rows.ts'
import type { Task, Verdicts } from '../../tasks/task.ts'
import type { RecipeState } from '../../train/recipe.ts'
import { mean, meanKnown } from '../../util/descriptive.ts'
import { CheckpointError, DataError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import { parseWith } from '../../util/schema.ts'
import { type Shown, taskRubrics } from '../common/scaffold.ts'
import type { RunSession } from '../common/session.ts'
import { contextLength } from '../common/starting-model.ts'
import type { TrainingConfig } from '../common/training.ts'
import type { AttemptSettings, LessonBankSettings, LessonMemorySettings } from './memory.ts'

/** What a group of rollouts was judged by, and the verdicts on each of them. */
export interface LessonGroup {
  criteria: readonly Criterion[]
  verdicts_G: readonly (readonly Verdict[])[]
}

export interface Missed {
  criterion: Criterion
  /** Mean over the rollouts with a verdict: what is asked for is there, a flaw is not. */
  satisfied: number
}

/** Fewer rollouts with a verdict tell nothing of a criterion. */
const LEAST_KNOWN = 2

/**
 * The criteria that a group's rollouts missed most: the least satisfied first, then those worth most, then in the rubric's
 * order. Depends on verdicts alone; needs no model.
 */
export const missedCriteria = (
  judged: readonly LessonGroup[],
  { atMost, most, discerning }: AttemptSettings,
): Missed[] => {
  const missed = judged.flatMap(({ criteria, verdicts_G }) =>
    criteria.flatMap((criterion): Missed[] => {
      const { id, points } = criterion
      const known = verdicts_G.flatMap(verdicts => {
        const verdict = verdicts.find(({ criterionId }) => criterionId === id)
        const credit = verdict === undefined ? null : creditOf(verdict)
        return credit === null ? [] : [points > 0 ? credit : 1 - credit]
      })
      if (known.length < LEAST_KNOWN || points === 0) return []
      const satisfied = known.reduce((sum, own) => sum + own, 0) / known.length
      const discerns = Math.max(...known) > Math.min(...known)
      return satisfied <= atMost && satisfied < 1 && (discerns || !discerning)
        ? [{ criterion, satisfied }]
        : []
    }),
  )
  const worth = ({ criterion: { points } }: Missed) => Math.abs(points)
  return missed.sort((a, b) => a.satisfied - b.satisfied || worth(b) - worth(a)).slice(0, most)
}

/** A lesson as a bank holds it. What checks it comes along: a miniature says a criterion by what checks it. */
const storedLesson = z.strictObject({
  id: z.string(),
  text: z.string(),
  points: z.number(),
  verifier: z
    .strictObject({
      kind: z.enum(['rule', 'formal']),
      fn: z.string(),
      params: z.record(z.string(), z.unknown()).optional(),
    })
    .optional(),
})
const storedLessons = z.array(storedLesson).min(1)

/** Lessons as takeaways of a bank's item. */
export const takeawaysOf = (missed: readonly Missed[]): Json =>
  missed.map(({ criterion: { id, text, points, verifier } }) => ({
    ...{ id, text, points },
    ...(verifier && { verifier: JSON.parse(JSON.stringify(verifier)) as Json }),
  }))

/** Lessons of an item that are read; more than are shown, because a task may not be able to show all of them. */
const MOST_READ = 32

/** Lessons of one item, on one line each and with markup escaped: criteria as they were kept, or what another run's takeaways say. */
const lessonsOfItem = (retrieved: Retrieved): Criterion[] => {
  const read = (options: GuidanceOptions) => lessonCriteria({ items: [retrieved] }, options)
  const kept = storedLessons.safeParse(retrieved.item.takeaways)
  if (!kept.success) return read({ most: MOST_READ }).map(lesson => ({ id: 'lesson', ...lesson }))
  return kept.data
    .slice(0, MOST_READ)
    .flatMap(lesson => read({ lessonsOf: () => [lesson] }).map(({ text }) => ({ ...lesson, text })))
}

/**
 * What was retrieved as criteria, of the most similar question first, each text once.
 * @param shows whether a task can show a lesson at all
 */
export const lessonsOf = (
  { items }: Pick<Retrieval, 'items'>,
  { most, shows = () => true }: { most: number; shows?: (lesson: Criterion) => boolean },
): Criterion[] => {
  const lessons = new Map<string, Criterion>()
  for (const lesson of items.flatMap(lessonsOfItem)) {
    const key = lesson.text.toLowerCase()
    if (!lessons.has(key) && lesson.points !== 0 && shows(lesson)) lessons.set(key, lesson)
  }
  return [...lessons.values()].slice(0, most).map((lesson, i) => ({ ...lesson, id: `lesson-${i + 1}` }))
}

/** In a run's folder: the bank, for people and for other runs. */
const LESSONS_FILE = 'bank.jsonl'

/** What a memory needs of a task. */
type LessonTask<Problem> = Pick<Task<Problem>, 'question' | 'shows' | 'rubric' | 'prompt'>

/** What a scaffold shows: the task's own rubrics, or lessons of earlier attempts. */
export interface Hints<Problem> {
  /** For a step's problems. It belongs into `rollOut`, before anything is awaited there. */
  shown(step: number, problems: readonly Problem[]): Promise<Shown<Problem>>
  /** Keeps what a step's rollouts missed, and says what was recalled and kept. */
  learn(step: number, attempts: readonly Attempts<Problem>[]): Promise<Omit<MetricsRow, 'step'>>
  state?: RecipeState
}

/** Without a memory. */
export const rubricHints = <Problem>(task: Pick<Task<Problem>, 'rubric' | 'prompt'>): Hints<Problem> => ({
  shown: async () => taskRubrics(task),
  learn: async () => ({}),
})

export interface LessonMemoryOptions<Problem> {
  settings: LessonBankSettings
  bank: RubricBank
  task: LessonTask<Problem>
  seed: number | string
  /** Steps of the run: after the last one the file is written. */
  steps: number
  file: BankFile | null
  /** Most tokens of a prompt with lessons; absent: they always fit. */
  room?: number
}

/** What the bank had for a step's problems, in their order. */
export interface Recalled {
  retrievals: readonly Retrieval[]
  lessons: readonly (readonly Criterion[])[]
}

/** A problem's rollouts as they were judged. */
export interface Attempts<Problem> {
  problem: Problem
  judged: readonly LessonGroup[]
}

/** Attempts at a problem, judged by its own rubric. */
export const attemptsAt = <Problem>(
  task: Pick<Task<Problem>, 'rubric'>,
  group: readonly { problem: Problem; grade: Pick<Verdicts, 'verdicts'> }[],
): Attempts<Problem> => {
  const [{ problem }] = group
  const verdicts_G = group.map(({ grade: { verdicts } }) => verdicts)
  return { problem, judged: [{ criteria: task.rubric(problem).criteria, verdicts_G }] }
}

const stateSchema = z.strictObject({ step: z.int().nonnegative(), bank: z.unknown() })

/** A memory of criteria that rollouts missed. `learn` alone changes its state. */
export class LessonMemory<Problem> implements Hints<Problem>, RecipeState {
  readonly #options: LessonMemoryOptions<Problem>
  /** Of the steps that are rolled out and not learnt from. */
  readonly #recalled = new Map<number, Recalled>()
  /** The last step that was learnt from. */
  #step = 0

  constructor(options: LessonMemoryOptions<Problem>) {
    this.#options = options
  }

  /** Finds lessons in the bank as it is at the moment of the call. Changes nothing. @throws JudgeError and others of the embedder */
  async recall(step: number, problems: readonly Problem[]): Promise<Recalled> {
    const { settings, task } = this.#options
    const questions = problems.map(problem => task.question(problem))
    const retrievals = await (settings.placebo ? this.#placebos(step, questions) : this.#retrieve(questions))
    const options = { most: settings.most, shows: (own: Criterion) => task.shows?.(own) ?? true }
    return { retrievals, lessons: retrievals.map(own => lessonsOf(own, options)) }
  }

  #retrieve(questions: readonly string[]): Promise<Retrieval[]> {
    const { bank, settings } = this.#options
    return bank.retrieve(questions, { mode: settings.retrieval, top: settings.top })
  }

  /** As many items as would be retrieved, drawn from the half of the bank that is least like the question. */
  async #placebos(step: number, questions: readonly string[]): Promise<Retrieval[]> {
    const { bank, seed } = this.#options
    const [real, ranked] = await Promise.all([
      this.#retrieve(questions),
      bank.retrieve(questions, { mode: 'cross', top: Math.max(1, bank.size) }),
    ])
    return real.map((own, i) => {
      const others = ranked[i].items
      const unlike = others.slice(Math.ceil(others.length / 2))
      const rng = new Rng(`placebo lessons/${seed}/${step}/${own.question}`)
      return { ...own, items: rng.sample(unlike, Math.min(own.items.length, unlike.length)) }
    })
  }

  get state(): RecipeState {
    return this
  }

  /** Lessons from the last on are left out where a prompt would have no room. */
  async shown(step: number, problems: readonly Problem[]): Promise<Shown<Problem>> {
    const recalled = await this.recall(step, problems)
    this.#recalled.set(step, recalled)
    const { task, settings, room = Number.POSITIVE_INFINITY } = this.#options
    const known = new Map(problems.map((problem, i) => [task.question(problem), recalled.lessons[i]]))
    const criteriaOf = (problem: Problem): readonly Criterion[] => {
      const own = known.get(task.question(problem)) ?? []
      if (settings.show === 'alone') return own
      const rubric = task.rubric(problem).criteria
      const texts = new Set(rubric.map(({ text }) => text))
      return [...rubric, ...own.filter(({ text }) => !texts.has(text))]
    }
    return { criteria: criteriaOf, prompt: (problem, own = []) => fitting(task, problem, own, room) }
  }

  /** @throws JudgeError and others of the embedder */
  async learn(step: number, attempts: readonly Attempts<Problem>[]): Promise<Omit<MetricsRow, 'step'>> {
    const { retrievals, lessons } = this.#recalled.get(step)!
    this.#recalled.delete(step)
    const { bank, file, settings, steps } = this.#options
    const kept = attempts.flatMap(own => this.#lessonFrom(step, own) ?? [])
    bank.used(retrievals)
    await bank.add(kept)
    this.#step = step
    if (step === steps) file?.write(bank, step)
    else file?.afterStep(bank, step)
    const similarity = retrievals.flatMap(({ items }) =>
      items.flatMap(({ how, score }) => (how === 'cross' ? [score] : [])),
    )
    return {
      bankSize: bank.size,
      referred: meanKnown(lessons.map(own => Number(own.length > 0))),
      references: meanKnown(lessons.map(own => own.length)),
      fallbacks: settings.retrieval === 'within' ? countFallbacks(retrievals) : null,
      similarity: meanKnown(similarity),
      lessonsKept: attempts.length === 0 ? null : kept.length / attempts.length,
    }
  }

  #lessonFrom(step: number, { problem, judged }: Attempts<Problem>): Reflection | null {
    const { settings, task } = this.#options
    if (settings.attempts === null) return null
    const missed = missedCriteria(judged, settings.attempts)
    if (missed.length === 0) return null
    return {
      question: task.question(problem),
      rubrics: missed.map(({ criterion: { text }, satisfied }) => ({ text, satisfied })),
      takeaways: takeawaysOf(missed),
      u: mean(missed.map(({ satisfied }) => 1 - satisfied)),
      step,
    }
  }

  save(): unknown {
    return { step: this.#step, bank: this.#options.bank.save() }
  }

  /** @throws CheckpointError for something else than `save` gives */
  load(value: unknown): void {
    const { step, bank } = parseWith(stateSchema, value, "recipe's state: memory", CheckpointError)
    this.#options.bank.load(bank)
    this.#step = step
    this.#options.file?.write(this.#options.bank, step)
  }
}

const fitting = <Problem>(
  task: Pick<Task<Problem>, 'prompt'>,
  problem: Problem,
  own: readonly Criterion[],
  room: number,
): TokenIds => {
  for (let count = own.length; count > 0; count--) {
    const shown = task.prompt(problem, own.slice(0, count))
    if (shown.length <= room) return shown
  }
  return task.prompt(problem)
}

/** The bank that settings name; its embedder is let go with the run. @throws as `openEmbedder` and `openBank` */
export const openRunBank = async (
  settings: LessonBankSettings | Extract<MemorySettings, { kind: 'bank' }>,
  { use }: Pick<RunSession, 'use'>,
  takeaways?: Parameters<typeof openBank>[2],
): Promise<RubricBank> => {
  const embedder = await openEmbedder(settings.embedder)
  await use(Promise.resolve({ close: async () => embedder.close?.() }))
  return openBank(settings, embedder, takeaways)
}

/**
 * The hints of a scaffold, from the memory that settings name where there is one.
 * @param folder of the model that reads the prompts
 * @throws ConfigError, DataError, CheckpointError for an embedder or a bank file that cannot be used, and for a bank of which
 * nothing can be shown
 */
export const openHints = async <Problem>(
  config: Pick<TrainingConfig, 'seed' | 'steps'> & {
    memory: LessonMemorySettings
    rollout: { maxTokens: number }
  },
  task: LessonTask<Problem>,
  { run, use }: { run: { dir: string }; use: RunSession['use'] },
  folder: string,
): Promise<Hints<Problem>> => {
  const { memory: settings, seed, steps, rollout } = config
  if (settings.kind === 'none') return rubricHints(task)
  const bank = await openRunBank(settings, { use })
  const shows = (own: Criterion) => task.shows?.(own) ?? true
  const isShown = (item: Retrieved['item']) =>
    lessonsOf({ items: [{ item, how: 'cross', score: 0 }] }, { most: 1, shows }).length > 0
  if (settings.file !== undefined && !bank.items().some(isShown))
    throw new DataError(
      `memory.file: expected lessons that the task can show, got none in ${settings.file}`,
      {
        hint: 'take a bank of a run of the same task; a miniature shows nothing but its own criteria',
      },
    )
  const file = new BankFile(join(run.dir, LESSONS_FILE), { everySteps: settings.writeEverySteps })
  const room = contextLength(folder) - rollout.maxTokens
  return new LessonMemory({ settings, bank, task, seed, steps, file, room })
}
