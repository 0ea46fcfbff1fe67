import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { passagesOf, sectionsOf } from './passages.ts'
import { snippetOf } from './snippet.ts'
import { placedTerms, termsOf } from './terms.ts'

describe('terms', () => {
  it('are Porter2 stems', () => {
    // From the samples and the description of snowballstem.org's English stemmer.
    const stems: Record<string, string> = {
      consigned: 'consign',
      consistency: 'consist',
      consolatory: 'consolatori',
      knackeries: 'knackeri',
      knights: 'knight',
      generously: 'generous',
      skis: 'ski',
      dying: 'die',
      happily: 'happili',
      hopping: 'hop',
      sky: 'sky',
    }
    expect(termsOf(Object.keys(stems).join(' '))).toEqual(Object.values(stems))
  })

  it('leave out stop words and single characters, and take words of any script', () => {
    expect(termsOf('The boundary-layer of a wing, at 45 K: Größe 平板')).toEqual([
      'boundari',
      'layer',
      'wing',
      '45',
      'größe',
      '平板',
    ])
    expect(termsOf('the of and')).toEqual([])
    expect(termsOf('x'.repeat(1_000))).toEqual([])
  })

  it('know their places', () => {
    const text = 'A 🚀 rocket engine'
    expect(placedTerms(text).map(({ start, end }) => text.slice(start, end))).toEqual(['rocket', 'engine'])
  })
})

describe('passages', () => {
  it('are whole paragraphs as long as they fit together', () => {
    const paragraphs = ['a'.repeat(40), 'b'.repeat(40), 'c'.repeat(40)]
    expect(passagesOf(paragraphs.join('\n\n'), 90)).toEqual([
      paragraphs.slice(0, 2).join('\n\n'),
      paragraphs[2],
    ])
    expect(passagesOf(' \n ')).toEqual([])
    expect(passagesOf('short')).toEqual(['short'])
  })

  it('are cut after sentences, then between words, then between characters', () => {
    expect(passagesOf('One two three four. Five six seven.', 25)).toEqual([
      'One two three four.',
      'Five six seven.',
    ])
    expect(passagesOf('one two three four five', 14)).toEqual(['one two three', 'four five'])
    expect(passagesOf('🚀'.repeat(4), 3)).toEqual(['🚀', '🚀', '🚀', '🚀'])
  })

  it('are never longer than asked for and lose nothing but blanks', () => {
    const text = fc.array(fc.constantFrom('word', 'a', '. ', ' ', '\n\n', '\n', '🚀', 'x'.repeat(30), '平'))
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 60 }), (parts, maxChars) => {
        const whole = parts.join('')
        const passages = passagesOf(whole, maxChars)
        expect(passages.every(passage => passage.length <= maxChars && passage.trim() !== '')).toBe(true)
        expect(passages.join('').replace(/\s/g, '')).toBe(whole.replace(/\s/g, ''))
        expect(passages.some(passage => /\p{Surrogate}/u.test(passage))).toBe(false)
      }),
    )
  })
})

describe('sections of Markdown', () => {
  it('belong to the headings above them; code has none', () => {
    const text =
      '# Book\nintro\n## One\nfirst\n```sh\n# no heading\n```\n### Deep ###\ndeep\n## Two\n\n# Next\nlast'
    expect(sectionsOf(text)).toEqual([
      { headings: ['Book'], text: 'intro' },
      { headings: ['Book', 'One'], text: 'first\n```sh\n# no heading\n```' },
      { headings: ['Book', 'One', 'Deep'], text: 'deep' },
      { headings: ['Next'], text: 'last' },
    ])
    expect(sectionsOf('####### seven\n#tag\n')).toEqual([{ headings: [], text: '####### seven\n#tag' }])
    expect(sectionsOf('# C#\nx')).toEqual([{ headings: ['C#'], text: 'x' }])
  })

  it('are read in a moment whatever stands there', () => {
    const long = `# ${'#'.repeat(200_000)}x\n${'`'.repeat(200_000)}\n${' '.repeat(200_000)}#`
    expect(sectionsOf(long).length).toBeLessThan(3)
  })
})

describe('snippets', () => {
  const filler = 'Nothing of interest is said here at all. '.repeat(20)
  const text = `${filler}The Kármán line lies at an altitude of a hundred kilometres. ${filler}`

  it('show the part with the most telling words, between words', () => {
    const worth = (term: string) => (term === 'kármán' ? 5 : 1)
    const snippet = snippetOf(text, termsOf('altitude of the Kármán line'), worth, 120)
    expect(snippet).toContain('Kármán line lies at an altitude')
    expect(snippet.length).toBeLessThanOrEqual(120 + 4)
    expect(snippet).toMatch(/^… \w.* …$/)
  })

  it('are the whole of a short passage and the beginning of one without a hit', () => {
    expect(snippetOf('short text', ['zebra'], () => 1, 100)).toBe('short text')
    expect(snippetOf(text, ['zebra'], () => 1, 100)).toMatch(/^Nothing of interest.* …$/)
  })

  it('are parts of the passage, of the length asked for, whatever it is', () => {
    const passage = fc.array(fc.constantFrom('wing', 'heat', ' ', 'flow ', '🚀', 'x'.repeat(50), '. '), {
      maxLength: 60,
    })
    fc.assert(
      fc.property(passage, fc.integer({ min: 10, max: 200 }), (parts, maxChars) => {
        const whole = parts.join('')
        const snippet = snippetOf(whole, ['wing', 'heat'], () => 1, maxChars)
        if (whole.length <= maxChars) {
          expect(snippet).toBe(whole)
          return
        }
        const middle = snippet.replace(/^… /, '').replace(/ …$/, '')
        expect(whole).toContain(middle)
        expect(middle.length).toBeLessThanOrEqual(maxChars)
        expect(/\p{Surrogate}/u.test(middle)).toBe(false)
      }),
    )
  })
})
