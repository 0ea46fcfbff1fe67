/** @file Everything that grades, opened from a configuration: rules, formal checks, judges, cache. */

import { resolve } from 'node:path'
import { FormalGrader, validateFormal } from '../../grade/formal-grader.ts'
import type { GradeOptions, Grader } from '../../grade/grader.ts'
import { VerdictCache } from '../../grade/judge/cache/index.ts'
import { needsJudge, rubricGrader, validateVerifiers } from '../../grade/rubric-grader.ts'
import { RuleGrader } from '../../grade/rules/index.ts'
import { criterionPlace } from '../../grade/rules/registry.ts'
import type { Rubric } from '../../rubric/criterion.ts'
import { scoreByRule } from '../../rubric/rules.ts'
import { ConfigError } from '../../util/errors.ts'
import type { RewardConfig } from './config.ts'
import { type JudgeCallListener, openJudges } from './judges.ts'
import type { GradingMetrics } from './metrics.ts'
import type { Probe } from './readiness.ts'
import { type KnownRubric, RubricStore } from './rubric-store.ts'

/** What `openGrading` makes. */
export interface OpenGrading {
  rubrics: RubricStore
  grader: Grader
  hasJudge: boolean
  /**
   * Whether the verifiers of a rubric that came with a request can be used; rules are looked at in a worker.
   * @throws DataError naming each that cannot; WorkError where it takes too long to find out
   */
  checkVerifiers(rubric: Rubric, where: string, options: GradeOptions): Promise<void>
  probes: Probe[]
  metrics(): GradingMetrics
}

/** Scores the rubric without verdicts by every rule that it may meet: one that does not fit says so now. */
const checkScoring = (known: KnownRubric, { aggregation, routes }: RewardConfig): void => {
  const rules = routes.map(route => ({ ...aggregation, ...route.aggregation, ...known.aggregation }))
  for (const { rule, nulls } of rules) scoreByRule(rule, known.rubric, [], { nulls })
}

/** Rubrics of the configuration, checked: every verifier exists, and there is a judge where one is needed. */
const openRubrics = (config: RewardConfig, folder: string): RubricStore => {
  const rubrics = new RubricStore(config.rubrics, folder)
  rubrics.checkRoutes(config.routes)
  for (const known of rubrics.all()) {
    const { name = '', rubric } = known
    validateVerifiers(rubric, `rubrics.${name}`)
    checkScoring(known, config)
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
  onCall: JudgeCallListener = () => {},
): Promise<OpenGrading> => {
  const rubrics = openRubrics(config, folder)
  const cache = openCache(config, folder)
  const judge = await openJudges(config, { folder, cache, onCall })
  const maxResponseChars = config.limits.responseCharacters
  const rules = new RuleGrader({ ...config.rules, maxResponseChars })
  // Ready is who can grade at once.
  await rules.start()
  const grader = rubricGrader({
    judge: judge?.grader,
    rules,
    formal: new FormalGrader({ solver: config.solver, maxResponseChars }),
  })
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
    async checkVerifiers(rubric, where, options) {
      for (const [index, criterion] of rubric.criteria.entries())
        validateFormal(criterion, criterionPlace(where, index, criterion))
      await rules.check(rubric, where, options)
    },
    probes: [...(cache === null ? [] : [cacheProbe(cache)]), ...(judge?.probes ?? [])],
    metrics() {
      const { hits = 0, misses = 0 } = cache?.stats() ?? {}
      return { cacheHits: hits, cacheMisses: misses, judges: judge?.metrics() ?? [], workers: rules.stats() }
    },
  }
}
