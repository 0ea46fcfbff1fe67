/** @file Every documented key of every recipe, once for each meaning, with the page that it stands on. */

import { knownCriteriaShape, rewardOptionsShape } from '../../dist/recipes/options/options.js'

/** Sections that have the shape of another one, and where that stands: keys of the same words are one row, under the first name. */
const SAME_SHAPE = [
  ['coldStart', ''],
  ['sft', ''],
  ['verifier', ''],
  ['demonstrations', 'task'],
  ['evaluation.sources', 'task.sources'],
  ['task.curriculum.sources[]', 'task.sources[]'],
  ['task.sources[]', 'task'],
  ['group', 'judge'],
  ['groupJudge', 'judge'],
  ['judge.heldOut', 'judge'],
  ['judge.reflections', 'judge'],
  ['judge.score', 'judge.ask'],
  ['judge.generate', 'judge.ask'],
  ['judge.reflect', 'judge.ask'],
  ['critic.learningRate', 'optimizer.learningRate'],
]

/** Pages of settings that several recipes share: their title, and the sections that stand there. */
export const SHARED = {
  run: ['the run', 'recipe seed out steps maxMinutes checkpoint trackers coldStart'],
  model: ['the model', 'model'],
  policy: ['the policy', 'policy'],
  optimizer: ['the optimizer', 'optimizer'],
  updates: [
    'rollouts and updates',
    'rollout advantage loss minibatches epochs pipeline dropZero ratio critic exploration',
  ],
  judge: ['judges', 'judge groupJudge group verifier'],
  rubric: [
    'rubrics and rewards',
    `rules ${Object.keys({ ...rewardOptionsShape, ...knownCriteriaShape }).join(' ')} anchors control reward noise`,
  ],
  scaffold: ['scaffold and memory', 'scaffold memory'],
  evaluation: ['evaluation', 'evaluation'],
  monitors: ['monitors', 'monitors'],
}
/** Of task kinds: what more than one of them has. */
const SEVERAL = 'tasks/several'

/** The task of recipes that have one kind alone, which they do not name. */
const ONLY_TASK = { grpo: 'conversations', 'rubric-as-reward': 'logic' }

/** A condition on the kind of task. */
export const ofTask = /^(?:\S+\.)?task\.kind: /

const isWithin = (path, section) =>
  path === section || path.startsWith(`${section}.`) || path.startsWith(`${section}[`)

/**
 * A path by the name of the section whose shape it has: `coldStart.optimizer.beta1` is `optimizer.beta1`.
 * @param known paths of all recipes: a whole recipe inside another one has keys that are nobody else's
 */
const canonical = (path, known) => {
  const [from, to] = SAME_SHAPE.find(([section]) => isWithin(path, section) && path !== section) ?? []
  if (from === undefined) return path
  const rest = path.slice(from.length)
  // What tells kinds apart is another key in each union.
  if (to !== '') return rest === '.kind' ? path : canonical(to + rest, known)
  return known.has(rest.slice(1)) ? canonical(rest.slice(1), known) : path
}

/** Kinds of task that have a key, by its condition or that of the section or list above it. */
const kindsOf = (recipe, own, keys) => {
  const { path } = own
  const plain = name => name.replaceAll('[]', '')
  for (let at = path; at !== ''; at = at.replace(/(?:^|\.)[^.]*$/, '')) {
    const here = at === path ? [own] : keys.filter(key => plain(key.path) === plain(at))
    const found = here.map(({ only }) => /task\.kind: (.*)$/.exec(only ?? ''))
    if (found.some(match => match !== null)) return found.flatMap(match => match?.[1].split(' or ') ?? [])
  }
  const section = path.startsWith('coldStart.') ? 'coldStart.task.kind' : 'task.kind'
  const all = ONLY_TASK[recipe] ?? keys.find(key => key.path === section).type
  return all.replace('one of ', '').split(', ')
}

const isOfTask = home => home.startsWith('task.') && home !== 'task.kind'

