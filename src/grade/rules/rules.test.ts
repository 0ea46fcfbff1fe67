import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { GradeItem } from '../grader.ts'
import { checkRule, RULES, RuleGrader, validateRules } from './index.ts'

const item = (response: string, more: Partial<GradeItem> = {}): GradeItem => ({
  prompt: [{ role: 'user', content: 'What is the boiling point of water at sea level?' }],
  response,
  ...more,
})
const met = (fn: string, params: object, response: string, more: Partial<GradeItem> = {}) =>
  checkRule(fn, params, item(response, more)).met
const credit = (fn: string, params: object, response: string, more: Partial<GradeItem> = {}) =>
  checkRule(fn, params, item(response, more)).credit

describe('form', () => {
  const tagged = '<reasoning>1. a</reasoning>\n<answer>True</answer>'

  it('wants tags opened, closed, filled, single and in order', () => {
    const params = { tags: ['reasoning', 'answer'], order: true }
    expect(met('tags', params, tagged)).toBe(true)
    expect(met('tags', params, '<answer>True</answer><reasoning>1. a</reasoning>')).toBe(false)
    expect(met('tags', params, '<reasoning>1. a<answer>True</answer>')).toBe(false)
    expect(met('tags', params, `${tagged}<answer>False</answer>`)).toBe(false)
    expect(met('tags', params, '<reasoning> </reasoning><answer>True</answer>')).toBe(false)
    expect(credit('tags', { ...params, graded: true }, '<reasoning>a</reasoning>')).toBe(0.5)
  })

  it('finds sections under Markdown, bold or colon headings, not in code', () => {
    const text = '# 1. Summary\nx\n**Risks**\ny\nNext steps:\nz'
    expect(met('sections', { headings: ['summary', 'risks', 'Next steps'], order: true }, text)).toBe(true)
    expect(met('sections', { headings: ['Risks', 'Summary'], order: true }, text)).toBe(false)
    expect(met('sections', { headings: [['Dangers', 'Risks']] }, text)).toBe(true)
    expect(met('sections', { headings: ['Summary'] }, '```\n# Summary\n```')).toBe(false)
    expect(credit('sections', { headings: ['Summary', 'Costs'], graded: true }, text)).toBe(0.5)
  })

  it('counts headings, list items and code blocks', () => {
    expect(met('headings', { min: 2, level: 2 }, '## a\n## b\n# c')).toBe(true)
    expect(met('headings', { max: 2 }, '## a\n## b\n# c')).toBe(false)
    expect(met('list', { kind: 'bullet', min: 2, max: 2 }, '- a\n  * b\n1. c')).toBe(true)
    expect(met('list', { kind: 'numbered', min: 2 }, '- a\n1. c')).toBe(false)
    expect(met('list', { min: 3 }, '- a\n* b\n1) c')).toBe(true)
    expect(met('code_block', { min: 1, language: 'ts' }, '```TS\nlet a\n```')).toBe(true)
    expect(met('code_block', { min: 1 }, '```ts\nlet a')).toBe(false)
  })
})

describe('length and repetition', () => {
  it('measures in words, characters, sentences, paragraphs and lines', () => {
    const text = "It isn't well-known. It costs 3.50 euros!\n\nSo what?"
    expect(met('length', { min: 9, max: 9 }, text)).toBe(true)
    expect(met('length', { unit: 'sentences', min: 3, max: 3 }, text)).toBe(true)
    expect(met('length', { unit: 'paragraphs', min: 2, max: 2 }, text)).toBe(true)
    expect(met('length', { unit: 'lines', max: 1 }, text)).toBe(false)
    expect(met('length', { unit: 'characters', min: 2, max: 2 }, '👍a')).toBe(true)
    expect(checkRule('length', { max: 2 }, item('one two three')).explanation).toBe('3 words')
  })

  it('segments scripts without spaces', () => {
    expect(met('length', { min: 3, max: 8 }, '我喜欢吃苹果和香蕉')).toBe(true)
  })

  it('finds runs of words that come again', () => {
    const loop = 'the cat sat down and the cat sat down'
    expect(met('repetition', { n: 4, maxTimes: 1 }, loop)).toBe(false)
    expect(met('repetition', { n: 5, maxTimes: 1 }, loop)).toBe(true)
    // Six runs of four words, five of them different.
    expect(met('repetition', { maxShare: 0.16 }, loop)).toBe(false)
    expect(met('repetition', { maxShare: 0.17 }, loop)).toBe(true)
    expect(met('repetition', { maxShare: 0 }, '')).toBe(true)
  })
})

