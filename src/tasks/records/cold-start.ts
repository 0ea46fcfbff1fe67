/** @file Records as they are learnt before they are rewarded: agents with and without references, and reflectors. */

import { z } from 'zod'
import type { SupervisedDatum } from '../../rl/datum.ts'
import { Rng } from '../../util/rng.ts'
import { fraction, natural } from '../../util/setting-shapes.ts'
import { agentPrompt, placeboOf, type Reference, reflectionText, reflectorPrompt } from './lessons.ts'
import { demonstrateReflection, drawReflectorHabits } from './reflector.ts'
import { advised, type Contribution, demonstrateResearch, drawResearchHabits } from './research.ts'
import { readTrajectory, trajectoryPieces } from './trajectory.ts'
import { encodeRecords, RECORDS_TOKENS } from './vocabulary.ts'
import {
  archiveName,
  hopsSchema,
  type RecordsQuestion,
  recordsAnswer,
  recordsQuestion,
  siblingOf,
} from './world.ts'

export const recordsStartSchema = z.strictObject({
  kind: z.literal('records').describe('Look-ups in generated archives, by agents in stages.'),
  hops: hopsSchema.prefault({}).describe('Fewest and most look-ups that a question needs.'),
  reflectors: fraction.default(0.3).describe('Share of the demonstrations that are of a reflector.'),
  referred: fraction.default(0.5).describe('Share of the demonstrations of agents that have references.'),
  heeds: fraction.default(0.7).describe('Probability that the scripted agent follows advice in a reference.'),
  tries: natural
    .default(3)
    .describe(
      'Most attempts of the scripted agent until its answer is right; 1 keeps whatever it wrote first.',
    ),
  calls: natural.max(12).default(8).describe('Most look-ups of an agent.'),
  scaffold: z
    .boolean()
    .default(true)
    .describe('Agents plan and review. false: neither, but idle thinking of the same length.'),
})

export type RecordsTeacher = z.output<typeof recordsStartSchema> & { seed: number | string; batch: number }
type Teacher = RecordsTeacher

interface Attempt {
  tokens: number[]
  mask: number[]
  right: boolean
}

const attemptOf = (segments: readonly Contribution[], question: RecordsQuestion): Attempt => {
  const encoded = segments.map(({ text, own }) => ({ tokens: encodeRecords(text), own }))
  const tokens = encoded.flatMap(part => part.tokens)
  const mask = encoded.flatMap(part => part.tokens.map(() => Number(part.own)))
  const { answer } = readTrajectory(trajectoryPieces(tokens, mask))
  return { tokens, mask, right: answer?.person === recordsAnswer(question) }
}

/** An attempt that is drawn again, up to `tries` times in all, while its answer is wrong: rejection sampling. */
const attempt = (
  question: RecordsQuestion,
  references: readonly Reference[],
  { heeds, tries, calls, scaffold }: Teacher,
  rng: Rng,
): Attempt => {
  // Advice is about work; lessons are about the fields of one archive.
  const said = references.map(({ archive, reflection }) =>
    archiveName(archive) === archiveName(question.archive) ? reflection : { ...reflection, lessons: [] },
  )
  for (let i = 1; ; i++) {
    const own = rng.fork(i)
    const habits = advised(drawResearchHabits(own), said, heeds, own)
    const done = attemptOf(demonstrateResearch(question, said, habits, { calls, scaffold }, own), question)
    if (done.right || i >= tries) return done
  }
}

/** A question about another archive of the same world. */
const strangerOf = ({ archive }: RecordsQuestion, teacher: Teacher): RecordsQuestion => {
  for (let i = 1; ; i++) {
    const other = recordsQuestion(archive.world, i, teacher)
    if (archiveName(other.archive) !== archiveName(archive)) return other
  }
}

const sibling = (question: RecordsQuestion, _: Teacher, rng: Rng) => siblingOf(question, rng.int(1_000_000))

/** What a reference is about. */
const ABOUT = {
  same: (question: RecordsQuestion) => question,
  sibling,
  stranger: strangerOf,
  placebo: sibling,
}
const REFERENCES: readonly (keyof typeof ABOUT)[] = ['same', 'sibling', 'sibling', 'stranger', 'placebo']

/**
 * What an agent is referred to: lessons of an earlier attempt at the question, of a sibling of it, of another archive, as a memory
 * that goes by similarity gives them too, or of nothing.
 */
const referencesFor = (question: RecordsQuestion, teacher: Teacher, rng: Rng): Reference[] =>
  Array.from({ length: 1 + rng.int(2) }, (_, i) => {
    const own = rng.fork(i)
    const kind = own.pick(REFERENCES)
    const about = ABOUT[kind](question, teacher, own)
    const { tokens, mask } = attempt(about, [], { ...teacher, tries: 1 }, own)
    const trajectory = readTrajectory(trajectoryPieces(tokens, mask))
    const reflection = demonstrateReflection(about, trajectory, drawReflectorHabits(own), own)
    const key = `${teacher.seed}/${own.uint32()}`
    return {
      archive: about.archive,
      reflection: kind === 'placebo' ? placeboOf(reflection, key) : reflection,
    }
  })

/** A demonstration of a role; the same names give the same one. */
const demonstrationOf = (
  role: 'agent' | 'reflector',
  question: RecordsQuestion,
  teacher: Teacher,
  rng: Rng,
): SupervisedDatum => {
  const references =
    role === 'agent' && rng.next() < teacher.referred
      ? referencesFor(question, teacher, rng.fork('refs'))
      : []
  const done = attempt(question, references, teacher, rng.fork('attempt'))
  if (role === 'agent')
    return {
      promptTokens: agentPrompt(question, references),
      responseTokens: done.tokens,
      responseWeights: Float32Array.from(done.mask),
    }
  const own = rng.fork('reflection')
  const trajectory = readTrajectory(trajectoryPieces(done.tokens, done.mask))
  const reflection = demonstrateReflection(question, trajectory, drawReflectorHabits(own), own)
  return {
    promptTokens: reflectorPrompt(question, done.tokens),
    responseTokens: [...encodeRecords(reflectionText(reflection)), RECORDS_TOKENS.eos],
  }
}

/** The demonstrations of a step; they depend on seed and step alone. Every one is of a world of its own: there is nothing to learn by heart. */
export const recordsDemonstrations =
  (teacher: Teacher) =>
  (step: number): SupervisedDatum[] =>
    Array.from({ length: teacher.batch }, (_, i) => {
      const index = (step - 1) * teacher.batch + i
      const rng = new Rng(`records demonstration/${teacher.seed}/${index}`)
      const question = recordsQuestion(`cold start/${teacher.seed}/${index}`, 0, teacher)
      const role = rng.next() < teacher.reflectors ? 'reflector' : 'agent'
      return demonstrationOf(role, question, teacher, rng)
    })
