/** @file Wording that judges cannot decide on: several claims at once, vague words, a sign that does not fit, orders to the judge. */

import type { Criterion } from './criterion.ts'
import { type Finding, nameOf, type Severity } from './lint-finding.ts'
import { statementWords, withoutAside } from './statement.ts'
import { claimsOf, LONG_WORDS, MOST_READ, ordersIn, signOf, vagueWordsOf } from './wording.ts'

/** Findings about the texts of criteria. Knows English; texts in other languages are only checked for what they share with it. */
export const lintWording = (criteria: readonly Criterion[]): Finding[] =>
  criteria.flatMap(criterion => {
    const text = withoutAside(criterion.text)
    const spoken = orders(criterion, text)
    // A text for the judge has to be written anew: more about its wording would be noise.
    if (spoken.length > 0) return spoken
    return [
      ...wrongSign(criterion, text),
      ...long(criterion, text),
      // Where scores are described, a part earns a part, and the descriptions say what the words mean.
      ...(criterion.levels ? [] : [...compound(criterion, text), ...vague(criterion, text)]),
    ]
  })

const finding = (
  rule: string,
  severity: Severity,
  criterion: Criterion,
  problem: string,
  fix: string,
): Finding => ({
  rule,
  severity,
  criterionIds: [criterion.id],
  message: `${nameOf(criterion)} ${problem}`,
  fix,
})

const orders = (criterion: Criterion, text: string): Finding[] => {
  const found = ordersIn(text)
  if (found === null) return []
  return found.kind === 'command'
    ? [
        finding(
          'commands-judge',
          'error',
          criterion,
          `gives the judge an order ("${found.words}"), whatever the response says`,
          `remove the order from ${criterion.id}; say only what is to be found in the response`,
        ),
      ]
    : [
        finding(
          'addresses-judge',
          'warning',
          criterion,
          `speaks to the judge ("${found.words}") instead of describing the response`,
          `say in ${criterion.id} what a response does that meets it; how to judge belongs in the judge's own prompt`,
        ),
      ]
}

const wrongSign = (criterion: Criterion, text: string): Finding[] => {
  const sign = signOf(text)
  if (sign === null || sign.points === Math.sign(criterion.points)) return []
  const wanted = sign.points > 0
  return [
    finding(
      'wrong-sign',
      // A judge may still guess what "should ..." with a penalty means; a flaw that earns points leaves no such way out.
      wanted ? 'warning' : 'error',
      criterion,
      wanted
        ? `says what should be ("${sign.words}") but costs points: taken at its word, it punishes responses that do it right`
        : `states a flaw ("${sign.words}") but earns points: taken at its word, it rewards responses that get it wrong`,
      wanted
        ? `write ${criterion.id} as the flaw that it penalises, or make its points positive`
        : `write ${criterion.id} as what a good response does, or make its points negative`,
    ),
  ]
}

const long = (criterion: Criterion, text: string): Finding[] => {
  const count = statementWords(text).length
  if (count <= LONG_WORDS && text.length <= MOST_READ) return []
  const size = count > LONG_WORDS ? `${count} words` : `${text.length} characters`
  return [
    finding(
      'long',
      'warning',
      criterion,
      `is ${size} long: a judge weighs a text of that length instead of checking it`,
      `say in ${criterion.id} in one sentence what must be there; definitions that all criteria share belong in the judge's prompt`,
    ),
  ]
}

/** Claims that a message spells out. */
const SHOWN = 3

const compound = (criterion: Criterion, text: string): Finding[] => {
  const claims = claimsOf(text)
  if (claims.length < 2) return []
  const more = claims.length > SHOWN ? `, and ${claims.length - SHOWN} more` : ''
  const parts = `${claims
    .slice(0, SHOWN)
    .map(words => `"${words}"`)
    .join(', ')}${more}`
  const share = Math.abs(criterion.points) / claims.length
  return [
    finding(
      'compound',
      'warning',
      criterion,
      `makes ${claims.length} claims (${parts}): a response that meets one of them gets ${criterion.points > 0 ? 'nothing' : 'the whole penalty or none, as the judge likes'}`,
      `split ${criterion.id} into ${claims.length} criteria of about ${Number(share.toPrecision(2))} points each`,
    ),
  ]
}

const vague = (criterion: Criterion, text: string): Finding[] => {
  const words = vagueWordsOf(text)
  if (words.length === 0) return []
  return [
    finding(
      'vague',
      'warning',
      criterion,
      `rests on ${words.map(word => `"${word}"`).join(', ')}: judges will differ on what that means`,
      `say in ${criterion.id} what can be seen in the text when it holds: a number, a named part, an example; as it stands only a judge can tell`,
    ),
  ]
}
