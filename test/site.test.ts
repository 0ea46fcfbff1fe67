/** The documentation site: what it is made of, that it can be built of it, and that it opens from a disk. */

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import katex from 'katex'
import { chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { faultsOf } from '../scripts/site/check.js'
import { KATEX_OPTIONS } from '../scripts/site/formulas.js'
import { HOME, SECTIONS } from '../scripts/site/pages.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const TIMEOUT_MS = 300_000

const pages = SECTIONS.flatMap(section => section.pages)
const markdownOf = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => `${folder}/${name.replaceAll('\\', '/')}`)

describe('the sidebar', () => {
  it('has every page of docs/ once, and those of the project', () => {
    const own = readdirSync(root).filter(name => name.endsWith('.md') && name !== HOME)
    expect(pages.toSorted()).toEqual([...markdownOf('docs'), ...own].toSorted())
  })

  it.each(pages)('%s begins with its title', page => {
    expect(read(page)).toMatch(/^# \S/)
  })
})

/** What a page says outside of blocks and spans of code, and its blocks of formulas. */
const partsOf = (page: string) => {
  const text = read(page)
  const fence = /^```(\S*)[^\n]*\n([\s\S]*?)^```$/gm
  const blocks = [...text.matchAll(fence)]
    .filter(([, language]) => language === 'math')
    .map(([, , body]) => body)
  return { blocks, prose: text.replace(fence, '').replace(/`[^`\n]*`/g, '') }
}
const inlineOf = (prose: string) => [...prose.matchAll(/\$([^$\n]+)\$/g)].map(([, formula]) => formula)

describe('formulas', () => {
  const withFormulas = [HOME, ...pages].flatMap(page => {
    const { blocks, prose } = partsOf(page)
    return blocks.length + inlineOf(prose).length > 0 ? [{ page, blocks, prose }] : []
  })

  it.each(withFormulas)('of $page can be read by KaTeX', ({ blocks, prose }) => {
    for (const formula of [...blocks, ...inlineOf(prose)])
      expect(katex.renderToString(formula, KATEX_OPTIONS), formula).toContain('katex')
  })

  it.each(withFormulas)('of $page survive GitHub, which reads Markdown in them first', ({ prose }) => {
    // Escaped punctuation loses its backslash; `*`, `<` and an underscore behind a brace begin markup of their own.
    for (const formula of inlineOf(prose)) expect(formula).not.toMatch(/\\[!-/:-@[-`{-~]|[*<]|\}_/)
    expect((prose.match(/\$/g) ?? []).length % 2, 'dollars come in pairs').toBe(0)
    for (const [, before, after] of prose.matchAll(/(.|^)\$[^$\n]+\$(.|$)/gm)) {
      expect(before).toMatch(/^[\s(]?$/)
      expect(after).toMatch(/^[\s).,:;]?$/)
    }
  })

  it('stand on the page of every recipe, and a figure on those of the papers', () => {
    const papers = ['rubric-as-reward', 'ruscarl', 'rlcer', 'rit', 'rubricem']
    const recipes = markdownOf('docs/recipes')
    for (const page of recipes) expect(partsOf(page).blocks.length, page).toBeGreaterThan(0)
    for (const name of papers) {
      const figures = [...read(`docs/recipes/${name}.md`).matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)]
      expect(figures.length, name).toBeGreaterThan(0)
      for (const [, path] of figures) expect(existsSync(join(root, 'docs/recipes', path)), path).toBe(true)
    }
  })
})

