/** @file What a schema cannot see in a registration: names that must exist, tests that must fit their metric. */

import { canonicalJson } from '../../util/canonical.ts'
import { ConfigError } from '../../util/errors.ts'
import { closest, meantOr } from '../../util/schema.ts'
import { metricNamed } from '../metrics/index.ts'
import { PROBED_RECIPES } from '../probes/schema.ts'
import { probeUses } from '../probes/uses.ts'
import { allSeeds } from './blocks.ts'
import {
  armsOf,
  CLAIM_CONTROLS,
  type Claim,
  comparisonsOf,
  equalsOf,
  type MetricChoice,
  type RegistrationContent,
  START,
} from './registration.ts'

/** @throws ConfigError that lists everything wrong, by place. */
export const checkReferences = (content: RegistrationContent, file: string): void => {
  const problems = [
    ...uniqueNames(content),
    ...differentStarts(content),
    ...content.claims.flatMap((claim, i) => claimProblems(content, claim, `claims[${i}]`)),
    ...controlProblems(content),
    ...apartProblems(content),
    ...Object.keys(content.afterwards.armDefaults).flatMap(arm =>
      armProblem(content, arm, 'afterwards.armDefaults'),
    ),
    ...content.blocks.flatMap(({ arms = [] }, i) =>
      arms.flatMap(arm => armProblem(content, arm, `blocks[${i}].arms`)),
    ),
    ...content.charts.flatMap(({ arms }, i) =>
      arms.flatMap(arm => armProblem(content, arm, `charts[${i}].arms`)),
    ),
    ...content.probes.flatMap((probe, i) =>
      probe.arms.flatMap(arm => [
        ...armProblem(content, arm, `probes[${i}].arms`),
        ...probeProblem(content, arm, `probes[${i}].arms`),
      ]),
    ),
    ...probeUses(content),
  ]
  if (problems.length > 0) throw new ConfigError(problems.map(problem => `${file}: ${problem}`).join('\n'))
}

const repeated = (names: readonly string[]) => names.find((each, i) => names.indexOf(each) !== i)

const uniqueNames = (content: RegistrationContent): string[] => {
  const { starts, claims, arms } = content
  const lists = {
    'seeds of all blocks': allSeeds(content).map(String),
    starts: starts.map(start => start.name),
    claims: claims.map(({ id }) => id),
  }
  const doubled = Object.entries(lists).flatMap(([what, names]) => {
    const twice = repeated(names)
    return twice === undefined
      ? []
      : [`${what}: expected every name once, got ${JSON.stringify(twice)} twice; rename one`]
  })
  const reserved =
    START in arms ? [`arms.${START}: expected another name; this one stands for the cold start`] : []
  return [...doubled, ...reserved]
}

/** Pairs on one cold start under two names would be counted twice. */
const differentStarts = ({ starts }: RegistrationContent): string[] => {
  const contents = starts.map(({ name: _name, ...rest }) => canonicalJson(rest))
  return starts.flatMap(({ name }, i) => {
    const same = contents.indexOf(contents[i])
    if (same === i) return []
    return [
      `starts[${i}]: expected another cold start than ${starts[same].name}, got the same one as ${name}; give it another seed`,
    ]
  })
}

const apartProblems = ({ claims, afterwards: { apart } }: RegistrationContent): string[] => {
  const ids = claims.map(({ id }) => id)
  const twice = repeated(apart.flatMap(own => own.claims))
  const doubled =
    twice === undefined ? [] : [`afterwards.apart: expected every claim once, got ${twice} twice`]
  const unknown = apart.flatMap(({ claims: own }, i) =>
    own
      .filter(id => !ids.includes(id))
      .map(
        id =>
          `afterwards.apart[${i}].claims: expected claims of this file, got ${JSON.stringify(id)}; did you mean ${closest(id, ids) ?? ids[0]}?`,
      ),
  )
  return [...doubled, ...unknown]
}

const armProblem = ({ arms }: RegistrationContent, arm: string, place: string): string[] => {
  if (Object.hasOwn(arms, arm)) return []
  const names = Object.keys(arms)
  return [
    `${place}: expected one of ${names.join(', ')}, got ${JSON.stringify(arm)}; ${meantOr(arm, names, 'add the arm or correct its name')}`,
  ]
}

const probeProblem = ({ arms, recipe }: RegistrationContent, arm: string, place: string): string[] => {
  const own = arms[arm]?.recipe ?? recipe
  if (PROBED_RECIPES.includes(own)) return []
  return [`${place}: expected arms of ${PROBED_RECIPES.join(', ')}, got ${arm} of ${own}; leave it out`]
}

const metricProblem = (choice: MetricChoice, place: string): string[] => {
  try {
    metricNamed(choice, place)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return [error.message]
    throw error
  }
}

