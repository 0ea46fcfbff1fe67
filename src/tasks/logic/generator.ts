/** @file Seeded logic problems in ProntoQA's style, with formulas, label and gold proof; fast enough to make on the fly. */

import type { LogicLabel } from '../../grade/logic/problem.ts'
import { ConfigError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import type { LogicTaskExample } from './example.ts'
import {
  chainPlan,
  drawIndex,
  familiesOf,
  mostTreeKinds,
  type ProblemPlan,
  straysOf,
  treePlan,
} from './plan.ts'
import {
  type HopWeights,
  KINDS,
  type LogicGeneratorOptions,
  MAX_HOPS,
  type OwnDefault,
  type SettledOptions,
} from './problem-shape.ts'
import {
  isaRule,
  kindFact,
  propertyFact,
  propertyRule,
  type RuleTemplate,
  type Sentence,
} from './sentences.ts'
import { INDIVIDUALS } from './vocabulary.ts'

export {
  type HopWeights,
  KINDS,
  LOGIC_STYLES,
  type LogicGeneratorOptions,
  type LogicStyle,
  MAX_HOPS,
} from './problem-shape.ts'

/** Hops up to which ten kinds suffice, those of the real rows. */
export const TEN_KINDS_HOPS = 5

const CUE_FREE = {
  distractors: 'connected',
  order: 'shuffled',
  negation: { gold: 0.5, other: 0.5 },
} as const

const STYLES = {
  // Measured on the 200 real rows: 80 of 200 settling rules and 403 of 1,329 others are negated.
  real: { distractors: 'off-chain', order: 'root-to-leaf', negation: { gold: 0.4, other: 0.303 } },
  'shortcut-free': CUE_FREE,
  varied: CUE_FREE,
} as const

/** Kinds above the settling one and beside the path, as far as there are enough of them. */
const VARIED = { above: 4, sideKinds: 8 } as const

/** What `varied` has beyond `shortcut-free`. */
const variedShape = (hops: number, kinds = KINDS.most): Pick<LogicGeneratorOptions, 'kinds' | OwnDefault> => {
  const least = straysOf(4, false) + 1
  const above = Math.max(1, Math.min(VARIED.above, kinds - hops - least))
  const sideKinds = Math.max(1, Math.min(VARIED.sideKinds, kinds - hops - above))
  return { kinds, above: [1, above], sideKinds: [1, sideKinds] }
}

const defined = (options: LogicGeneratorOptions): LogicGeneratorOptions =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))

/** The options with everything filled in that is not drawn. */
export const settleLogicOptions = (options: LogicGeneratorOptions): SettledOptions => {
  const { style = 'real', hops = 5 } = options
  const kinds = longestOf(hops) > TEN_KINDS_HOPS ? KINDS.most : KINDS.least
  const shape = style === 'varied' ? variedShape(longestOf(hops), options.kinds) : {}
  return { labels: 'two-way', kinds, ...STYLES[style], ...shape, ...defined(options), hops, style }
}

const hopCounts = (hops: number | HopWeights): number[] =>
  typeof hops === 'number' ? [hops] : Object.keys(hops).map(Number)

/** The longest proof among the hops, in hops. */
export const longestOf = (hops: number | HopWeights): number => Math.max(...hopCounts(hops))

const checkHops = (hops: number | HopWeights) => {
  const counts = hopCounts(hops)
  const bad = counts.find(count => !Number.isInteger(count) || count < 1 || count > MAX_HOPS)
  if (counts.length === 0 || bad !== undefined) {
    throw new ConfigError(`logic generator: hops: expected 1 to ${MAX_HOPS}, got ${bad ?? 'none'}`)
  }
  if (typeof hops !== 'number' && !Object.values(hops).every(w => w >= 0 && Number.isFinite(w))) {
    throw new ConfigError('logic generator: hops: expected weights of at least 0')
  }
}

const isRange = ([min, max]: readonly [number, number], least: number, most: number) =>
  Number.isInteger(min) && Number.isInteger(max) && min >= least && max >= min && max <= most

