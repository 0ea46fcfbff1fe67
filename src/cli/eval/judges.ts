/** @file The judges of an evaluation: the one that counts, and one that training never saw. A model on a server, or in this process. */

import { isServerAddress } from '../../chat/model-address.ts'
import { givenStart } from '../../experiments/plan/given-start.ts'
import { FormalGrader } from '../../grade/formal-grader.ts'
import type { JudgeForm } from '../../grade/judge/templates/form.ts'
import { RuleGrader } from '../../grade/rules/index.ts'
import type { NamedJudge } from '../../measure/grading.ts'
import { fetchModel } from '../../model/fetch-model.ts'
import { hasTokenizer, loadTokenizer } from '../../model/tokenizer.ts'
import { isVerifierTokenizer } from '../../recipes/learned-verifier/reading.ts'
import { shortHash } from '../../util/canonical.ts'
import { UsageError } from '../../util/errors.ts'
import { StatusLine } from '../../util/status-line.ts'
import { type JudgeCommandOptions, openCommandJudge } from '../grade/judge.ts'
import type { Io } from '../io.ts'
import { givenOption } from '../option-values.ts'
import { openTalking } from './answering.ts'
import type { EvalOptions } from './options.ts'

interface OpenedJudge extends NamedJudge {
  describe?(): string
  close(): Promise<void>
}

const CONCURRENCY = 64

type Named = 'judge' | 'judgeModel' | 'apiKeyEnv' | 'levels' | 'calibration' | 'cache' | 'threads'
type JudgeOptions = Pick<EvalOptions, Named> & {
  /** How it is asked where that is not a criterion at a time. */
  way?: Partial<JudgeCommandOptions> & { form?: JudgeForm }
}

/** @throws UsageError for what only a judge on a server has */
const refuseNamed = ({ judge, judgeModel, apiKeyEnv, way }: JudgeOptions, setting: string): void => {
  if (judgeModel === undefined && apiKeyEnv === undefined) return
  throw new UsageError(
    `${setting}: ${judge} is a model of this machine, and has neither a key nor another name`,
    { hint: `leave --${way?.modelOption ?? 'judge-model'} and --api-key-env out` },
  )
}

/** A learned verifier by itself; any other model is asked as an endpoint is. Null where none is named. @throws as `openGraders` */
export const openJudgeModel = async (
  options: JudgeOptions,
  setting: string,
  io: Io,
): Promise<OpenedJudge | null> => {
  const { judge, judgeModel: model, apiKeyEnv, levels, calibration, cache, threads, way } = options
  const isLocal = judge !== undefined && !isServerAddress(judge)
  if (isLocal) {
    refuseNamed(options, setting)
    const stray = givenOption({ levels, calibration, ...way }, ['levels', 'calibration'])
    const verifier = await openVerifier(judge, { threads, stray }, io)
    if (verifier) return { name: judge, ...verifier, close: () => verifier.grader.close() }
  }
  const talking = isLocal ? await openTalking({ model: judge, threads }, setting, io) : null
  const common = { modelOption: 'judge-model', concurrency: CONCURRENCY, calls: 'criterion' as const }
  const { form, ...own } = judge === undefined ? {} : (way ?? {})
  const asked = { judge, model, apiKeyEnv, calibration, cache, ...common, ...own, ...(levels && { levels }) }
  const surroundings = { ...(form && { form }), ...(talking && { model: talking.chat }) }
  const opened = openCommandJudge(asked, io, surroundings)
  if (opened === null) return null
  // Calibration changes what is made of what a judge says.
  return {
    name: model === undefined || judge!.includes('#') ? judge! : `${judge}#${model}`,
    digest: shortHash([opened.grader.way(), asked.calibration]),
    grader: opened.grader,
    describe: () => opened.describe(),
    async close() {
      await opened.close()
      await talking?.close()
    },
  }
}

/** Null of any other model. @param options.stray the option that was given, and that a verifier would pass over @throws UsageError for it */
const openVerifier = async (
  place: string,
  { threads, stray }: { threads: number; stray: string | undefined },
  io: Io,
) => {
  const folder = await fetchModel(place, { status: new StatusLine(io.err) })
  if (!hasTokenizer(folder) || !isVerifierTokenizer(loadTokenizer(folder))) return null
  if (stray !== undefined)
    throw new UsageError(`${stray}: ${place} is a learned verifier, which has a scale of its own`, {
      hint: 'leave it out',
    })
  const { LearnedVerifier } = await import('../../recipes/learned-verifier/grader.ts')
  const grader = await LearnedVerifier.open(folder, { threads })
  return { grader, digest: givenStart(folder, place).weights }
}

type TwoJudges = JudgeOptions & Pick<EvalOptions, 'heldOutJudge' | 'heldOutApiKeyEnv'>

const secondOf = ({ heldOutJudge, heldOutApiKeyEnv, cache, threads, way }: TwoJudges): JudgeOptions => ({
  ...{ judge: heldOutJudge, apiKeyEnv: heldOutApiKeyEnv, threads, way },
  ...(heldOutJudge !== undefined && { cache }),
})

/** Before a model is asked for answers: whether the judges can be opened. @throws as `openGraders` */
export const checkJudges = async (options: TwoJudges, io: Io): Promise<void> => {
  for (const [own, setting] of [
    [options, '--judge'],
    [secondOf(options), '--held-out-judge'],
  ] as const) {
    const { judge } = own
    if (judge === undefined || isServerAddress(judge)) {
      await (await openJudgeModel(own, setting, io))?.close()
      continue
    }
    refuseNamed(own, setting)
    await fetchModel(judge, { status: new StatusLine(io.err) })
  }
}

/** All that grade: both judges, where they are named, beside rules and solver. @throws UsageError, ConfigError, CheckpointError */
export const openGraders = async (options: TwoJudges, io: Io) => {
  const judge = await openJudgeModel(options, '--judge', io)
  const heldOut = await openJudgeModel(secondOf(options), '--held-out-judge', io)
  const formal = new FormalGrader()
  return {
    ...{ rules: new RuleGrader(), formal, judge, heldOut },
    /** What they did. */
    lines: (): string[] => [
      ...(judge?.describe ? [judge.describe()] : []),
      ...(heldOut?.describe ? [`held-out ${heldOut.describe()}`] : []),
    ],
    async close() {
      await formal.close()
      await judge?.close()
      await heldOut?.close()
    },
  }
}