const rowsOf = ({ name, keys }, known) =>
  keys.map(key => {
    const home = canonical(key.path, known)
    const kinds = isOfTask(home) ? kindsOf(name, key, keys) : []
    return { ...key, recipe: name, home, kinds }
  })

/** Of each row what it has in common with those of the same meaning; what a recipe has twice is distinguished by its condition. */
const meanings = rows => {
  const plain = ({ home, about, unit }) => JSON.stringify([home, about, unit])
  const full = row => {
    const { only, kinds } = row
    if (kinds.length === 0) return JSON.stringify([plain(row), /[^.]*$/.exec(only ?? '')[0]])
    return JSON.stringify([plain(row), ofTask.test(only) ? kinds : []])
  }
  const seen = groupBy(rows, row => `${row.recipe} ${row.path} ${plain(row)}`)
  const twice = new Set([...seen.values()].filter(same => same.length > 1).map(([row]) => plain(row)))
  return row => (twice.has(plain(row)) ? full(row) : plain(row))
}

const groupBy = (values, nameOf) => {
  const groups = new Map()
  for (const value of values) groups.set(nameOf(value), [...(groups.get(nameOf(value)) ?? []), value])
  return groups
}

/** In place of a value that is another one in each of several recipes. */
export const BY_RECIPE = 'by recipe'

/** The most frequent, the first of equals. */
const usual = values => {
  const counts = groupBy(values, value => value)
  if (counts.size > 2 && counts.size === values.length) return BY_RECIPE
  return [...counts].reduce((most, next) => (next[1].length > most[1].length ? next : most))[0]
}

const pageOf = rows => {
  const { home, recipe } = rows[0]
  const kinds = new Set(rows.flatMap(row => row.kinds))
  if (kinds.size > 0) return kinds.size > 1 ? SEVERAL : `tasks/${[...kinds][0]}`
  const own = rows.filter(row => row.path === home)
  if (new Set((own.length > 0 ? own : rows).map(row => row.recipe)).size === 1) return recipe
  if (isWithin(home, 'task')) return SEVERAL
  const section = /^[^.[]*/.exec(rows[0].path)[0]
  const shared = Object.keys(SHARED).find(page => SHARED[page][1].split(' ').includes(section))
  if (shared === undefined)
    throw new Error(`${section}: expected a page in SHARED (scripts/settings/keys.js)`)
  return `shared/${shared}`
}

/**
 * All keys of all recipes: those of one meaning together, with the page they stand on and what is usual of them.
 * @param recipes entries by name
 * @param schemaKeys of `src/util/schema-keys.ts`
 */
export const documentedKeys = (recipes, schemaKeys) => {
  const listed = Object.values(recipes).map(({ name, schema }) => ({ name, keys: schemaKeys(schema) }))
  const known = new Set(listed.flatMap(({ keys }) => keys.map(({ path }) => path)))
  const all = listed.flatMap(recipe => rowsOf(recipe, known))
  return [...groupBy(all, meanings(all)).values()].map(rows => {
    // Under the name whose shape the others have, where a recipe has that.
    const own = rows.filter(({ path, home }) => path === home)
    const [first] = own.length > 0 ? own : rows
    // Of each path: the type and the default that most recipes have, and the condition that all have.
    const paths = [...groupBy(rows, ({ path }) => path)].map(([path, same]) => {
      const most = fact => usual(same.map(fact))
      return {
        path,
        type: most(row => row.type),
        usual: most(defaultText),
        only: same.every(row => row.only === same[0].only) ? same[0].only : null,
      }
    })
    paths.sort((a, b) => Number(b.path === first.path) - Number(a.path === first.path))
    return { ...first, rows, page: pageOf([first, ...rows]), paths }
  })
}

/** A default as a file would have it on one line, `required` where there must be a value. */
export const defaultText = ({ default: value, required }) => {
  if (value === undefined) return required ? 'required' : ''
  return typeof value === 'string' && value !== 'required' ? value : JSON.stringify(value)
}
