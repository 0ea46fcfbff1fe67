/** @file The judges of an evaluation: the one that counts, and one that training never saw. A model on a server, or in this process. */

import { isServerAddress } from '../../chat/model-address.ts'
import type { NamedJudge } from '../../measure/index.ts'
import { bringModel } from '../../model/bring-model.ts'
import { hasTokenizer, loadTokenizer } from '../../model/tokenizer.ts'
import { isVerifierTokenizer } from '../../recipes/learned-verifier/reading.ts'
import { StatusLine } from '../../util/status-line.ts'
import { openCommandJudge } from '../grade/judge.ts'
import type { Io } from '../io.ts'
import { openTalking } from './answering.ts'
import type { EvalOptions } from './options.ts'

interface OpenedJudge extends NamedJudge {
  describe?(): string
  close(): Promise<void>
}

const CONCURRENCY = 64

type JudgeOptions = Pick<EvalOptions, 'judge' | 'judgeModel' | 'apiKeyEnv' | 'cache' | 'threads'>

/** A learned verifier by itself; any other model is asked as an endpoint is. */
const openOne = async (options: JudgeOptions, setting: string, io: Io): Promise<OpenedJudge | null> => {
  const { judge, judgeModel: model, apiKeyEnv, cache, threads } = options
  const isLocal = judge !== undefined && !isServerAddress(judge)
  if (isLocal) {
    const verifier = await openVerifier(judge, threads, io)
    if (verifier) return { name: judge, grader: verifier, close: () => verifier.close() }
  }
  const talking = isLocal ? await openTalking({ model: judge, threads }, setting, io) : null
  const common = { modelOption: 'judge-model', calls: 'criterion' as const, concurrency: CONCURRENCY }
  const opened = openCommandJudge(
    { judge, model, apiKeyEnv, cache, ...common },
    message => io.err.write(`gradus: ${message}\n`),
    {
      ...(talking && { model: talking.chat }),
    },
  )
  if (opened === null) return null
  return {
    name: model === undefined || judge!.includes('#') ? judge! : `${judge}#${model}`,
    grader: opened.grader,
    describe: () => opened.describe(),
    async close() {
      await opened.grader.close()
      opened.close()
      await talking?.close()
    },
  }
}

const openVerifier = async (place: string, threads: number, io: Io) => {
  const folder = await bringModel(place, { status: new StatusLine(io.err) })
  if (!hasTokenizer(folder) || !isVerifierTokenizer(loadTokenizer(folder))) return null
  const { LearnedVerifier } = await import('../../recipes/learned-verifier/grader.ts')
  return LearnedVerifier.open(folder, { threads })
}

/** Both, where they are named. @throws UsageError, ConfigError, CheckpointError */
export const openJudges = async (options: EvalOptions, io: Io) => {
  const { heldOutJudge, heldOutApiKeyEnv, cache, threads } = options
  const judge = await openOne(options, '--judge', io)
  const second = {
    judge: heldOutJudge,
    apiKeyEnv: heldOutApiKeyEnv,
    threads,
    ...(heldOutJudge !== undefined && { cache }),
  }
  const heldOut = await openOne(second, '--held-out-judge', io)
  return {
    judge,
    heldOut,
    /** What they did. */
    lines: (): string[] => [
      ...(judge?.describe ? [judge.describe()] : []),
      ...(heldOut?.describe ? [`held-out ${heldOut.describe()}`] : []),
    ],
    async close() {
      await judge?.close()
      await heldOut?.close()
    },
  }
}
