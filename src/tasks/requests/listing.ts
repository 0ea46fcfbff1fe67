/** @file Requests for several things: of a category, steps of doing something. */

import { capitalised } from '../../util/format.ts'
import type { Rng } from '../../util/rng.ts'
import { phrasesIn } from '../../util/words.ts'
import { CATEGORIES, type Category, GUIDES, NUMBER_WORDS } from './lexicon.ts'
import { has, type Kind } from './style.ts'

const ASK = phrasesIn('Name | List | Give me | Tell me | I need | Can you name | Write down | Think of')

const ASK_SOME = [
  (many: string) => `Name some ${many}.`,
  (many: string) => `Which ${many} do you know?`,
  (many: string) => `What ${many} are there?`,
  (many: string) => `Give me a list of ${many}.`,
] as const
const SOME_LEAD = ['Some are', 'You could take', 'I would say', 'I can name', 'Here are'] as const

const askFor = (count: number, { one, many }: Category, rng: Rng): string => {
  const ask = rng.pick(ASK)
  const number = rng.next() < 0.3 ? String(count) : NUMBER_WORDS[count]
  return `${ask} ${number} ${count === 1 ? one : many}${ask.startsWith('Can') ? '?' : '.'}`
}

const leadTo = (count: number, { one, many }: Category, rng: Rng): string =>
  count === 1 || rng.next() < 0.4
    ? `${capitalised(NUMBER_WORDS[count])} ${count === 1 ? `${one} is` : `${many} are`}`
    : rng.pick(SOME_LEAD)

/** Names so many of a category, or some of it. */
export const things: Kind = {
  name: 'things',
  draw: rng => {
    const [category, other] = rng.sample(CATEGORIES, 2)
    const some = rng.next() < 0.15
    const count = some ? 2 + rng.int(4) : 1 + rng.int(5)
    const lead = some ? rng.pick(SOME_LEAD) : leadTo(count, category, rng)
    const body = (items: readonly string[]) => ({ short: items.join(', '), sentence: lead, items })
    const otherCount = 1 + ((count + rng.int(4)) % 5)
    const isAnother = !some && otherCount !== count && rng.next() < 0.5
    return {
      ask: some ? rng.pick(ASK_SOME)(category.many) : askFor(count, category, rng),
      right: body(rng.sample(category.members, count)),
      wrong: body(isAnother ? rng.sample(category.members, otherCount) : rng.sample(other.members, count)),
      isRight: answer => {
        const found = category.members.filter(member => has(answer, member)).length
        return some ? found > 1 : found === count
      },
    }
  },
}

const HOW = phrasesIn(`
  How do I | How can I | Tell me how to | Give me the steps to | What do I do to | Explain how to
`)

/** How something is done. */
export const steps: Kind = {
  name: 'steps',
  draw: rng => {
    const [guide, other] = rng.sample(GUIDES, 2)
    const how = rng.pick(HOW)
    const body = (items: readonly string[]) => ({
      short: items.join(', '),
      sentence: rng.pick(['Do this:', 'These are the steps:', 'First to last:']),
      items,
    })
    const doing = how.includes('I') ? guide.doing : guide.doing.replace(/\bmy\b/, 'your')
    const few = rng.next() < 0.3 ? 3 : 4
    return {
      ask: `${how} ${doing}${/^(How|What)/.test(how) ? '?' : '.'}`,
      right: body(guide.steps.slice(0, few)),
      wrong: body(other.steps.slice(0, few)),
      isRight: answer => guide.steps.slice(0, 3).every(step => has(answer, step)),
    }
  },
}
