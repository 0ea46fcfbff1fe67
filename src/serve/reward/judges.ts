/** @file Opens the judges of a configuration: graders, their metrics, and how to tell whether they can be reached. */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { CallOutcome, JudgeFleet } from '../../chat/index.ts'
import type { Grader } from '../../grade/grader.ts'
import type { VerdictCache } from '../../grade/judge/cache/index.ts'
import { escalate } from '../../grade/judge/escalation.ts'
import { openJudge } from '../../grade/judge/open-judge.ts'
import { panel } from '../../grade/judge/panel.ts'
import { modelNameOf } from '../../model/model-place.ts'
import { ConfigError } from '../../util/errors.ts'
import { closest } from '../../util/schema.ts'
import type { RewardConfig } from './config.ts'
import { type JudgeUse, judgesUsed, type LlmJudgeConfig, type RewardJudgeConfig } from './judge-config.ts'
import type { JudgeMetrics } from './metrics.ts'
import type { Probe } from './readiness.ts'
import { ScriptedJudge } from './scripted-judge.ts'

/** Called with every call of a model that was waited for to its end. */
export type JudgeCallListener = (
  judge: string,
  outcome: Exclude<CallOutcome, 'cancelled'>,
  tookMs: number,
) => void

/** One judge. */
interface ReadyJudge {
  grader: Grader
  probes: Probe[]
  /** Null for judges that use no tokens. */
  metrics: (() => JudgeMetrics) | null
}

interface JudgeSurroundings {
  /** Folder that file names are relative to. */
  folder: string
  cache: VerdictCache | null
  onCall: JudgeCallListener
}

/** Any answer at all, even a refusal, says that a server is there. */
const answers = async (url: string, signal: AbortSignal): Promise<string | null> => {
  try {
    const response = await fetch(new URL('/', url), { signal, redirect: 'manual' })
    await response.body?.cancel()
    return null
  } catch (error) {
    const cause = (error as Error).cause as { code?: string } | undefined
    return cause?.code ?? (error as Error).name
  }
}

/** Fine when one endpoint of the fleet can be reached and its breaker is not open. */
const fleetProbe = (name: string, fleet: JudgeFleet, { endpoints }: LlmJudgeConfig['fleet']): Probe => ({
  name: `judge.${name}`,
  async check(signal) {
    const { endpoints: stats } = fleet.stats()
    const closed = endpoints.filter((_, index) => stats[index].state !== 'open')
    if (closed.length === 0) return 'every endpoint has failed too often and is left alone for a while'
    const problems = await Promise.all(closed.map(({ url }) => answers(url, signal)))
    return problems.includes(null)
      ? null
      : `no endpoint can be reached (${[...new Set(problems)].join(', ')})`
  },
})

const fleetMetrics = (judge: string, fleet: JudgeFleet) => (): JudgeMetrics => {
  const { queued, inFlight, ledger } = fleet.stats()
  const { promptTokens, completionTokens, cost } = ledger
  return { judge, promptTokens, completionTokens, cost, queued, inFlight }
}

const openLlm = (name: string, config: LlmJudgeConfig, { cache, onCall }: JudgeSurroundings): ReadyJudge => {
  const judge = openJudge(
    { ...config, cache: null },
    {
      store: cache ?? undefined,
      onCall: (outcome, tookMs) => outcome !== 'cancelled' && onCall(name, outcome, tookMs),
    },
  )
  const fleet = judge.fleet!
  return {
    grader: judge.grader,
    probes: [fleetProbe(name, fleet, config.fleet)],
    metrics: fleetMetrics(name, fleet),
  }
}

/** A folder is looked for beside the configuration; a name on the hub, and what ships with the package, is where it is. */
const placeOf = (place: string, beside: string): string => {
  const folder = resolve(beside, place)
  return !existsSync(folder) && (place.startsWith('package:') || modelNameOf(place)) ? place : folder
}

/** The package that is this server alone comes without the engine. @throws ConfigError */
const lacksEngine = (error: NodeJS.ErrnoException): never => {
  // Of another module that is missing its own words say more.
  if (error.code !== 'ERR_MODULE_NOT_FOUND' || !/learned-verifier.grader\.js/.test(error.message)) throw error
  throw new ConfigError(
    'judges: a judge of kind "learned" computes with the engine, which @gradus/serve leaves out',
    {
      hint: 'run `gradus serve reward` of the package gradus, or serve the model and name its address in a judge of kind "llm"',
    },
  )
}

const openByKind = async (
  name: string,
  config: RewardJudgeConfig,
  surroundings: JudgeSurroundings,
): Promise<ReadyJudge> => {
  switch (config.kind) {
    case 'llm':
      return openLlm(name, config, surroundings)
    case 'learned': {
      const { LearnedVerifier } = await import('../../recipes/learned-verifier/grader.ts').catch(lacksEngine)
      const grader = await LearnedVerifier.open(placeOf(config.folder, surroundings.folder), config)
      return { grader, probes: [], metrics: null }
    }
    case 'scripted':
      return { grader: new ScriptedJudge(config), probes: [], metrics: null }
  }
}

/** The judges in use as one grader. */
export interface ReadyJudges {
  grader: Grader
  probes: Probe[]
  metrics(): JudgeMetrics[]
}

const checkNames = (use: JudgeUse, known: readonly string[]): void => {
  for (const name of judgesUsed(use)) {
    if (known.includes(name)) continue
    const near = closest(name, known)
    throw new ConfigError(
      `judge: expected one of ${known.join(', ') || 'judges, and there are none'}, got ${name}`,
      { hint: near === null ? 'add it to judges' : `did you mean ${near}?` },
    )
  }
}

/** One judge, a panel, or a light judge with a strong one behind it. */
const combine = (use: JudgeUse, open: ReadonlyMap<string, ReadyJudge>): Grader => {
  const grader = (name: string) => open.get(name)!.grader
  if (typeof use === 'string') return grader(use)
  if ('panel' in use) return panel(use.panel.map(grader), use)
  return escalate({ ...use, light: grader(use.light), strong: grader(use.strong) })
}

/**
 * Opens the judges that a configuration uses; null where it uses none.
 * @throws ConfigError, CheckpointError for a judge that is not there or cannot be used
 */
export const openJudges = async (
  { judge: use, judges }: RewardConfig,
  surroundings: JudgeSurroundings,
): Promise<ReadyJudges | null> => {
  if (use === undefined) return null
  checkNames(use, Object.keys(judges))
  const open = new Map<string, ReadyJudge>()
  for (const name of new Set(judgesUsed(use)))
    open.set(name, await openByKind(name, judges[name], surroundings))
  const each = [...open.values()]
  return {
    grader: combine(use, open),
    probes: each.flatMap(({ probes }) => probes),
    metrics: () => each.flatMap(({ metrics }) => (metrics === null ? [] : [metrics()])),
  }
}
