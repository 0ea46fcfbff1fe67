#!/usr/bin/env node
/**
 * @file Questions of two steps over real paragraphs, by templates: a sentence of one paragraph in which another one's subject is left
 * out, and a fact that the first sentence of that other one states (a year, a director, a place ...); or years of two paragraphs that
 * are compared. Paragraphs that a file of test questions rests on (`supportingTitles`) are not used. What hangs together through a
 * question lies on one side: for demonstrations, for training, for the test. Paragraphs are numbered, so that they can be cited.
 *
 *   node scripts/experiments/paragraph-questions.js PARAGRAPHS.jsonl PUBLIC.jsonl --out DIR [--taught 5] [--train 2.5] [--test 2.5]
 *
 * PARAGRAPHS has {title, text}, PUBLIC {id, question, answer, supportingTitles}, as samples of HotpotQA (CC-BY-SA-4.0) have them. Writes
 * documents.jsonl (for `gradus search build`), public.jsonl, and taught.jsonl (for demonstrations), train.jsonl and test.jsonl, among
 * which subjects are shared out by these parts.
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readJsonl } from '../../dist/util/jsonl.js'
import { Rng } from '../../dist/util/rng.js'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: 'string' },
    train: { type: 'string', default: '2.5' },
    test: { type: 'string', default: '2.5' },
    taught: { type: 'string', default: '5' },
  },
})
const [paragraphsFile, publicFile] = positionals
if (values.out === undefined || publicFile === undefined) {
  process.stderr.write('expected PARAGRAPHS.jsonl PUBLIC.jsonl --out DIR\n')
  process.exit(2)
}
const rows = path => [...readJsonl(path)]

const groupedBy = (all, keyOf) => {
  const groups = new Map()
  for (const each of all) groups.set(keyOf(each), [...(groups.get(keyOf(each)) ?? []), each])
  return groups
}

const rng = new Rng('paragraph questions')
const bare = title => title.replace(/ \([^)]*\)$/, '')
const escaped = text => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
/** Ends of sentences are behind two small letters, so that initials and most abbreviations are none. */
const sentencesOf = text => text.split(/(?<=(?:[a-z0-9)]{2}|\d)(?<!\bSt)[.?!]["”]?) +(?=[A-Z"“])/)
const withoutAsides = text =>
  text
    .replace(/ ?\([^()]*\)/g, '')
    .replace(/ +([,.])/g, '$1')
    .replace(/ {2,}/g, ' ')

const PEOPLES =
  'British|English|Scottish|Welsh|Irish|Canadian|Australian|Indian|German|French|Italian|Spanish|Japanese|Chinese|South Korean|Russian|Swedish|Norwegian|Danish|Finnish|Dutch|Belgian|Polish|Czech|Austrian|Swiss|Brazilian|Mexican|New Zealand|South African|Serbian|Greek|Israeli|Hungarian|Filipino'
/** What a subject is, by the last word of what its first sentence calls it. */
const KINDS = {
  person:
    /(?:player|actor|actress|singer|politician|artist|writer|footballer|author|director|novelist|officer|musician|poet|journalist|singer-songwriter|engineer|cartoonist|photographer|coach|painter|physicist|boxer|historian|judge|wrestler|comedian|presenter|producer|rapper|dancer|composer|lawyer|scientist|philosopher|golfer|driver|cricketer|model|businessman|screenwriter|guitarist|drummer|noblewoman|nobleman|businesswoman|filmmaker|architect|designer|chef|cyclist|swimmer)$/,
  film: /(?:film|movie|documentary)$/,
  series: /(?:series|sitcom|miniseries|show)$/,
  album: /(?:album|EP)$/,
  song: /(?:song|single)$/,
  book: /(?:novel|book|novella)$/,
  band: /(?:band|duo|girl group)$/,
  place: /(?:city|town|village|county|community|place)$/,
  company: /(?:company|brewery|chain|manufacturer|corporation)$/,
  school: /(?:university|college|school)$/i,
  club: /(?:club|team)$/,
  game: /(?:game)$/,
}
const WORD = "(?:[A-Z][\\w'’-]+|[A-Z]\\.|de|van|von|da)"
/** A name that ends where it ends: not one of several, and nothing that it only goes before. */
const NAME = `${WORD}(?: ${WORD})+(?=[,.]|$| (?:released|published|from|in|on|first|under|featuring|starring|which|who|with|and (?![A-Z])))`
const CALLED =
  /\b(?:is|was|are|were) (?:an?|the (?:\w+ )?) ?(.{3,100}?)(?=,|;| (?:by|from|in|of|who|that|which|for|directed|based|and|with|released|at|on|best|written|located|starring|known|produced|created|to|recorded|performed|as|featuring|founded|headquartered|published|developed)\b|\.?$)/

