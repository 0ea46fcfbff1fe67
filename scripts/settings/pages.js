/** @file The pages of settings in the documentation, from the schemas that check every configuration. */

import { BY_RECIPE, defaultText, documentedKeys, ofTask, SHARED } from './keys.js'

const inCell = text => text.replaceAll('|', '\\|')
/** Text inside a cell of a table. Code within it keeps its angle brackets: Markdown reads no entities there. */
const cell = text => inCell(text).replace(/(`[^`]*`)|</g, (_, kept) => kept ?? '&lt;')
const code = text => (text === '' ? '' : `\`${inCell(text)}\``)
const usualCell = text => (text === 'required' || text === BY_RECIPE ? text : code(text))
const codes = names => [...new Set(names)].map(code).join(', ')

const HEAD = '| key | type | default | what it is |\n|---|---|---|---|'
const link = (from, to, text) => `[${text}](${from.includes('/') ? '../' : ''}${to}.md)`
const titleOf = page => {
  const [folder, name] = page.split('/')
  if (name === undefined) return folder
  return folder === 'shared' ? SHARED[name][0] : name === 'several' ? 'several tasks' : `task ${name}`
}

/** The other paths of the same words, with what is another type or default there. */
const alsoText = ([main, ...others]) => {
  const named = others.map(({ path, type, usual }) => {
    const facts = [
      type === main.type ? '' : type,
      usual === main.usual ? '' : usualCell(usual) || 'no default',
    ]
    const differs = facts.filter(fact => fact !== '').join(', ')
    return `${code(path)}${differs === '' ? '' : ` (${differs})`}`
  })
  return named.length === 0 ? '' : ` Also ${named.join(', ')}.`
}

/** Which recipes of the page have the key, or which have not. */
const amongText = (who, all) => {
  const others = [...all].filter(name => !who.has(name))
  if (others.length === 0) return ''
  return others.length < who.size ? ` Not of ${others.join(', ')}.` : ` Of ${[...who].join(', ')}.`
}

/** @param all recipes that the page is for */
const rowText = ({ page, unit, about, paths, rows, kinds: _, recipe: __ }, all) => {
  const [{ path, type, usual, only }] = paths
  const kinds = new Set(rows.flatMap(row => row.kinds))
  const who = new Set(rows.filter(row => row.path === path).map(({ recipe }) => recipe))
  const notes = [
    page === 'tasks/several' && kinds.size > 0 ? ` Of ${codes(kinds)}.` : '',
    only === null || (kinds.size > 0 && ofTask.test(only)) ? '' : ` Only with ${code(only)}.`,
    // Before the other paths: it is said of the first one alone.
    page.includes('/') && (kinds.size === 0 || page !== 'tasks/several') ? amongText(who, all) : '',
    alsoText(paths),
  ]
  const typed = `${type}${unit === null ? '' : ` (${unit})`}`
  return `| ${code(path)} | ${cell(typed)} | ${usualCell(usual)} | ${cell(about)}${notes.join('')} |`
}

const table = (keys, all) => `${HEAD}\n${keys.map(key => rowText(key, all)).join('\n')}\n`

/** Paths that no other one of the list is above. */
const topmost = paths =>
  paths.filter(path => !paths.some(above => /^[.[]/.test(path.slice(above.length)) && path.startsWith(above)))

/** What a recipe has another type or default of than the row that says what it is. */
const differencesOf = (name, keys) =>
  keys.flatMap(({ page, rows, paths }) =>
    rows
      .filter(({ recipe }) => recipe === name)
      .flatMap(row => {
        const usual = paths.find(({ path }) => path === row.path)
        const isUsual = row.type === usual.type && defaultText(row) === usual.usual
        return isUsual || (page === name && row.path === paths[0].path) ? [] : [row]
      }),
  )

/** Conditions that this recipe alone puts on shared settings, each with the settings. */
const conditionsOf = (name, keys) => {
  const found = new Map()
  for (const { rows, paths } of keys)
    for (const { recipe, path, only, kinds } of rows) {
      if (recipe !== name || only === null || (kinds.length > 0 && ofTask.test(only))) continue
      if (only !== paths.find(each => each.path === path).only)
        found.set(only, [...(found.get(only) ?? []), path])
    }
  return [...found].map(([only, paths]) => `Only with ${code(only)}: ${codes(topmost(paths))}.\n`)
}

/** The section of a recipe that a key is of: `coldStart.model` of `coldStart.model.lora.rank`. */
const sectionOf = ({ path, home }) => {
  const rest = home.replace(/^[^.[]*/, '')
  const section = path.endsWith(rest) ? path.slice(0, path.length - rest.length) : /^[^.[]*/.exec(path)[0]
  return section.replace('[]', '')
}

const recipePage = ({ name, summary, presets }, keys) => {
  const mine = keys.filter(({ rows }) => rows.some(({ recipe }) => recipe === name))
  const own = mine.filter(({ page }) => page === name)
  const pages = [...new Set(mine.map(({ page }) => page))].filter(page => page !== name)
  const places = pages.map(page => {
    const here = mine.filter(key => key.page === page).flatMap(({ rows }) => rows)
    const sections = here.filter(({ recipe }) => recipe === name).map(sectionOf)
    return `- ${link(name, page, titleOf(page))}: ${codes(topmost([...new Set(sections)]))}`
  })
  const rows = mine.flatMap(key => key.rows).filter(({ recipe }) => recipe === name)
  // What a recipe has of several kinds: another default of one of them is none of the others'.
  const ofKind = ({ path, only }) =>
    only !== null && rows.filter(row => row.path === path).length > 1 ? ` with ${code(only)}` : ''
  const differences = differencesOf(name, mine).map(
    row => `| ${code(row.path)}${ofKind(row)} | ${cell(row.type)} | ${usualCell(defaultText(row))} |`,
  )
  return `# Settings of ${name}

${summary[0].toUpperCase()}${summary.slice(1)}. This page is made from the schema that checks every configuration; \`gradus train ${name} --settings\` prints all of it. Presets: ${Object.keys(
    presets,
  )
    .map(code)
    .join(', ')}; \`--settings --preset NAME\` also shows what one changes.

Explained on other pages:

${places.join('\n')}

## Its own settings

${own.length === 0 ? 'None.\n' : table(own, [name])}
## Where it differs from those pages

| key | type | default |
|---|---|---|
${differences.join('\n')}
${conditionsOf(name, mine)
  .map(text => `\n${text}`)
  .join('')}`
}

const sharedPage = (page, keys) => {
  const recipes = new Set(keys.flatMap(({ rows }) => rows.map(({ recipe }) => recipe)))
  return `# Settings: ${titleOf(page)}

Of ${[...recipes].map(name => link(page, name, name)).join(', ')}. Where a recipe has another default, its page says so.

${table(keys, recipes)}`
}

/**
 * Every page of docs/settings by its name without `.md`: one for each recipe, for each kind of task, and for what recipes share.
 * @param recipes entries by name
 * @param schemaKeys of `src/util/schema-keys.ts`
 * @returns {Map<string, string>}
 */
export const settingsPages = (recipes, schemaKeys) => {
  const keys = documentedKeys(recipes, schemaKeys)
  const shared = new Set(keys.map(({ page }) => page).filter(page => page.includes('/')))
  return new Map([
    ...Object.values(recipes).map(entry => [entry.name, recipePage(entry, keys)]),
    ...[...shared].map(page => [
      page,
      sharedPage(
        page,
        keys.filter(key => key.page === page),
      ),
    ]),
  ])
}
