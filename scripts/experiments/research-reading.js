/**
 * @file Reads attempts at questions of two steps over paragraphs as somebody does who sees the question, what the agent wrote, and what
 * its searches brought, and who knows no right answer. `research-criteria.js` decides by it.
 */

/** Words that begin a question or a sentence, and the letter that stands for what is left out. */
const NO_NAMES =
  /^(?:In|Who|Which|What|Where|The|A|An|It|He|She|They|His|Her|Its|X|Open|Search|Find|Compare|First|Second|Then|Both|And|Of|As|At|On|After|While|With|For|From)$/
const NAME = /[\p{Lu}\d][\p{L}\d'’.&!-]*(?: (?:(?:of|the|de|van|dos) )?[\p{Lu}\d][\p{L}\d'’.&!-]*)*/gu
export const plain = text =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
export const bare = title => title.replace(/ \([^)]*\)$/, '')
export const has = (text, part) => plain(part) !== '' && ` ${plain(text)} `.includes(` ${plain(part)} `)
export const years = text => text.match(/\b1[0-9]\d\d\b|\b20\d\d\b/g) ?? []
const STOP = new Set(
  'a an the of in on and or is was were to by for with from at as that which who what x it its his her'.split(
    ' ',
  ),
)
const wordsOf = text =>
  new Set(
    plain(text)
      .split(' ')
      .filter(word => word !== '' && !STOP.has(word)),
  )
/** Whether a line says a lesson, by most of its words. */
export const says = (line, lesson) => {
  const words = wordsOf(line)
  return shareOf([...wordsOf(lesson)], word => words.has(word)) >= 0.7
}
export const shareOf = (wanted, found) => wanted.filter(found).length / Math.max(1, wanted.length)
export const levelOf = share => (share >= 1 ? 2 : share > 0 ? 1 : 0)
export const when = (fully, partly = false) => (fully ? 2 : partly ? 1 : 0)

/** Names in a text, without words that only begin it. */
export const namesIn = text =>
  [...text.matchAll(NAME)]
    .map(([found]) => found.replace(/[.'’]+s?$/, '').split(' '))
    .map(words => (NO_NAMES.test(words[0]) ? words.slice(1) : words).join(' '))
    .filter(name => /\p{L}{2}/u.test(name) && !NO_NAMES.test(name))

/** What a question asks for: the fact with its words, the subjects that it compares, or else the X that it describes. */
export const readQuestion = question => {
  const pair =
    /(?:first, |born: |released: |founded: |published: )(.+?) (?:or|and) ((?:(?! or | and ).)+)\?$/.exec(
      question,
    )
  const asked = pair ? question : question.split(/(?<=\.) (?=(?:In what|What|Who|Where) )/).at(-1)
  const fact =
    /born|released|published|founded|nationality|directed|wrote|recorded|located/.exec(asked)?.[0] ?? 'answer'
  const isYear = /what year/i.test(asked)
  const isChoice = pair !== null && !isYear
  return {
    question,
    asked,
    fact,
    isYear,
    isChoice,
    subjects: pair ? pair.slice(1) : null,
    later: /\blater\b/.test(asked),
  }
}
const FACT_WORDS = {
  directed: /direct/,
  wrote: /wr[io]t|author/,
  recorded: /record|perform/,
  located: /locat|where|place/,
  born: /born|birth/,
}
export const namesFact = (text, fact) =>
  (FACT_WORDS[fact] ?? new RegExp(fact.slice(0, 6))).test(text.toLowerCase())

/** An attempt by its parts, in order: `stage` 1 to 4, or null for what a search brought. */
export const readAttempt = (question, parts) => {
  const of = stage =>
    parts
      .filter(part => part.stage === stage)
      .map(({ text }) => text)
      .join('\n')
  const snippets = [...of(null).matchAll(/<snippet id="([^"]+)">\n([^\n]*)\n([\s\S]*?)\n<\/snippet>/g)]
  const answer = /<answer>([\s\S]*?)(?:<\/answer>|$)/.exec(of(4))?.[1] ?? ''
  return {
    ...readQuestion(question),
    ...{ plan: of(1), research: of(2), review: of(3) },
    queries: [...of(2).matchAll(/<call_tool[^>]*>([\s\S]*?)<\/call_tool>/g)].map(([, query]) => query),
    notes: [...of(2).matchAll(/<state_evaluation>([\s\S]*?)<\/state_evaluation>/g)]
      .map(([, note]) => note)
      .join('\n'),
    found: snippets.map(([, id, title, text]) => ({ id, title, text, all: `${title}\n${text}` })),
    answer: answer.replace(/<\/?cite\b[^>]*>/g, '').trim(),
    cited: [...answer.matchAll(/<cite id="([^"]+)">/g)].flatMap(([, ids]) =>
      ids.split(',').map(id => id.trim()),
    ),
  }
}

/** The year that a passage gives for what is asked, as one reads it. */
export const yearIn = (text, fact) => {
  const patterns = {
    born: [/born[^.;]{0,40}?(\d{4})/, /\([^()]*?(\d{4})[^()]*?[–—-]/],
    founded: [/(?:founded|formed|established)[^.]{0,60}?(\d{4})/],
  }[fact] ?? [/\b(?:is|was) an? (\d{4})/, /(?:released|published)[^.]{0,60}?(\d{4})/]
  return patterns.map(each => each.exec(text)?.[1]).find(Boolean)
}
export const about = ({ found }, name) =>
  found.filter(({ title }) => has(title, bare(name)) || has(name, bare(title)))
export const foundText = ({ found }) => found.map(({ all }) => all).join('\n')
export const shown = (attempt, claims) =>
  claims.every(claim => has(foundText(attempt), claim) || has(attempt.question, claim))
export const isNew = (query, before) =>
  before.every(other => {
    const [one, two] = [wordsOf(query), wordsOf(other)]
    return [...one].filter(word => two.has(word)).length < 0.8 * Math.max(one.size, two.size)
  })
/** Names that a result brought and the question does not have. */
export const leads = attempt =>
  attempt.found.map(({ title }) => bare(title)).filter(name => !has(attempt.question, name))

/** Which of the two a reader of the results has to answer with; null where they do not tell. */
export const settled = attempt => {
  const { subjects, fact, later, isChoice } = attempt
  const known = subjects.map(name => ({
    name,
    year: about(attempt, name)
      .map(({ text }) => yearIn(text, fact))
      .find(Boolean),
  }))
  if (known.some(({ year }) => !year)) return { known, wanted: null }
  const [early, late] = known.toSorted((a, b) => a.year - b.year)
  const chosen = later ? late : early
  return { known, wanted: isChoice ? chosen.name : chosen.year }
}
