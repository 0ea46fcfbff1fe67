/** @file Requests for several things: of a category, steps of doing something. */

import { GUIDES } from './guides.ts'
import { CATEGORIES, capitalised, NUMBER_WORDS } from './lexicon.ts'
import type { Kind } from './request.ts'

const ASK = ['Name', 'List', 'Give me', 'Tell me', 'I need', 'Can you name', 'Write down', 'Think of'] as const
const LEAD = ['Some are', 'You could take', 'I would say', 'I can name', 'Here are'] as const

/** Names so many of a category. */
export const things: Kind = {
  name: 'things',
  draw: rng => {
    const category = rng.pick(CATEGORIES)
    const count = 1 + rng.int(5)
    const ask = rng.pick(ASK)
    const number = rng.next() < 0.3 ? String(count) : NUMBER_WORDS[count]
    const what = count === 1 ? category.one : category.many
    const lead =
      count === 1 || rng.next() < 0.4
        ? `${capitalised(NUMBER_WORDS[count])} ${what} ${count === 1 ? 'is' : 'are'}`
        : rng.pick(LEAD)
    const body = (items: readonly string[]) => ({ short: items.join(', '), sentence: lead, items })
    const other = rng.pick(CATEGORIES.filter(({ many }) => many !== category.many))
    const otherCount = 1 + ((count + rng.int(4)) % 5)
    return {
      ask: `${ask} ${number} ${what}${ask.startsWith('Can') ? '?' : '.'}`,
      right: body(rng.sample(category.members, count)),
      wrong: rng.pick([
        body(rng.sample(other.members, count)),
        ...(otherCount === count ? [] : [body(rng.sample(category.members, otherCount))]),
      ]),
    }
  },
}

const HOW = ['How do I', 'How can I', 'Tell me how to', 'Give me the steps to', 'What do I do to', 'Explain how to'] as const

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
    }
  },
}
