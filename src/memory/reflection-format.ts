/** @file The two blocks of a reflection (RubricEM): read strictly, because only whole ones are kept. */

export interface ReflectionText {
  rubrics: string
  /** One to four lessons. */
  takeaways: string[]
}

export type ReadReflection =
  | ({ valid: true } & ReflectionText)
  | {
      valid: false
      /** Why not, in a few words. */
      problem: string
    }

/** Portable lessons that a reflection may have. */
export const MOST_TAKEAWAYS = 4

const TAGS = ['reflection_rubrics', 'reflection_takeaways'] as const

const BLOCKS =
  /^\s*<reflection_rubrics>([\s\S]*?)<\/reflection_rubrics>\s*<reflection_takeaways>([\s\S]*?)<\/reflection_takeaways>\s*$/

const LESSON_START = /^\s*(?:[-*•]|\d{1,2}[.)])\s+/

const countOf = (text: string, part: string): number => text.split(part).length - 1

/** Lines that begin as items of a list, each with the lines that follow it; one lesson where no line does. */
const lessonsOf = (block: string): string[] => {
  const lessons: string[] = []
  for (const line of block.split('\n')) {
    if (line.trim() === '') continue
    if (LESSON_START.test(line) || lessons.length === 0) lessons.push(line.replace(LESSON_START, '').trim())
    else lessons[lessons.length - 1] += ` ${line.trim()}`
  }
  return lessons.filter(lesson => lesson !== '')
}

/** Exactly the two blocks, in their order, each once, with nothing around them; neither may be empty. */
export const readReflection = (text: string): ReadReflection => {
  for (const tag of TAGS)
    for (const mark of [`<${tag}>`, `</${tag}>`])
      if (countOf(text, mark) !== 1)
        return { valid: false, problem: `expected ${mark} once, got it ${countOf(text, mark)} times` }
  const [, rubrics, block] = BLOCKS.exec(text) ?? []
  if (rubrics === undefined)
    return { valid: false, problem: 'expected the two blocks in order, and nothing around them' }
  if (rubrics.trim() === '') return { valid: false, problem: 'expected rubrics, got an empty block' }
  const takeaways = lessonsOf(block)
  if (takeaways.length === 0 || takeaways.length > MOST_TAKEAWAYS)
    return { valid: false, problem: `expected 1 to ${MOST_TAKEAWAYS} takeaways, got ${takeaways.length}` }
  return { valid: true, rubrics: rubrics.trim(), takeaways }
}