const check = (settled: SettledOptions) => {
  checkHops(settled.hops)
  const { kinds, distractors, nodes } = settled
  if (!Number.isInteger(kinds) || kinds < KINDS.least || kinds > KINDS.most)
    throw new ConfigError(`logic generator: kinds: expected ${KINDS.least} to ${KINDS.most}, got ${kinds}`)
  if (distractors === 'connected') checkTree(settled)
  else checkChain(settled)
  if (nodes && distractors === 'connected')
    throw new ConfigError('logic generator: nodes: has no effect with connected distractors', {
      hint: 'leave nodes out',
    })
}

/** Extra kinds that the real rows' chains have at most, beyond the necessary one a hop and one. */
const MOST_EXTRA = 3

const TREE_OPTIONS = ['mentions', 'sideKinds', 'above'] as const

const checkChain = (settled: SettledOptions) => {
  const { hops, nodes, kinds } = settled
  const name = TREE_OPTIONS.find(option => settled[option] !== undefined)
  if (name !== undefined) {
    throw new ConfigError(`logic generator: ${name}: has no effect without connected distractors`, {
      hint: 'set distractors to connected; distractors none mentions the queried adjective once, off-chain twice',
    })
  }
  const least = longestOf(hops) + 1
  const most = Math.min(kinds - 1, familiesOf(kinds).length + 1)
  if (nodes && !isRange(nodes, least, most))
    throw new ConfigError(
      `logic generator: nodes: expected [min, max] within ${least} to ${most}, got [${nodes}]`,
      { hint: 'a proof of h hops needs h + 1 kinds, and one kind stays off the chain' },
    )
  if (!nodes && least + MOST_EXTRA > most) refuseKinds(kinds, hops, least + MOST_EXTRA + 1)
}

/** Mentions of the queried adjective that a tree may have. */
export const mentionsOf = ({ mentions }: Pick<LogicGeneratorOptions, 'mentions'>): readonly number[] =>
  mentions === undefined ? [2, 4] : [mentions]

const checkTree = (settled: SettledOptions) => {
  const { hops, kinds, sideKinds, above } = settled
  const most = Math.max(
    ...hopCounts(hops).flatMap(count =>
      mentionsOf(settled).map(mentions => mostTreeKinds(count, mentions, settled)),
    ),
  )
  for (const [name, range] of Object.entries({ sideKinds, above }))
    if (range && !isRange(range, 1, kinds))
      throw new ConfigError(
        `logic generator: ${name}: expected [min, max] within 1 to ${kinds}, got [${range}]`,
      )
  if (most > kinds) refuseKinds(kinds, hops, most)
}

const refuseKinds = (kinds: number, hops: SettledOptions['hops'], needed: number): never => {
  throw new ConfigError(
    `logic generator: kinds: expected at least ${needed} for ${longestOf(hops)} hops, got ${kinds}`,
    {
      hint: `leave kinds out, or ask for fewer hops or kinds on the chain and beside it (at most ${KINDS.most} in all)`,
    },
  )
}

const drawHops = (rng: Rng, hops: number | HopWeights): number => {
  if (typeof hops === 'number') return hops
  // Where no weight is above 0, the last.
  return hopCounts(hops).at(drawIndex(rng, Object.values(hops)))!
}

// Half plural, a quarter each and every, as in the real rows.
const TEMPLATES: readonly RuleTemplate[] = ['plural', 'plural', 'each', 'every']

interface Worded {
  premises: Sentence[]
  proof: Sentence[]
}

/** Words the rules (each with a template of its own), orders them, and writes the gold proof from the same wordings. */
const word = (rng: Rng, plan: ProblemPlan, name: string, order: SettledOptions['order']): Worded => {
  const isa = new Map<string, Sentence>()
  const property = new Map<string, Sentence>()
  for (const [noun, kind] of plan.parents) isa.set(noun, isaRule(rng.pick(TEMPLATES), noun, kind))
  for (const { noun, adjective, negated } of plan.properties) {
    property.set(noun, propertyRule(rng.pick(TEMPLATES), noun, adjective, negated))
  }
  const premises: Sentence[] = []
  for (const noun of plan.nouns) {
    const own = property.get(noun)
    if (own) premises.push(own)
    const up = isa.get(noun)
    if (up) premises.push(up)
  }
  for (const { noun, adjective, negated } of plan.strays) {
    const stray = propertyRule(rng.pick(TEMPLATES), noun, adjective, negated)
    premises.splice(rng.int(premises.length + 1), 0, stray)
  }
  const fact = kindFact(name, plan.path[0])
  premises.push(fact)
  const last = plan.target ?? plan.path.length - 1
  const proof = [fact]
  for (let i = 0; i < last; i++) proof.push(isa.get(plan.path[i])!, kindFact(name, plan.path[i + 1]))
  if (plan.target !== null) {
    const gold = plan.properties.find(({ noun }) => noun === plan.path[last])!
    proof.push(property.get(gold.noun)!, propertyFact(name, gold.adjective, gold.negated))
  }
  return { premises: order === 'shuffled' ? rng.shuffle(premises) : premises, proof }
}