describe('mentions', () => {
  it('wants all, any or none, as whole words', () => {
    expect(met('contains', { all: ['heat', ['celsius', '°C']] }, 'Heat it to 100 °C.')).toBe(true)
    expect(met('contains', { all: ['heat'] }, 'Wheaties heater')).toBe(false)
    expect(met('contains', { all: ['heat'], wholeWords: false }, 'heater')).toBe(true)
    expect(met('contains', { any: ['a b', 'kettle'] }, 'A\n b')).toBe(true)
    expect(met('contains', { none: ['kettle'] }, 'no pot')).toBe(true)
    expect(met('contains', { none: ['kettle'] }, 'a Kettle')).toBe(false)
    expect(met('contains', { none: ['kettle'], caseSensitive: true }, 'a Kettle')).toBe(true)
    expect(met('contains', { all: ['头皮'] }, '治疗头皮屑')).toBe(true)
    expect(credit('contains', { all: ['a', 'b'], none: ['c', 'd'], graded: true }, 'a c')).toBe(0.5)
  })

  it('reads curly quotes and odd spaces as plain ones', () => {
    expect(met('contains', { all: ["don't stop"] }, 'Don’t\u00a0stop')).toBe(true)
  })

  it('wants first mentions in order', () => {
    expect(
      met('mention_order', { terms: ['plan', 'act', 'check'] }, 'Plan, then act, then check the plan.'),
    ).toBe(true)
    expect(met('mention_order', { terms: ['act', 'plan'] }, 'Plan, then act.')).toBe(false)
    expect(met('mention_order', { terms: ['plan', 'rest'] }, 'Plan.')).toBe(false)
  })

  it('looks at the edges', () => {
    expect(met('starts_with', { any: ['Dear', 'Hello'] }, ' hello all')).toBe(true)
    expect(met('ends_with', { any: ['Regards'], caseSensitive: true }, 'regards')).toBe(false)
  })
})

describe('regex', () => {
  it('searches, counts, matches as a whole', () => {
    expect(met('regex', { pattern: '\\d{2}' }, 'a 42')).toBe(true)
    expect(met('regex', { pattern: '\\d{2}', whole: true }, 'a 42')).toBe(false)
    expect(met('regex', { pattern: 'a|b', whole: true }, 'ab')).toBe(false)
    expect(met('regex', { pattern: 'a', min: 2, max: 3 }, 'aaaa')).toBe(false)
    expect(met('regex', { pattern: 'a', min: 2, max: 3 }, 'aaa')).toBe(true)
    expect(met('regex', { pattern: 'x', max: 0 }, 'aaa')).toBe(true)
    expect(met('regex', { pattern: '^B', flags: 'im' }, 'a\nb')).toBe(true)
    expect(met('regex', { pattern: '(?=a)', min: 3 }, 'aaa')).toBe(true)
  })

  it('cuts off a pattern that would need exponential time: no verdict, and soon no more tries', () => {
    const params = { pattern: '^(a+)+$' }
    const evil = `${'a'.repeat(50)}b`
    for (let i = 0; i < 5; i++) expect(met('regex', params, evil)).toBeNull()
    expect(checkRule('regex', params, item(evil)).explanation).toContain('given up')
    expect(met('regex', { pattern: '^(a+)+$' }, 'aaa')).toBe(true)
  })

  it('does not give up a pattern that is slow once in a while', () => {
    const params = { pattern: '^(a+)+$' }
    for (let i = 0; i < 1_500; i++) expect(met('regex', params, 'aaa')).toBe(true)
    for (let i = 0; i < 6; i++) met('regex', params, `${'a'.repeat(50)}b`)
    expect(met('regex', params, 'aaa')).toBe(true)
  })

  it('refuses a pattern that is none', () => {
    expect(() => met('regex', { pattern: '(' }, '')).toThrow(
      /params: expected a pattern that JavaScript can read/,
    )
    expect(() => met('regex', { pattern: 'a', flags: 'gg' }, '')).toThrow(/flags/)
  })
})

