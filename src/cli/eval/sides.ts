/** @file The answers of an evaluation: of a model that is asked now, or saved before. */

import { existsSync } from 'node:fs'
import {
  AnswerFile,
  type AskSettings,
  answerLines,
  type SavedAnswer,
  SavedAnswers,
} from '../../measure/answers.ts'
import { type Ask, askAll, askInText, askInTokens, askInTurns } from '../../measure/ask.ts'
import { type Graders, gradeAll } from '../../measure/grading.ts'
import type { GradedAnswer } from '../../measure/metrics.ts'
import { Progress } from '../../runs/progress.ts'
import { shortHash } from '../../util/canonical.ts'
import { DataError, UsageError } from '../../util/errors.ts'
import { plural } from '../../util/format.ts'
import { writeOutput } from '../../util/output-file.ts'
import { Interrupted, type Io } from '../io.ts'
import type { ServedIdentity } from '../train/served.ts'
import { AnswerProgress } from './answer-progress.ts'
import { openInTokens, openTalking, type TalkingModel, type TalkingOptions } from './answering.ts'
import { isSaved } from './options.ts'
import type { Evaluation } from './prepare.ts'

/** Answers of a model, or of a file in its place. */
export interface Side {
  model: string
  served?: ServedIdentity
  settings?: AskSettings
  answers_P: SavedAnswer[][]
  /** Problems without an answer, with the reason. */
  missing: { id: string; reason: string }[]
  /** Keeps the answers with their verdicts. */
  keep?(answers: readonly SavedAnswer[]): void
}

type Setting = '--model' | '--against'

export const answersOf = async (
  evaluation: Evaluation,
  place: string,
  setting: Setting,
  io: Io,
  signal: AbortSignal,
): Promise<Side> => {
  const { options } = evaluation
  const out = setting === '--model' ? options.out : options.againstOut
  if (setting === '--model' && options.adapter !== undefined && isSaved(place))
    throw new UsageError(`--adapter: expected a model that it goes on, got saved answers: ${place}`)
  if (setting === '--model' && options.sampleBits !== undefined && isSaved(place))
    throw new UsageError(`--sample-bits: expected a model of this machine, got saved answers: ${place}`)
  const side = isSaved(place)
    ? savedSide(evaluation, place, out)
    : await askedSide(evaluation, place, setting, out, io, signal)
  const { missing, answers_P } = side
  if (missing.length > 0)
    io.err.write(
      `${setting}: ${plural(missing.length, 'problem')} without an answer: ${missing
        .slice(0, 5)
        .map(({ id, reason }) => `${id} (${reason})`)
        .join('; ')}${missing.length > 5 ? '; ...' : ''}\n`,
    )
  if (answers_P.every(own => own.length === 0))
    throw new DataError(
      `${setting}: expected answers to some of ${plural(evaluation.problems.length, 'problem')}, got none`,
    )
  return side
}

const savedSide = ({ problems }: Evaluation, place: string, out: string | undefined): Side => {
  if (out !== undefined && existsSync(out) && !SavedAnswers.areGraded(out))
    throw new UsageError(
      `--out: expected ${out} to hold graded answers, or not to be there; got something else`,
      { hint: 'name another file' },
    )
  const saved = new SavedAnswers(place)
  const answers_P = problems.map(problem => saved.to(problem))
  const missing = problems
    .filter((_, p) => answers_P[p].length === 0)
    .map(({ id }) => ({ id, reason: `not in ${place}` }))
  return {
    ...{ model: saved.model, settings: saved.settings, answers_P, missing },
    ...(out !== undefined && { keep: answers => writeOutput(out, answerLines(answers)) }),
  }
}

const talkingOptions = (
  { options, settings }: Evaluation,
  place: string,
  setting: Setting,
): TalkingOptions => {
  const { threads, concurrency, tokenizer, adapter, sampleBits, dialect } = options
  const { maxTokens } = settings
  const both = { model: place, threads, maxTokens, concurrency, tokenizer }
  return setting === '--model'
    ? { ...both, adapter, sampleBits, dialect, apiKeyEnv: options.modelApiKeyEnv }
    : { ...both, apiKeyEnv: options.againstApiKeyEnv }
}

