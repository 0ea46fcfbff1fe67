/** @file Questions to a judge about answers, in the words of Gradus's own judge, with exact verdicts. */

import type { ChatMessage } from '../../chat/chat-model.ts'
import { quoteUntrusted, REPLIES } from '../../grade/index.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import type { Rng } from '../../util/rng.ts'
import { type AnswerStatement, drawFamily, type Family, type JudgedAnswer } from './criteria.ts'
import { drawDialogue } from './dialogue.ts'
import { drawStyle, PLAIN, put } from './style.ts'

export interface JudgedStatement extends AnswerStatement {
  /** What the judge is sent. */
  messages: ChatMessage[]
  /** What it should answer. */
  answer: string
}

/** An answer to judge: right, wrong, or one to another request, put in any way. */
const drawJudged = (rng: Rng): JudgedAnswer => {
  const dialogue = drawDialogue(rng)
  const { request } = dialogue
  const style = request.fixed ? PLAIN : { ...drawStyle(rng), capitals: rng.next() < 0.08 }
  const draw = rng.next()
  if (draw < 0.55 || (draw < 0.88 && !request.wrong)) {
    const answer = rng.next() < 0.5 ? dialogue.answer : put(request.right, style)
    return { dialogue, answer, origin: 'right' }
  }
  if (draw < 0.88) return { dialogue, answer: put(request.wrong!, style), origin: 'wrong' }
  return { dialogue, answer: drawDialogue(rng.fork('other')).answer, origin: 'other' }
}

/** Draws until the verdict is the one that is wanted: criteria that rarely hold would else teach to say no. */
const TRIES = 60

const drawStatement = (rng: Rng, named?: Family): { judged: JudgedAnswer; statement: AnswerStatement } => {
  const met = rng.next() < 0.5
  let family = named ?? drawFamily(rng)
  for (let i = 0; ; i++) {
    const judged = drawJudged(rng)
    const statement = family.draw(judged, rng)
    if (statement !== null && (statement.met === met || i > TRIES))
      return { judged, statement: { family: family.name, ...statement } }
    if (i > 2 * TRIES && named === undefined) family = drawFamily(rng)
  }
}

/** The messages of a call about one criterion, as a judge of Gradus is asked. */
const judgeMessages = (
  item: { prompt: readonly ChatMessage[]; response: string },
  criterion: Criterion,
): ChatMessage[] => {
  const template = REPLIES.one(REPLIES.scaleOf(criterion, 'yes-no'))
  const subject = REPLIES.subject(item, {}, quoteUntrusted)
  return [
    { role: 'system', content: template.system },
    { role: 'user', content: `${subject}\n\n${template.question([criterion], quoteUntrusted)}` },
  ]
}

/** A question to the judge with its verdict. */
export const drawJudgement = (rng: Rng, family?: Family): JudgedStatement => {
  const { judged, statement } = drawStatement(rng, family)
  const { text, met, because } = statement
  const points = rng.next() < 0.7 ? 1 : -1
  const item = { prompt: judged.dialogue.messages, response: judged.answer }
  return {
    ...statement,
    messages: judgeMessages(item, { id: 'judged', text, points }),
    answer: JSON.stringify({ explanation: because, criteria_met: met })
      .replace('","', '", "')
      .replaceAll(/":(?=["tf])/g, '": '),
  }
}

const MERIT: Criterion = { id: 'judged', text: 'any', points: 1 }

/** The verdict of a judge's answer as Gradus reads it; null where there is none. */
export const readRequestVerdict = (text: string): boolean | null => {
  const reading = REPLIES.one(REPLIES.scaleOf(MERIT, 'yes-no')).read(text, [MERIT])
  return reading.problem === undefined ? reading.value[0].met : null
}