describe('JSON', () => {
  const schema = {
    type: 'object',
    properties: { n: { type: 'integer', minimum: 1 }, day: { type: 'string', format: 'date' } },
    required: ['n'],
  }

  it('follows a schema, whole or fenced', () => {
    expect(met('json_schema', { schema }, '{"n": 2, "day": "2024-02-29"}')).toBe(true)
    expect(met('json_schema', { schema }, '{"n": 2, "day": "2023-02-29"}')).toBe(false)
    expect(met('json_schema', { schema }, 'Here:\n```json\n{"n": 2}\n```\nDone.')).toBe(true)
    expect(met('json_schema', { schema, in: 'whole' }, '```json\n{"n": 2}\n```')).toBe(false)
    expect(checkRule('json_schema', { schema }, item('{"n": 0}')).explanation).toBe('/n must be >= 1')
    expect(met('json_schema', {}, '[1,')).toBe(false)
  })

  it('has no verdict on a value that is nested too deeply to be checked', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
    const lists = { type: 'array', items: { $ref: '#' } }
    expect(met('json_schema', { schema: lists }, nested(100))).toBe(true)
    expect(met('json_schema', { schema: lists }, nested(200_000))).toBeNull()
  })

  it('refuses a schema that cannot be used, and misspelt keywords', () => {
    expect(() => met('json_schema', { schema: { type: 'objekt' } }, '')).toThrow(/params.*schema/)
    expect(() => met('json_schema', { schema: { propertees: {} } }, '')).toThrow(/propertees/)
  })

  it('bounds the patterns of a schema too', () => {
    const evil = { type: 'string', pattern: '^(a+)+$' }
    expect(met('json_schema', { schema: evil }, JSON.stringify(`${'a'.repeat(50)}b`))).toBeNull()
    const two = { type: 'object', properties: { a: { pattern: '^a$' }, b: { pattern: '^b$' } } }
    expect(met('json_schema', { schema: two }, '{"a": "a", "b": "b"}')).toBe(true)
    expect(met('json_schema', { schema: two }, '{"a": "a", "b": "a"}')).toBe(false)
  })
})

