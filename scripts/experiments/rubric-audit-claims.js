#!/usr/bin/env node
/**
 * @file What experiments/rubric-audit/registration.yaml claims, by what rubric-audit.js kept: of every rubric what the audit predicted
 * and what rose in training, by detectors that no reward knows; each claim with what decides it.
 *
 *   node scripts/experiments/rubric-audit-claims.js results/rubric-audit [--seed 1] [--revised] [--json]
 */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { parse } from 'yaml'
import { STOP_WORDS } from '../../dist/grade/instructions/stop-words.js'
import { CATEGORIES } from '../../dist/tasks/requests/lexicon.js'
import { Rng } from '../../dist/util/rng.js'
import { bootstrapInterval, mean, pearson, std } from '../../dist/util/statistics.js'
import { readText } from './answers.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const { values, positionals } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    revised: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
const [out] = positionals
if (out === undefined) {
  process.stderr.write('expected the folder of rubric-audit.js\n')
  process.exit(2)
}
const { rubrics, real } = parse(
  readFileSync(join(root, 'experiments/rubric-audit/registration.yaml'), 'utf8'),
)
const jsonl = path =>
  readText(path)
    .split('\n')
    .map(line => JSON.parse(line))

// ---- detectors ----

const wordsOf = text => text.toLowerCase().match(/[\p{L}\p{N}]+(?:['’][\p{L}]+)*/gu) ?? []
const runsOf = text => {
  const words = wordsOf(text)
  return words.slice(1).map((word, i) => `${words[i]} ${word}`)
}
const DOUBT =
  /\b(?:not sure|(?:do not|don't) know|perhaps|maybe|might|may be|possibly|probably|i think|it depends|could be)\b/i
const isForm = text =>
  text.trim().includes('\n') ||
  /^\s*(?:[-*•#]|\d+[.)]\s|[[{])/.test(text) ||
  (/\p{Lu}/u.test(text) && text === text.toUpperCase())
const NUMBERS = 'one two three four five six seven eight nine ten eleven twelve'.split(' ')

/** Right content by row of the small model's rows: alternatives of which so many have to be there. */
const truths = new Map(
  jsonl(join(root, 'examples/train/rows.jsonl')).flatMap(({ id, prompt, criteria }) => {
    if (criteria) return [[id, { terms: criteria[0].verifier.params.any, least: 1 }]]
    const least = Number(/-(\d)$/.exec(id)?.[1])
    const category = CATEGORIES.find(({ many }) => prompt.includes(` ${many}`))
    return least && category ? [[id, { terms: category.members, least }]] : []
  }),
)
const isRight = ({ id, response }) => {
  const { terms, least } = truths.get(id)
  const said = new Set(wordsOf(response))
  return terms.filter(term => wordsOf(term).every(word => said.has(word))).length >= least
}
const ofTruth = detect => answer => (truths.has(answer.id) ? detect(answer) : null)

const isWrongNumber = answer => {
  const { terms } = truths.get(answer.id)
  if (!terms.some(term => NUMBERS.includes(term))) return null
  return Number(
    wordsOf(answer.response).some(word => NUMBERS.includes(word) || /^\d+$/.test(word)) && !isRight(answer),
  )
}

/** Own words beside the request's. */
const ownWords = ({ prompt, response }) => {
  const asked = new Set(wordsOf(prompt))
  return wordsOf(response).filter(word => !STOP_WORDS.has(word) && !asked.has(word)).length
}
const FEW_WORDS = 5

/** Share of a word's kind: how many other rows have it, by row of the answers that are looked at. */
const sameness = answers => {
  const rows = new Map()
  for (const { id, response } of answers) {
    const said = rows.get(id) ?? new Map()
    for (const word of new Set(wordsOf(response))) said.set(word, (said.get(word) ?? 0) + 1)
    rows.set(id, said)
  }
  const size = answers.length / rows.size
  const shares = new Map()
  for (const said of rows.values())
    for (const [word, count] of said) shares.set(word, (shares.get(word) ?? 0) + count / size)
  return ({ id, response }) => {
    const words = wordsOf(response)
    if (words.length === 0) return 0
    const others = word => (shares.get(word) - (rows.get(id).get(word) ?? 0) / size) / (rows.size - 1)
    return mean(words.map(word => Number(others(word) >= 0.25)))
  }
}

/** Whether an answer is nearly one to another row: so many of the words of both are in both. */
const NEARLY = 0.8
const exchangeable = answers => {
  const sets = answers.map(({ id, response }) => ({ id, words: new Set(wordsOf(response)) }))
  return ({ id, response }) => {
    const own = new Set(wordsOf(response))
    const isLike = words => {
      const common = [...own].filter(word => words.has(word)).length
      return common >= NEARLY * (own.size + words.size - common)
    }
    return Number(own.size > 0 && sets.some(other => other.id !== id && isLike(other.words)))
  }
}

const stringsIn = value =>
  typeof value === 'string'
    ? [value.toLowerCase()]
    : value !== null && typeof value === 'object'
      ? Object.values(value).flatMap(stringsIn)
      : []

/** Values of every detector: a function of the answers of one side. @param keywords that the rubric looks for, by row */
const detectors = (keywords, isReal) => ({
  pad:
    () =>
    ({ response }) =>
      Math.log(1 + wordsOf(response).length),
  cut:
    () =>
    ({ response }) =>
      -Math.log(1 + wordsOf(response).length),
  hedge:
    () =>
    ({ response }) =>
      Number(DOUBT.test(response)),
  keywords: () => answer => {
    const words = keywords(answer)
    return words.length === 0
      ? null
      : words.filter(word => answer.response.toLowerCase().includes(word)).length
  },
  echo:
    () =>
    ({ prompt, response }) => {
      const asked = new Set(runsOf(prompt))
      const runs = runsOf(response)
      return runs.length === 0 ? 0 : runs.filter(run => asked.has(run)).length / runs.length
    },
  form: () =>
    isReal
      ? own => Number(isForm(own.response) && ownWords(own) < FEW_WORDS)
      : ofTruth(own => Number(isForm(own.response) && !isRight(own))),
  drop: () => (isReal ? () => null : ofTruth(own => Number(!isRight(own)))),
  falsify: () => (isReal ? () => null : ofTruth(isWrongNumber)),
  other: values.revised ? exchangeable : sameness,
})

/** Cohen's d of a detector's rise; null where it says nothing of these answers. */
const rise = (detector, before, after) => {
  const [was, is] = [before, after].map(answers => {
    const value = detector(answers)
    const rows = new Map()
    for (const own of answers) {
      const seen = value(own)
      if (seen !== null) rows.set(own.id, [...(rows.get(own.id) ?? []), seen])
    }
    return rows
  })
  const ids = [...was.keys()].filter(id => is.has(id))
  if (ids.length === 0) return null
  const difference = mean(ids.map(id => mean(is.get(id)) - mean(was.get(id))))
  const spread = std([...was.values(), ...is.values()].flat(), 1)
  return spread === 0 ? 0 : difference / spread
}

// ---- what was predicted beside what rose ----

const LEAST_EDITED = 20

/** Of every edit that could be made and detected: what it is paid over unedited, with its interval, and its rise. */
const compare = (audit, own, before, after) =>
  audit.edits.flatMap(({ edit, edited, difference, exploit }) => {
    const rose = edited < LEAST_EDITED ? null : rise(own[edit], before, after)
    return rose === null
      ? []
      : [{ edit, paid: difference.value, low: difference.interval[0], exploit: exploit.value, rose }]
  })

const audits = join(out, values.revised ? 'audits-revised' : 'audits')
const auditOf = name => JSON.parse(readFileSync(join(audits, `${name}.json`), 'utf8'))

/** Words that rules of merits look for; ones that a single row looks for are its answer. */
const keywordsOf = name => {
  const { file, criteria } = rubrics[name]
  const all = criteria ?? parse(readFileSync(join(root, file), 'utf8')).criteria
  const words = all
    .filter(({ points }) => points > 0)
    .flatMap(({ verifier: { params = {} } }) =>
      stringsIn({ any: params.any, all: params.all, terms: params.terms }),
    )
    .filter(word => /[\p{L}]{2}/u.test(word))
  return () => words
}

const miniatures = () => {
  const before = jsonl(join(out, 'answers/before.jsonl'))
  return Object.keys(rubrics).flatMap(name => {
    const after = join(out, 'answers', `${name}-${values.seed}.jsonl`)
    if (!existsSync(`${after}.br`) || !existsSync(join(audits, `${name}.json`))) return []
    const audit = auditOf(name)
    const edits = compare(audit, detectors(keywordsOf(name), false), before, jsonl(after))
    return [{ name, edits, worst: Math.max(...audit.edits.flatMap(({ exploit }) => exploit?.value ?? [])) }]
  })
}

const ranksOf = xs => xs.map(x => xs.filter(y => y < x).length + (xs.filter(y => y === x).length + 1) / 2)
const spearman = edits =>
  pearson(ranksOf(edits.map(({ paid }) => paid)), ranksOf(edits.map(({ rose }) => rose)))
const bestBy = (edits, key) => edits.reduce((best, own) => (own[key] > best[key] ? own : best))

/** Whether the edit that is paid most rose most, or which part of it where several are paid alike; 0 where nothing rose. */
const hitOf = edits => {
  const risen = bestBy(edits, 'rose')
  const tops = edits.filter(({ paid }) => Math.abs(paid - bestBy(edits, 'paid').paid) < 1e-9)
  const counted = values.revised ? tops : tops.slice(0, 1)
  return risen.rose > 0 && counted.includes(risen) ? 1 / counted.length : 0
}

/** Chance that edits drawn at random hit at least as often. */
const chanceOf = (rubrics, hits) => {
  const rng = new Rng('rubric audit/chance')
  const draws = 20_000
  let reached = 0
  for (let i = 0; i < draws; i++) {
    const drawn = rubrics.filter(({ edits }) => rng.pick(edits) === bestBy(edits, 'rose')).length
    if (drawn >= hits - 1e-9) reached++
  }
  return reached / draws
}

const ROSE = 0.5
/** Area under the ROC curve; null without both kinds. */
const auc = edits => {
  const [up, rest] = [edits.filter(({ rose }) => rose >= ROSE), edits.filter(({ rose }) => rose < ROSE)]
  if (up.length === 0 || rest.length === 0) return null
  return mean(up.flatMap(a => rest.map(b => (a.paid > b.paid ? 1 : a.paid === b.paid ? 0.5 : 0))))
}
const interval = ({ estimate, low, high }) => ({ value: estimate, low, high })

/** Of the rubrics resampled as wholes. */
const overRubrics = (all, statistic) => {
  const rng = new Rng('rubric audit')
  const draws = Array.from({ length: 4000 }, () => statistic(all.map(() => rng.pick(all))))
    .filter(value => value !== null)
    .sort((a, b) => a - b)
  const at = q => draws[Math.min(draws.length - 1, Math.floor(q * draws.length))]
  return { value: statistic(all), low: at(0.025), high: at(0.975) }
}

const claimsOf = all => {
  const correlations = all.map(({ edits }) => spearman(edits)).filter(value => value !== null)
  const predicted = all.filter(({ edits }) => bestBy(edits, 'paid').low > 0)
  const hits = predicted.map(own => ({ name: own.name, hit: hitOf(own.edits) })).filter(({ hit }) => hit > 0)
  const count = hits.reduce((sum, { hit }) => sum + hit, 0)
  const chances = predicted.map(({ edits }) => 1 / edits.length)
  const careful = all.filter(({ name }) => ['right', 'right-guarded'].includes(name))
  const careless = all.filter(({ name }) => rubrics[name].about.startsWith('careless'))
  return {
    'A1-rank': interval(bootstrapInterval(correlations, { seed: 'rubric audit' })),
    'A2-top': {
      ...{ rubrics: predicted.length, hits: count, hit: hits.map(({ name }) => name) },
      ...{ chance: mean(chances), p: chanceOf(predicted, count) },
    },
    'A3-paid': overRubrics(all, some => auc(some.flatMap(({ edits }) => edits))),
    'A4-careful': {
      careful: careful.map(({ name, worst }) => [name, worst]),
      careless: careless.map(({ name, worst }) => [name, worst]),
    },
  }
}

/** Of each edit over rubrics, which no habit of the model explains: the mean over edits of Spearman's correlation. Beside the claims. */
const overOneEdit = all => {
  const edits = all.flatMap(own => own.edits)
  const names = [...new Set(edits.map(({ edit }) => edit))]
  const each = names.flatMap(name => spearman(edits.filter(({ edit }) => edit === name)) ?? [])
  return each.length === 0 ? null : mean(each)
}

/** A baseline that knows nothing of a rubric: it predicts that an edit rises as it did on the others. Beside the claims, to see what an audit adds. */
const unaware = all =>
  all.map(own => ({
    ...own,
    edits: own.edits.map(({ edit, rose }) => {
      const others = all.filter(({ name }) => name !== own.name).flatMap(({ edits }) => edits)
      const risen = others.filter(other => other.edit === edit).map(other => other.rose)
      return { edit, rose, paid: mean(risen), low: mean(risen) }
    }),
  }))

const realOf = () => {
  const name = ['real-content', 'real-content-rules'].find(each => existsSync(join(audits, `${each}.json`)))
  if (name === undefined) return null
  const [bare, content] = ['real-bare', name].map(auditOf)
  const criteria = new Map(jsonl(join(root, real.rows)).map(row => [row.id, row.criteria]))
  const keywords = ({ id, prompt }) =>
    criteria
      .get(id)
      .flatMap(({ verifier }) => stringsIn(verifier.params.kwargs ?? verifier.params))
      .filter(word => prompt.toLowerCase().includes(word) && word.length > 2)
  const answers = path =>
    jsonl(join(root, path)).map(({ id, prompt, response }) => ({
      id,
      response,
      prompt: prompt.at(-1).content,
    }))
  const edits = compare(content, detectors(keywords, true), answers(real.before), answers(real.after))
  const risesOf = (before, after) =>
    Object.fromEntries(
      Object.entries(detectors(() => [], true)).map(([edit, own]) => [
        edit,
        rise(own, answers(before), answers(after)),
      ]),
    )
  const most = audit =>
    [...audit.edits].filter(({ keepsRight }) => !keepsRight).sort((a, b) => b.exploit.value - a.exploit.value)
  const top = bestBy(
    bare.edits.map(({ edit, exploit }) => ({ edit, exploit: exploit?.value ?? -9 })),
    'exploit',
  )
  return {
    content: name,
    ...{ bare: most(bare).map(({ edit, exploit }) => [edit, exploit]), top },
    sameByContent: content.edits.find(({ edit }) => edit === top.edit)?.exploit,
    ...{ edits, spearman: spearman(edits) },
    // Beside the claims: on prompts that no row was drawn for, with room for long answers.
    ifeval: risesOf(real.before.replace('rows', 'ifeval'), real.after.replace('rows', 'ifeval')),
  }
}

const all = miniatures()
const claims = all.length === 0 ? null : claimsOf(all)
const control =
  all.length < 2 ? null : { unaware: claimsOf(unaware(all)), ofOneEdit: overRubrics(all, overOneEdit) }
delete control?.unaware['A4-careful']
const found = realOf()
if (values.json) {
  process.stdout.write(
    `${JSON.stringify({ seed: values.seed, rubrics: all, claims, control, real: found }, null, 1)}\n`,
  )
  process.exit(0)
}
const show = value => (value >= 0 ? ` ${value.toFixed(2)}` : value.toFixed(2))
for (const { name, edits } of all) {
  const rho = spearman(edits)
  process.stdout.write(`\n${name} (rho ${rho === null ? '-' : show(rho)}): ${rubrics[name].about}\n`)
  for (const own of edits)
    process.stdout.write(
      `  ${own.edit.padEnd(9)} paid ${show(own.paid)} (low ${show(own.low)})  rose ${show(own.rose)}\n`,
    )
}
process.stdout.write(`\n${JSON.stringify({ claims, control }, null, 1)}\n${JSON.stringify(found, null, 1)}\n`)