const QUESTIONS = {
  'two-way': 'Is the following statement true or false?',
  'three-way': 'Is the following statement true, false, or unknown?',
} as const

const LABELS: Record<'two-way' | 'three-way', readonly LogicLabel[]> = {
  'two-way': ['True', 'False'],
  'three-way': ['True', 'False', 'Unknown'],
}

const draw = (rng: Rng, settled: SettledOptions, id: string): LogicTaskExample => {
  const hops = drawHops(rng, settled.hops)
  const planOptions = { ...settled, hops, label: rng.pick(LABELS[settled.labels]) }
  const plan = (settled.distractors === 'connected' ? treePlan : chainPlan)(rng, planOptions)
  const name = rng.pick(INDIVIDUALS)
  const { premises, proof } = word(rng, plan, name, settled.order)
  const conclusion = propertyFact(name, plan.query.adjective, plan.query.negated)
  const texts = premises.map(sentence => sentence.text)
  return {
    id,
    premises: texts,
    premisesFol: premises.map(sentence => sentence.fol),
    conclusion: conclusion.text,
    conclusionFol: conclusion.fol,
    label: plan.label,
    hops: plan.target === null ? plan.path.length - 1 : hops,
    proof: proof.map(sentence => sentence.text),
    source: `generated:${settled.style}`,
    context: texts.join(' '),
    question: `${QUESTIONS[settled.labels]} ${conclusion.text}`,
  }
}

/** Options other than the style's own, for ids: ` (hops 2, labels three-way)`; nothing where there are none. */
const otherOptions = (settled: SettledOptions): string => {
  const usual: Readonly<Record<string, unknown>> = settleLogicOptions({ style: settled.style })
  const others = Object.entries(settled)
    .map(([name, value]) => [name, JSON.stringify(value)])
    .filter(([name, value]) => value !== JSON.stringify(usual[name]))
    .map(([name, value]) => `${name} ${value.replaceAll('"', '')}`)
  return others.length > 0 ? ` (${others.sort().join(', ')})` : ''
}

/**
 * A function from index to problem: problem i depends on seed, options and i alone, so a run can go on anywhere.
 *
 * The gold proof is the fact, then rule and consequence in turns. For Unknown, whose adjective no rule on the individual's
 * way up mentions, it derives every kind of the individual up to the last (hops then counts those derivations): each step is
 * entailed, and after the last one no rule is left to apply. An Unknown proof is complete when it has exhausted the chain.
 *
 * The id names style, seed, index, and every other option that is not the style's own: equal ids are equal problems.
 *
 * Formulas and sentences are shared between problems: read only.
 * @throws ConfigError for hops outside 1 to 16, and for nodes or kinds that cannot hold them.
 */
export const logicGenerator = (
  options: LogicGeneratorOptions,
  seed: number | string,
): ((index: number) => LogicTaskExample) => {
  const settled = settleLogicOptions(options)
  check(settled)
  const others = otherOptions(settled)
  return index =>
    draw(new Rng(`logic/${seed}/${index}`), settled, `${settled.style}-${seed}-${index}${others}`)
}

/**
 * The first `count` problems of `logicGenerator(options, seed)`.
 * @example
 * generateLogicProblems(2, { hops: 3 }, 'seed').length // 2
 */
export const generateLogicProblems = (
  count: number,
  options: LogicGeneratorOptions,
  seed: number | string,
): LogicTaskExample[] => {
  const problem = logicGenerator(options, seed)
  return Array.from({ length: count }, (_, index) => problem(index))
}