describe('citations', () => {
  const text =
    'Water boils [1]. It rises [2, 3], see https://www.Example.org/a/.\n\n## References\n1. A, https://a.org\n[2] B'

  it('counts citations in the text, not in the list of sources', () => {
    expect(met('citations', { style: 'numbered', min: 3, max: 3 }, text)).toBe(true)
    expect(met('citations', { style: 'links', min: 1, max: 1 }, text)).toBe(true)
    expect(met('citations', { distinct: true, min: 2, style: 'numbered' }, 'a [1] b [1]')).toBe(false)
    expect(met('citations', {}, 'none')).toBe(false)
    expect(met('citations', { min: 4, max: 4 }, 'a [2-4] [7]')).toBe(true)
  })

  it('wants each to lead to a source', () => {
    const params = { style: 'numbered', graded: true }
    expect(checkRule('citations_resolve', params, item(text))).toMatchObject({
      met: false,
      credit: 2 / 3,
      explanation: 'missing: [3]',
    })
    expect(met('citations_resolve', { style: 'links', sources: ['https://example.org/a'] }, text)).toBe(true)
    const metadata = { sources: [{ text: 'x' }, { id: 7, text: 'y' }] }
    expect(met('citations_resolve', { from: 'given' }, 'a [1], b [7]', { metadata })).toBe(true)
    expect(met('citations_resolve', { from: 'given' }, 'a [2]', { metadata })).toBe(false)
    expect(met('citations_resolve', { from: 'given' }, 'a [1]')).toBeNull()
    expect(met('citations_resolve', {}, 'nothing cited')).toBe(false)
    expect(met('citations_resolve', { min: 0 }, 'nothing cited')).toBe(true)
  })

  it('wants quotations word for word', () => {
    const sources = [
      'Water boils at 100 degrees Celsius, at sea level, where the pressure is one atmosphere.',
    ]
    const quote = (said: string, more = {}) => met('quotes_verbatim', { sources, ...more }, said)
    expect(quote('It says “water boils at 100 degrees\nCelsius.”')).toBe(true)
    expect(quote('It says "water boils at 90 degrees Celsius".')).toBe(false)
    expect(quote('"Water boils … at sea level […] the pressure is one atmosphere"')).toBe(true)
    expect(quote('"at sea level ... water boils at 100 degrees"')).toBe(false)
    expect(quote('so-called "boiling"')).toBe(false)
    expect(quote('so-called "boiling"', { min: 0 })).toBe(true)
    expect(met('quotes_verbatim', {}, '"water boils at 100 degrees"')).toBeNull()
    expect(met('quotes_verbatim', { prompt: true }, '"the boiling point of water"')).toBe(true)
  })
})

describe('keyword overlap', () => {
  it('gives the share of key terms as credit', () => {
    const params = { terms: ['heat', 'steam', 'water vapour', 'ice'] }
    expect(checkRule('keyword_overlap', params, item('Heat makes steam, or water vapour.'))).toMatchObject({
      met: true,
      credit: 0.75,
      explanation: 'missing: ice',
    })
    expect(met('keyword_overlap', { ...params, min: 0.8 }, 'Heat makes steam, water vapour.')).toBe(false)
  })

  it('takes content words of the reference, by stem', () => {
    const more = { reference: 'The kettles are boiling.' }
    expect(credit('keyword_overlap', { from: 'reference' }, 'A boiled kettle', more)).toBe(1)
    expect(credit('keyword_overlap', { from: 'reference' }, 'A pot boils', more)).toBe(0.5)
    expect(met('keyword_overlap', { from: 'reference' }, 'A pot')).toBeNull()
  })
})

describe('echo', () => {
  const question = 'Write a short note about a lost cat and where it was last seen.'
  const echoes = (response: string, params = {}) => {
    const { met: isOwn } = checkRule('echo', params, {
      prompt: [{ role: 'user', content: question }],
      response,
    })
    return isOwn
  }

  it('is what copies the question, by runs of words', () => {
    expect(echoes(question)).toBe(false)
    expect(echoes('"A short note about a lost cat and where it was last seen"')).toBe(false)
    expect(echoes('Tom left on Monday. If you have met a grey cat near the harbour, please call me.')).toBe(
      true,
    )
    expect(echoes('A note: our cat was last seen at the old mill.', { n: 2, maxShare: 0.1 })).toBe(false)
  })

  it('says so of a part, and nothing of what is shorter than a run or has no question', () => {
    const part =
      'The lost cat and where it was last seen: at noon on the roof of the bakery, asleep in the sun.'
    expect(
      checkRule('echo', {}, { prompt: [{ role: 'user', content: question }], response: part }),
    ).toMatchObject({
      // "lost cat and where" to "it was last seen": 5 of its 18 runs.
      explanation: "27.8% of its runs of 4 words are the question's",
    })
    expect(echoes('lost cat')).toBe(true)
    expect(met('echo', {}, 'A boat.')).toBe(true)
    expect(checkRule('echo', {}, { prompt: [], response: 'A boat.' }).met).toBeNull()
  })
})

