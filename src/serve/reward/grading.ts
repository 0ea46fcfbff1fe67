/** @file Everything that grades, opened from a configuration: rules, formal checks, judges, cache. */

import { resolve } from 'node:path'
import type { Grader } from '../../grade/grader.ts'
import { VerdictCache } from '../../grade/judge/cache/index.ts'
import { needsJudge, rubricGrader, validateVerifiers } from '../../grade/rubric-grader.ts'
import { ConfigError } from '../../util/errors.ts'
import { closest } from '../../util/schema.ts'
import type { RewardConfig } from './config.ts'
import { type CallListener, type OpenJudge, openJudge } from './judges.ts'
import type { GradingFigures } from './metrics.ts'
import type { Probe } from './readiness.ts'
import { RubricStore } from './rubric-store.ts'

/** What `openGrading` makes. */
export interface Grading {
  rubrics: RubricStore
  grader: Grader
  hasJudge: boolean
  probes: Probe[]
  figures(): GradingFigures
}

/** Rubrics of the configuration, checked: every verifier exists, and there is a judge where one is needed. */
const openRubrics = (config: RewardConfig, folder: string): RubricStore => {
  const rubrics = new RubricStore(config.rubrics, folder)
  rubrics.checkRoutes(config.routes)
  for (const { name = '', rubric } of rubrics.all()) {
    validateVerifiers(rubric, `rubrics.${name}`)
    if (config.judge !== undefined || !needsJudge(rubric)) continue
    const judged = rubric.criteria.find(({ verifier }) => verifier === undefined)
    throw new ConfigError(`rubrics.${name}: criterion ${judged?.id} needs a judge, and judge is not set`, {
      hint: 'add a judge to judges and name it in judge, or give the criterion a verifier',
    })
  }
  return rubrics
}

const openCache = ({ cache }: RewardConfig, folder: string): VerdictCache | null =>
  cache === undefined ? null : VerdictCache.open(resolve(folder, cache.folder), { maxBytes: cache.maxBytes })

const openUsedJudge = async (
  { judge, judges }: RewardConfig,
  folder: string,
  cache: VerdictCache | null,
  onCall: CallListener,
): Promise<OpenJudge | null> => {
  if (judge === undefined) return null
  if (Object.hasOwn(judges, judge)) return openJudge(judge, judges[judge], { folder, cache, onCall })
  const near = closest(judge, Object.keys(judges))
  throw new ConfigError(
    `judge: expected one of ${Object.keys(judges).join(', ') || 'judges, which is empty'}, got ${judge}`,
    { hint: near === null ? 'add it to judges' : `did you mean ${near}?` },
  )
}

const cacheProbe = (cache: VerdictCache): Probe => ({
  name: 'cache',
  check: async () =>
    cache.stats().writable ? null : 'the verdict cache cannot be written; is the disk full?',
})

/**
 * Opens what a configuration describes.
 * @param folder that file names are relative to
 * @throws ConfigError, DataError, CheckpointError naming what cannot be used
 */
export const openGrading = async (
  config: RewardConfig,
  folder: string,
  onCall: CallListener = () => {},
): Promise<Grading> => {
  const rubrics = openRubrics(config, folder)
  const cache = openCache(config, folder)
  const judge = await openUsedJudge(config, folder, cache, onCall)
  const grader = rubricGrader({ judge: judge?.grader })
  return {
    rubrics,
    hasJudge: judge !== null,
    grader: {
      grade: (item, criteria, options) => grader.grade(item, criteria, options),
      async close() {
        await grader.close?.()
        cache?.close()
      },
    },
    probes: [...(cache === null ? [] : [cacheProbe(cache)]), ...(judge?.probes ?? [])],
    figures() {
      const { hits = 0, misses = 0 } = cache?.stats() ?? {}
      return { cacheHits: hits, cacheMisses: misses, judges: judge?.figures ? [judge.figures()] : [] }
    },
  }
}
