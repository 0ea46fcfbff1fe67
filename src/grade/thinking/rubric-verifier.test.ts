import { expect, it } from 'vitest'
import { quoteUntrusted } from '../../util/untrusted.ts'
import { RUBRIC_VERIFIER } from './judges.ts'

it('shows category and words of a criterion each in a quotation of its own, with no word of ours inside', () => {
  const criterion = { id: 'a', text: 'Checks a result.', points: 2, category: 'answer rigour' }
  const template = RUBRIC_VERIFIER.many(RUBRIC_VERIFIER.scaleOf(criterion, 'yes-no'))
  const text = template.question([criterion], quoteUntrusted)
  expect(text).toMatch(
    /<category[^>]*>\nanswer rigour\n<\/category[^>]*>\n<criterion[^>]*>\nChecks a result\.\n<\/criterion/,
  )
  expect(text).not.toContain('&#')
  const { category: _, ...bare } = criterion
  expect(template.question([bare], quoteUntrusted)).not.toContain('category')
})