describe('likelihood', () => {
  const likely = (startLogprob: number | undefined, min = -2) =>
    checkRule('likelihood', { min }, { ...item('a'), ...(startLogprob !== undefined && { startLogprob }) })

  it('compares what the starting model made of the response, and says null where none did', () => {
    expect(likely(-1.99)).toMatchObject({ met: true, explanation: '-1.99 nats a token' })
    expect(likely(-2.01).met).toBe(false)
    expect(likely(undefined).met).toBeNull()
    expect(() => checkRule('likelihood', { min: 1 }, item('a'))).toThrow(/min: expected/)
  })
})

describe('exact answers', () => {
  const says = (gold: string, response: string, more = {}) => met('exact_answer', { gold, ...more }, response)

  it('finds the answer and normalises both', () => {
    expect(says('Paris', 'I think so.\nAnswer: **Paris.**')).toBe(true)
    expect(says('Paris', 'The answer is Paris, of course')).toBe(false)
    expect(says('42', 'so \\boxed{42}')).toBe(true)
    expect(says('\\boxed{1/2}', '<answer>0.5</answer>')).toBe(true)
    expect(says('1000', 'It is\n1,000')).toBe(true)
    expect(says('0.3333333', '1/3')).toBe(true)
    expect(says('1/3', '0.333333')).toBe(true)
    expect(says('0.0000005', '0')).toBe(false)
    expect(says('0.0', '0')).toBe(true)
    expect(says('0.333', '1/3')).toBe(false)
    expect(says('Unknown', 'Answer: cannot be determined')).toBe(true)
    expect(says('True', '<answer>Yes.</answer>')).toBe(true)
    expect(says('True', '<answer>No</answer>')).toBe(false)
    expect(says('N', 'No')).toBe(false)
    expect(says('N', 'No', { kind: 'label' })).toBe(true)
    expect(says('B', 'Answer: (B) Berlin', { kind: 'choice' })).toBe(true)
    expect(says('B', 'Answer: Berlin', { kind: 'choice' })).toBe(false)
  })

  it('takes the gold answer of the item, and says null without one', () => {
    expect(met('exact_answer', {}, 'Answer: 7', { reference: '7.0' })).toBe(true)
    expect(met('exact_answer', {}, '', { reference: '' })).toBeNull()
    expect(met('exact_answer', {}, 'Answer: 7')).toBeNull()
    expect(met('exact_answer', { gold: ['six', '6'] }, '6')).toBe(true)
  })

  // volcengine/verl's GSM8K prompt ends with ####; huggingface/trl PR 4563 reads behind </think> alone.
  it.each([
    ['42', 'He sold 42.\n#### 42', true],
    ['1234', '#### 1,234', true],
    ['42', '\\boxed {42}', true],
    ['42', '\\fbox{42}', true],
    ['Paris', '\\boxed{\\text{Paris}}', true],
    ['7', '\\boxed{5} was wrong. <answer>7</answer>', true],
    ['7', 'The final answer is 7.\n\nNote: \\boxed{} is not used.', true],
    ['7', '<think>maybe \\boxed{5}? No.</think>\n\nThe answer is 7.', true],
    ['7', '<think>maybe \\boxed{7}</think>\n\nThe answer is 5.', false],
    ['7', 'maybe \\boxed{7}</think>\n\nThe answer is 5.', false],
    ['7', '<think>maybe \\boxed{7}</think>\n\nI do not know.', false],
    ['7', '<think>maybe \\boxed{7} but let me', false],
  ])('%s: %s', (gold, response, right) => {
    expect(says(gold, response)).toBe(right)
  })

  // volcengine/verl's Search-R1 rows have {"target": [...]} as right answers.
  it.each([
    ['["Paris", "City of Light"]', true],
    ['{"target": ["Rome", "Paris"]}', true],
    ['{"target": "Rome"}', false],
    ['{"url": "x"}', null],
    ['[1, 2]', false],
  ])('right answers %s', (reference, right) => {
    expect(met('exact_answer', {}, '<answer> Paris </answer>', { reference })).toBe(right)
    expect(met('math_equal', {}, '<answer> Paris </answer>', { reference })).toBe(right)
  })
})