interface AskedModel extends Omit<TalkingModel, 'chat'> {
  chat: Pick<TalkingModel['chat'], 'name' | 'variant'>
  ask: Ask
}

/** A model with how it is asked. */
const openAsked = async (
  { kind, task, settings }: Evaluation,
  options: TalkingOptions,
  setting: Setting,
  io: Io,
): Promise<AskedModel> => {
  if (kind.asked === 'words') {
    const talking = await openTalking(options, setting, io)
    return { ...talking, ask: askInText(talking.chat, settings) }
  }
  const model = await openInTokens(options, setting, io)
  if (kind.asked === 'tokens') return { ...model, ask: askInTokens(model, task, settings) }
  // Two episodes at a time: servers have room for so many sessions alone.
  return { ...model, ask: askInTurns(model, task, settings), concurrency: options.concurrency ?? 1 }
}

const askedSide = async (
  evaluation: Evaluation,
  place: string,
  setting: Setting,
  out: string | undefined,
  io: Io,
  signal: AbortSignal,
): Promise<Side> => {
  const { options, problems, settings } = evaluation
  const asking = { ...talkingOptions(evaluation, place, setting), signal }
  const talking = await openAsked(evaluation, asking, setting, io).catch(error => {
    if (error instanceof Interrupted)
      io.err.write('interrupted before the first answer; what was fetched is kept\n')
    throw error
  })
  const { chat, ask, concurrency, served } = talking
  const model = [
    place,
    ...(asking.adapter === undefined ? [] : [` with ${asking.adapter}`]),
    ...(asking.sampleBits === 8 ? [', weights of 8 bits'] : []),
  ].join('')
  const by = shortHash([chat.name, chat.variant, served?.server, settings])
  const total = problems.length * options.samples
  const progress = new AnswerProgress(total, io, options.json)
  try {
    const file = out === undefined ? undefined : new AnswerFile(out, by)
    const asked = { ask, model, by, settings, samples: options.samples, concurrency }
    const { answers_P, refused } = await askAll(
      asked,
      problems,
      { onAnswer: progress.onAnswer, signal },
      file,
    )
    progress.close()
    await talking.close()
    return {
      model,
      served,
      settings,
      answers_P,
      missing: refused,
      ...(file && { keep: answers => file.finish(answers) }),
    }
  } catch (error) {
    progress.close()
    // What is being sampled in this process ends for nobody.
    if (error instanceof Interrupted)
      io.err.write(
        progress.done === 0
          ? 'interrupted before the first answer\n'
          : `interrupted after ${progress.done} of ${plural(total, 'answer')}${afterwards(setting, out)}\n`,
      )
    else await talking.close()
    throw error
  }
}

const afterwards = (setting: Setting, out: string | undefined): string =>
  out === undefined
    ? `; nothing was kept: with ${setting === '--model' ? '--out' : '--against-out'} FILE.jsonl answers are, and the same command goes on from there`
    : `; they are kept in ${out}.partial: the same command goes on from there`

/** Has graders speak of answers, with progress. @throws as `gradeAll` */
export const gradeWith = async (
  { kind, task, problems, options }: Evaluation,
  answers_P: readonly (readonly SavedAnswer[])[],
  graders: Graders,
  signal: AbortSignal,
  io: Io,
): Promise<GradedAnswer[][]> => {
  const total = answers_P.flat().length
  const quiet = options.json || graders.judge === null
  const progress = new Progress({ total, label: 'graded', unit: 'answer', quiet, stream: io.err })
  const onGraded = (done: number) => progress.update(done)
  const graded_P = await gradeAll(kind, task, problems, answers_P, graders, { onGraded, signal })
  progress.close()
  return graded_P
}