describe('the glossary', () => {
  const entries = read('docs/glossary.md')
    .split(/^### /m)
    .slice(1)
    .map(text => ({ term: text.slice(0, text.indexOf('\n')), text }))
  const terms = entries.map(({ term }) => term)

  it('is in the order of the alphabet', () => {
    expect(terms).toEqual(terms.toSorted((a, b) => a.localeCompare(b, 'en')))
  })

  it('has the nouns of the sentence that the code reads like', () => {
    const [, sentence] = read('docs/ARCHITECTURE.md').split('\n\n')
    const nouns = [...sentence.matchAll(/\*\*(\w+)\*\*/g)].map(([, noun]) => noun.replace(/s$/, ''))
    expect(nouns.length).toBeGreaterThan(8)
    expect(terms.map(term => term.toLowerCase())).toEqual(expect.arrayContaining(nouns))
  })

  it('says of each where it stands in the code, and where it comes from', () => {
    for (const { term, text } of entries) {
      const places = [...text.matchAll(/`([a-z][\w./-]*\/[\w./-]*)`(?: \(`(\w+)`\))?/g)]
      expect(places.length, term).toBeGreaterThan(0)
      for (const [, path, name] of places) {
        expect(existsSync(join(root, 'src', path)), path).toBe(true)
        if (name !== undefined) expect(read(`src/${path}`), path).toMatch(new RegExp(`\\b${name}\\b`))
      }
      expect(text, term).toMatch(/Source: \S/)
    }
  })
})

describe('faults of a site', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gradus-faults-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('are dead links, places that are not there, and what is fetched from elsewhere', () => {
    mkdirSync(join(folder, 'assets'))
    writeFileSync(
      join(folder, 'assets', 'style.css'),
      '@font-face { src: url(https://fonts.example/a.woff2) }',
    )
    writeFileSync(join(folder, 'a.html'), '<h1 id="top"></h1><a href="b.html#here"></a><a href="#top"></a>')
    writeFileSync(
      join(folder, 'b.html'),
      [
        '<a id="here" href="https://example.org">elsewhere is fine for a link</a>',
        '<a href="c.html"></a><a href="a.html#bottom"></a>',
        '<script src="//cdn.example/x.js"></script><img src="data:image/png;base64,AA">',
      ].join('\n'),
    )
    expect(faultsOf(folder)).toEqual([
      'b.html: a link that leads nowhere: c.html',
      'b.html: no place of that name: a.html#bottom',
      'b.html: <script> fetches //cdn.example/x.js',
      'assets/style.css: fetches https://fonts.example/a.woff2',
    ])
  })
})

/** Where distributions put it. */
const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
]
const executablePath = process.env.GRADUS_CHROMIUM ?? PLACES.find(path => existsSync(path))

// Without the package's API, which takes most of the time; `npm run docs` builds all of it, with the same check of its links.
describe('the site', { timeout: TIMEOUT_MS }, () => {
  const out = mkdtempSync(join(tmpdir(), 'gradus-site-'))
  afterAll(() => rmSync(out, { recursive: true, force: true }))
  beforeAll(() => {
    execFileSync('node', [join(root, 'scripts/site/build.js'), '--pages', '--out', out], { stdio: 'pipe' })
  }, TIMEOUT_MS)

  it('has a page for each page of docs/, and for the files that they link to', () => {
    const built = (path: string) =>
      existsSync(join(out, 'pages', `${path.replace(/^docs\/|\.md$/g, '')}.html`))
    expect(pages.filter(page => !built(page))).toEqual([])
    expect(built('examples/own-task.ts') && built('LICENSE')).toBe(true)
    expect(faultsOf(out)).toEqual([])
  })

  it.skipIf(executablePath === undefined)(
    'is searched and shows formulas from a disk, without a network',
    async () => {
      const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
      try {
        const context = await browser.newContext({ offline: true })
        const page = await context.newPage()
        const asked: string[] = []
        page.on('request', request => {
          if (!/^(?:file|data|blob):/.test(request.url())) asked.push(request.url())
        })
        await page.goto(pathToFileURL(join(out, 'index.html')).href)
        await page.click('#tsd-search-trigger')
        await page.fill('#tsd-search-input', 'zero-variance')
        const found = page.locator('#tsd-search-results a', { hasText: 'Glossary' })
        await found.first().waitFor()
        await found.first().click()
        await page.waitForURL(/glossary\.html/)
        await page.goto(pathToFileURL(join(out, 'pages', 'recipes', 'rit.html')).href)
        const formula = page.locator('.katex-display .katex-html').first()
        await formula.waitFor()
        const { width, height } = (await formula.boundingBox())!
        expect(Math.min(width, height)).toBeGreaterThan(10)
        const fonts = await page.evaluate<string[]>(
          "document.fonts.ready.then(fonts => [...fonts].filter(font => font.status === 'loaded').map(font => font.family))",
        )
        expect(fonts.join()).toContain('KaTeX_Main')
        expect(asked).toEqual([])
      } finally {
        await browser.close()
      }
    },
  )
})