describe('mathematical answers', () => {
  it('are compared as mathematics', () => {
    expect(met('math_equal', { gold: '\\frac{1}{2}' }, 'So we get \\boxed{0.5}.')).toBe(true)
    expect(met('math_equal', { gold: '2x+1' }, 'The answer is $1+2x$.')).toBe(true)
    expect(met('math_equal', { gold: '3' }, 'The answer is 4.')).toBe(false)
    expect(met('math_equal', { gold: ['3', '4'] }, 'The answer is 4.')).toBe(true)
    expect(met('math_equal', {}, 'The answer is 4.', { reference: '4.0' })).toBe(true)
    expect(met('math_equal', {}, 'The answer is 4.')).toBeNull()
    expect(checkRule('math_equal', { gold: '3' }, item('')).met).toBe(false)
    expect(met('math_equal', { gold: '3', extract: false, within: 'answer' }, '<answer>3.0</answer>')).toBe(
      true,
    )
  })
})

describe('instructions', () => {
  const bullets = { id: 'detectable_format:number_bullet_lists', kwargs: { num_bullets: 2 } }

  it('go by their public ids, strict or loose', () => {
    expect(met('instruction', bullets, '* a\n* b')).toBe(true)
    expect(met('instruction', bullets, '* a')).toBe(false)
    const shout = { id: 'change_case:english_capital', kwargs: null }
    expect(met('instruction', shout, 'Sure:\nTHIS IS A LOUD ANSWER TO EVERYTHING')).toBe(false)
    expect(
      met('instruction', { ...shout, mode: 'loose' }, 'Sure:\nTHIS IS A LOUD ANSWER TO EVERYTHING'),
    ).toBe(true)
  })

  it('are checked when they are loaded', () => {
    expect(() => met('instruction', { id: 'detectable_format:bullets' }, '')).toThrow(
      /rule instruction: params: /,
    )
    expect(() => met('instruction', { ...bullets, kwargs: { bullets: 2 } }, '')).toThrow(
      /rule instruction: params: .*number_bullet_lists.*bullets/,
    )
  })

  it('tell languages apart', () => {
    const german = 'Der Hund läuft schnell durch den Wald und bellt laut.'
    expect(met('language', { language: 'de' }, german)).toBe(true)
    expect(met('language', { language: 'en' }, german)).toBe(false)
    expect(met('language', { language: 'de' }, ' ')).toBe(false)
    expect(() => met('language', { language: 'klingon' }, '')).toThrow(/language: expected one of am, ar/)
  })
})