/** What the first sentence of a paragraph states for certain: what to ask, and right answers. */
const factsOf = ({ title, text }) => {
  const [first] = sentencesOf(text)
  const said = withoutAsides(first)
  const called = CALLED.exec(said)?.[1]
  const kind = called && Object.keys(KINDS).find(each => KINDS[each].test(called))
  if (!kind || /^(?:List of|\d{4})|graphy\b|&/.test(title) || !said.includes(bare(title).split(' ')[0]))
    return null
  const facts = []
  const fact = (what, ask, ...answers) => {
    if (answers.every(each => each && !bare(title).includes(each))) facts.push({ what, ask, answers })
  }
  const find = pattern => pattern.exec(said)?.[1]
  if (kind === 'person') {
    // In the first brackets: behind "born", or the first of two years.
    const life = /^[^(]{0,60}\(([^()]*\d{4}[^()]*)\)/.exec(first)?.[1] ?? ''
    const born = /born [^;]*?(\d{4})/.exec(life) ?? /(\d{4})[^;]*[–—-]/.exec(life)
    if (born && !/baptised|between|before|died/.test(life))
      fact('born', x => `In what year was ${x} born?`, born[1])
    const people = new RegExp(`\\b(?:is|was) an? (?:\\w+ ){0,2}?(${PEOPLES})\\b`).exec(said)?.[1]
    if (people) fact('nationality', x => `What is the nationality of ${x}?`, people)
  }
  const year =
    find(/\b(?:is|was) an? (\d{4})\b/) ?? find(/\b(?:released|published)[^,.]*? ((?:19|20)\d{2})\b/)
  if (/film|album|song|book|game/.test(kind) && year) {
    const verb = kind === 'book' ? 'published' : 'released'
    fact(verb, x => `In what year was ${x} ${verb}?`, year)
  }
  const by = find(new RegExp(`\\bdirected by (${NAME})`))
  if (by) fact('director', x => `Who directed ${x}?`, by)
  const wrote =
    /book|song|album/.test(kind) &&
    find(
      new RegExp(
        `\\b(?:album|novel|book|song|single|EP) (?:written )?by (?:[a-z-]+ |[A-Z]\\w+ (?=[a-z])){0,5}(${NAME})`,
      ),
    )
  if (wrote) fact('author', x => (kind === 'book' ? `Who wrote ${x}?` : `Who recorded ${x}?`), wrote)
  const founded =
    /(?:founded|established|formed)(?: [^.,]*?)? (?:in|on) (?:[A-Z]\w+ )?(?:\d{1,2}, )?(\d{4})/.exec(
      withoutAsides(text),
    )?.[1]
  if (/band|company|school|club/.test(kind) && founded)
    fact('founded', x => `In what year was ${x} founded?`, founded)
  const place = find(
    /\b(?:located|based|headquartered|city|town|village|community) in (?:the )?([A-Z][\w’'-]+(?:,? (?:de )?[A-Z][\w’'-]+)*)/,
  )
  if (/place|company|school|band|club/.test(kind) && place) {
    const parts = place.split(', ')
    fact('place', x => `Where is ${x} located?`, place, parts[0], parts.slice(0, 2).join(', '))
  }
  return { kind, facts }
}

const given = rows(publicFile)
const kept = new Set(given.flatMap(({ supportingTitles }) => supportingTitles))
const cleaned = text => text.replace(/<ref[^>]*>[\s\S]*?<\/ref>/g, '').replace(/,? ?\{'1':[^}]*\}/g, '')
const paragraphs = rows(paragraphsFile).map(({ title, text }, i) => ({
  id: `p${i + 1}`,
  title,
  text: cleaned(text),
}))
const usable = paragraphs
  .filter(({ title }) => !kept.has(title))
  .map(row => ({ facts: [], ...row, ...factsOf(row) }))
const known = usable.filter(({ facts }) => facts.length > 0)

/** A sentence in which a subject, named by itself, is called X; null where there is none, or only long ones. */
const withX = ({ title, text, kind }, name, from = 0) => {
  const mention = new RegExp(
    `(?<![\\w'’-]|[A-Z]\\w* )(?:[Tt]he )?(["“]?)${escaped(name)}(["”]?)(?!\\w| [A-Z]|-)`,
    'g',
  )
  const own = bare(title)
  for (const [i, each] of sentencesOf(withoutAsides(text)).entries()) {
    const starts = /^(?:He|She|It|They|(His|Her|Its|Their))(?= )/.exec(each)
    // Of another kind of subject, he or she is somebody else.
    if (/^H|^S/.test(starts?.[0] ?? '') && kind !== 'person') continue
    const sentence =
      starts && i > 0 ? `${own}${starts[1] ? "'s" : ''}${each.slice(starts[0].length)}` : each.trim()
    const words = sentence.split(' ').length
    if (i < from || !sentence.includes(own) || words < 8 || words > 32 || !/[a-z)]\.$/.test(sentence))
      continue
    if ([...sentence.matchAll(mention)].length === 1) return sentence.replace(mention, 'X')
  }
  return null
}