const claimProblems = (content: RegistrationContent, claim: Claim, place: string): string[] => {
  const unknown = comparisonsOf(claim).flatMap(({ a, b }) => [
    ...armProblem(content, a, `${place}.arms`),
    ...(b === null || b === START ? [] : armProblem(content, b, `${place}.arms`)),
  ])
  const metric = metricProblem(claim.metric, `${place}.metric`)
  if (metric.length > 0) return [...unknown, ...metric]
  return [...unknown, ...amongProblems(content, claim, place), ...testProblems(content, claim, place)]
}

/** A value that reads several arms' runs has to know all that it is compared for. */
const amongProblems = (content: RegistrationContent, claim: Claim, place: string): string[] => {
  const { metric, options } = metricNamed(claim.metric, `${place}.metric`)
  const among = metric.among?.(options) ?? []
  if (among.length === 0) return []
  const strangers = among.flatMap(arm =>
    arm === START ? [] : armProblem(content, arm, `${place}.metric.among`),
  )
  const missing = armsOf(claim).find(arm => !among.includes(arm))
  const lack =
    missing === undefined
      ? []
      : [`${place}.metric.among: expected every arm of the claim, got ${among.join(', ')}; add ${missing}`]
  return [...strangers, ...lack]
}

/** Whether arms are compared at anything but equal steps. */
const isAtCost = (claim: Claim): boolean => equalsOf(claim).some(equal => equal !== 'steps')

const equalText = ({ equal }: Claim): string => (Array.isArray(equal) ? `[${equal.join(', ')}]` : equal)

/** McNemar's test needs the items of both arms' last evaluation, each right or wrong. */
const itemProblems = ({ test }: RegistrationContent, claim: Claim, place: string): string[] => {
  if (claim.test !== 'mcnemar') return []
  const { metric, options } = metricNamed(claim.metric, place)
  const comparisons = comparisonsOf(claim)
  const isDirected = claim.direction === 'greater' || claim.direction === 'less'
  const checks: [boolean, string][] = [
    [
      !metric.itemwise?.(options) || !isDirected || comparisons.some(({ b }) => b === null),
      'it needs two arms, a direction and a metric that is right or wrong item by item',
    ],
    [comparisons.some(({ b }) => b === START), 'of what an arm started from no items are kept'],
    [
      test.samples > 1,
      `test.samples is ${test.samples}, and the mean of several samples is neither right nor wrong`,
    ],
    [isAtCost(claim), `items are those after equal steps, got equal: ${equalText(claim)}`],
  ]
  return checks.flatMap(([wrong, reason]) =>
    wrong
      ? [`${place}.test: expected sign-flip for metric ${claim.metric.name}, got mcnemar; ${reason}`]
      : [],
  )
}

/** Arms of a trend: at least three, each of them trained. */
const isLadder = ({ arms }: Claim): boolean =>
  Array.isArray(arms) && arms.length >= 3 && !arms.includes(START) && repeated(arms) === undefined

const testProblems = (content: RegistrationContent, claim: Claim, place: string): string[] => {
  const { metric } = metricNamed(claim.metric, place)
  const superiority = claim.direction === 'greater' || claim.direction === 'less'
  const comparisons = comparisonsOf(claim)
  const paired = comparisons.every(({ b }) => b !== null)
  const fromStart = comparisons.some(({ b }) => b === START)
  const untrained = comparisons
    .flatMap(({ a, b }) => (b === null || b === START ? [a] : [a, b]))
    .find(arm => (content.arms[arm]?.steps ?? content.steps) === 0)
  const checks: [boolean, string][] = [
    [
      claim.test === 'share' && (claim.atLeast === undefined || paired || !metric.binary),
      'test: expected a single arm, atLeast and a metric of 0 or 1 with share; add what lacks or take sign-flip',
    ],
    [
      isAtCost(claim) && (!metric.over || !paired || fromStart),
      `equal: expected steps for metric ${claim.metric.name}, got ${equalText(claim)}; only a score of two arms that is evaluated along the run can be compared at equal tokens or in equal time`,
    ],
    [
      isAtCost(claim) && untrained !== undefined,
      `equal: expected steps with the arm ${untrained}, got ${equalText(claim)}; it has no steps, so it generates no tokens at which another could be read`,
    ],
    [
      claim.test === 'trend' && (!isLadder(claim) || !superiority || isAtCost(claim)),
      'test: expected a list of at least three arms, a direction of greater or less and equal: steps with trend; change what differs or take sign-flip',
    ],
    [
      !superiority && claim.smallestEffect === 0,
      `smallestEffect: expected a number above 0 with direction ${claim.direction}, got 0; it is the margin`,
    ],
  ]
  const problems = checks.flatMap(([wrong, message]) => (wrong ? [`${place}.${message}`] : []))
  return [...itemProblems(content, claim, place), ...problems]
}

const controlProblems = (content: RegistrationContent): string[] => {
  const { controls } = content
  const named = CLAIM_CONTROLS.flatMap(kind => {
    const control = controls[kind]
    return 'arm' in control ? armProblem(content, control.arm, `controls.${kind}.arm`) : []
  })
  return [
    ...armProblem(content, controls.of, 'controls.of'),
    ...metricProblem(controls.metric, 'controls.metric'),
    ...named,
  ]
}