describe('every rule', () => {
  it('can look into a tag only, and be inverted', () => {
    const text = '<notes>maybe</notes><answer>surely</answer>'
    expect(met('contains', { any: ['maybe'], within: 'answer' }, text)).toBe(false)
    expect(met('contains', { any: ['maybe'], within: 'notes' }, text)).toBe(true)
    expect(met('contains', { any: ['maybe'], within: 'plan' }, text)).toBe(false)
    expect(met('contains', { any: ['maybe'], negate: true }, text)).toBe(false)
    expect(credit('keyword_overlap', { terms: ['maybe', 'x', 'y', 'z'], negate: true }, text)).toBe(0.75)
    expect(met('citations_resolve', { from: 'given', negate: true }, 'a [1]')).toBeNull()
  })

  it('is in the how-to page', () => {
    const page = readFileSync(new URL('../../../docs/howto/grade-a-file.md', import.meta.url), 'utf8')
    // The coin is for rubrics that are spoilt on purpose.
    const missing = [...RULES.keys()].filter(name => name !== 'coin' && !page.includes(`\`${name}\``))
    expect(missing).toEqual([])
  })

  it('names the rule that was meant', () => {
    expect(() => met('lenght', {}, '')).toThrow(/got "lenght"; did you mean length\?/)
    expect(() => met('length', { maxx: 3 }, '')).toThrow(/maxx: expected one of .*min.*did you mean/)
    expect(() => met('length', {}, '')).toThrow(/expected min or max/)
    expect(() => met('length', { min: 5, max: 3 }, '')).toThrow(/min not above max/)
  })

  it('needs linear time only, whatever the response', () => {
    const long = 200_000
    const texts = [
      '~'.repeat(long),
      '# '.padEnd(long),
      '"'.repeat(long),
      '['.repeat(long),
      'answer '.repeat(long / 8),
    ]
    texts.push(
      `~~~${'~'.repeat(long)}\``,
      `${' '.repeat(long)}x`,
      'https://a.b/('.repeat(long / 16),
      '<a>'.repeat(long / 4),
    )
    const calls: [string, object][] = [
      ['tags', { tags: ['a', 'b'] }],
      ['sections', { headings: ['x'] }],
      ['list', { min: 1 }],
      ['code_block', { min: 1 }],
      ['length', { unit: 'sentences', min: 1 }],
      ['repetition', { maxTimes: 3 }],
      ['contains', { all: ['zz'] }],
      ['citations_resolve', { sources: ['x'] }],
      ['quotes_verbatim', { sources: ['x'] }],
      ['exact_answer', { gold: 'x' }],
    ]
    for (const text of texts)
      for (const [fn, params] of calls) expect(typeof met(fn, params, text)).toBe('boolean')
  })
})

describe('a rubric of rules', () => {
  const rule = (id: string, fn: string, params?: Record<string, unknown>) => ({
    id,
    text: id,
    points: 1,
    verifier: { kind: 'rule' as const, fn, ...(params && { params }) },
  })

  it('is checked when it is loaded: every criterion and field by name', () => {
    const criteria = [
      rule('fine', 'length', { max: 5 }),
      rule('typo', 'contain', { any: ['a'] }),
      rule('bad', 'length', { max: 'five' }),
      { id: 'judged', text: 'x', points: 1 },
    ]
    const load = () => validateRules({ criteria }, 'rubric.yaml')
    expect(load).toThrow(/rubric\.yaml: criteria\[1\] "typo": verifier: fn: .*did you mean contains\?/)
    expect(load).toThrow(
      /rubric\.yaml: criteria\[2\] "bad": verifier: params: max: expected a number, got "five"/,
    )
    expect(() => validateRules({ criteria: [criteria[0], criteria[3]] })).not.toThrow()
  })

  it('is graded in order', async () => {
    const criteria = [
      rule('long', 'length', { min: 9 }),
      rule('terms', 'keyword_overlap', { terms: ['a', 'b'] }),
    ]
    const verdicts = await new RuleGrader().grade(item('a'), criteria)
    expect(verdicts).toEqual([
      { criterionId: 'long', met: false, explanation: '1 words', source: 'rule' },
      { criterionId: 'terms', met: true, credit: 0.5, explanation: 'missing: b', source: 'rule' },
    ])
  })

  it('is refused where a criterion has no rule', async () => {
    const grading = new RuleGrader().grade(item('a'), [{ id: 'judged', text: 'x', points: 1 }])
    await expect(grading).rejects.toThrow(/"judged": verifier: expected a rule, got none/)
  })

  it('has rules that all say what they do', () => {
    expect(RULES.size).toBeGreaterThan(15)
    for (const { name, about } of RULES.values())
      expect(`${name}: ${about}`).toMatch(/^[a-z_]+: [A-Z].{20,}\.$/)
  })
})