const questions = []
const add = (kind, question, answer, titles) =>
  questions.push({ kind, question, answer: [...new Set(answer)], titles })
/** What the sentence says already need not be looked up. */
const askX = (kind, sentence, { facts }, titles) => {
  for (const { what, ask, answers } of sentence === null ? [] : facts)
    if (!answers.some(each => sentence.includes(each)))
      add(`${kind} ${what}`, `${sentence} ${ask('X')}`, answers, titles)
}

for (const to of known) {
  const name = bare(to.title)
  const sentence = withX(to, name, 1)
  // With two names or numbers at least, by which it can be found.
  if ((sentence?.slice(1).match(/(?<![.] )\b[A-Z][\w’'.-]+|\b\d{3,}/g) ?? []).length >= 2)
    askX('described', sentence, to, [to.title])
  if (name.length < 4) continue
  for (const from of usable)
    if (!from.title.includes(name) && !name.includes(bare(from.title)) && from.text.includes(name))
      askX('bridge', withX(from, name), to, [from.title, to.title])
}

/** Paragraphs that share a question lie together. */
const parent = new Map(usable.map(({ title }) => [title, title]))
const rootOf = title => (parent.get(title) === title ? title : rootOf(parent.get(title)))
for (const { titles } of questions) parent.set(rootOf(titles[0]), rootOf(titles.at(-1)))
const groups = rng.shuffle([...groupedBy(usable, ({ title }) => rootOf(title)).values()])
const shares = [Number(values.test), Number(values.train), Number(values.taught)]
const total = shares.reduce((sum, share) => sum + share, 0)
const sideOf = new Map()
for (const [i, group] of groups.entries()) {
  const place = (total * (i + 0.5)) / groups.length
  const side = place < shares[0] ? 'test' : place < shares[0] + shares[1] ? 'train' : 'taught'
  for (const { title } of group) sideOf.set(title, side)
}

/** Years are compared around a ring of subjects of one kind and side, in three forms by turns. */
for (const what of ['born', 'released', 'published', 'founded']) {
  const yearOf = ({ facts }) => Number(facts.find(own => own.what === what)?.answers[0])
  const rings = groupedBy(
    known.filter(each => yearOf(each) && !/ (?:and|or) /.test(each.title)),
    ({ kind, title }) => `${kind} ${sideOf.get(title)}`,
  )
  for (const ring of [...rings.values()].map(all => rng.shuffle(all)))
    for (let i = 0; i < (ring.length > 4 ? 2 : 1) * ring.length; i++) {
      const one = ring[i % ring.length]
      const pair = [one, ring[(i + 1 + Math.floor(i / ring.length)) % ring.length]]
      if (yearOf(pair[0]) === yearOf(pair[1])) continue
      const [first, second] = pair.toSorted((a, b) => yearOf(a) - yearOf(b))
      const names = pair.map(({ title }) => bare(title))
      const titles = pair.map(({ title }) => title)
      const who = one.kind === 'person' ? 'Who' : `Which ${one.kind}`
      if (i % 3 === 0)
        add(
          `compare ${what}`,
          `${who} was ${what} first, ${names.join(' or ')}?`,
          [bare(first.title)],
          titles,
        )
      else {
        const [which, year] = i % 3 === 1 ? ['earlier', yearOf(first)] : ['later', yearOf(second)]
        add(
          `year ${what}`,
          `In what year was the ${which} of these two ${what}: ${names.join(' and ')}?`,
          [`${year}`],
          titles,
        )
      }
    }
}
const sides = groupedBy(questions, ({ titles }) => sideOf.get(titles[0]))
mkdirSync(values.out, { recursive: true })
const write = (name, lines) =>
  writeFileSync(join(values.out, `${name}.jsonl`), lines.map(line => `${JSON.stringify(line)}\n`).join(''))
write(
  'documents',
  paragraphs.map(({ id, title, text }) => ({ id, title, text })),
)
write(
  'public',
  given.map(({ id, question, answer }) => ({ id, question, answer })),
)
for (const [side, own] of sides)
  write(
    side,
    rng.shuffle(own).map((row, i) => ({ id: `${side}-${i + 1}`, ...row })),
  )
process.stderr.write(`${[...sides].map(([side, own]) => `${own.length} ${side}`).join(', ')}\n`)
