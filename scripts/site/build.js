/**
 * @file Builds the documentation site: the pages of docs/ and the package's public API, by TypeDoc, into one folder that
 * opens from a disk. `npm run docs`, or `node scripts/site/build.js --out FOLDER`; `--pages` leaves out the API, which takes
 * most of the time. Fails where a link leads nowhere, a formula cannot be read, or something would be fetched from elsewhere.
 */

import { appendFileSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createRequire, register } from 'node:module'
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { faultsOf } from './check.js'
import { withFormulas } from './formulas.js'
import { HOME, SECTIONS } from './pages.js'

register('./compiler.js', import.meta.url)
const typedoc = await import('typedoc')

const root = fileURLToPath(new URL('../..', import.meta.url))
const { values } = parseArgs({
  options: {
    out: { type: 'string', default: join(root, 'site') },
    pages: { type: 'boolean', default: false },
  },
})
const out = resolve(values.out)
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** What the package exports, by its sources. */
const entryPoints = values.pages
  ? []
  : Object.values(manifest.exports).flatMap(target =>
      typeof target === 'string'
        ? []
        : [join(root, 'src', relative('dist', target.default)).replace(/js$/, 'ts')],
    )

const FILES = 'Files'
/** What a page may show as text: a browser would offer some of these to be saved. */
const LANGUAGES = {
  '.md': 'markdown',
  '.ts': 'ts',
  '.js': 'js',
  '.yaml': 'yaml',
  '.yml': 'yaml',
  '.py': 'python',
  '': '',
}

const toPath = absolute => relative(root, absolute).split(sep).join('/')
const titleOf = text => /^# (.+)$/m.exec(text)?.[1].replaceAll('`', '')

/** A folder or a text file of the repository that a page links to, as a page: Markdown. */
const shown = absolute => {
  const path = toPath(absolute)
  if (statSync(absolute).isDirectory()) {
    const names = readdirSync(absolute).toSorted()
    return `# ${path}/\n\nA folder of the repository.\n\n${names.map(name => `- \`${name}\``).join('\n')}\n`
  }
  const text = readFileSync(absolute, 'utf8')
  if (extname(absolute) === '.md') return text
  return `# ${path}\n\n\`\`\`\`${LANGUAGES[extname(absolute)]}\n${text.trimEnd()}\n\`\`\`\`\n`
}

const isShown = absolute => statSync(absolute).isDirectory() || extname(absolute) in LANGUAGES

const groupOf = new Map(SECTIONS.flatMap(({ title, pages }) => pages.map(page => [join(root, page), title])))

/** Names pages by their first line and puts them into their section. */
const namePage = document => {
  const path = resolve(document.project.files.getReflectionPath(document))
  document.name = titleOf(readFileSync(path, 'utf8')) ?? basename(path)
  document.frontmatter.group = groupOf.get(path)
}

/** Gives each linked folder and text file that is no page yet a page of its own, so that links to it lead there. */
const addLinkedFiles = (project, converter) => {
  const paths = [...project.files.getMediaPaths()].filter(isShown)
  for (const path of paths) {
    const file = new typedoc.MinimalSourceFile(shown(path), path)
    const { content } = converter.parseRawComment(file, project.files)
    const document = new typedoc.DocumentReflection(toPath(path), project, content, { group: FILES })
    project.addChild(document)
    project.registerReflection(document, undefined, path)
  }
  // What was added may link to more.
  if (paths.length > 0) addLinkedFiles(project, converter)
}

/** Headers of files (`@file`) describe the modules that they stand in, and nothing else. */
const placeHeader = reflection => {
  const header = reflection.comment?.getTag('@file')
  if (header === undefined) return
  reflection.comment.removeTags('@file')
  if (reflection.kindOf(typedoc.ReflectionKind.SomeModule)) reflection.comment.summary = header.content
}

/** Pages have the addresses of their files, so that an address outlives a heading. */
class PathRouter extends typedoc.KindRouter {
  getIdealBaseName(reflection) {
    if (!reflection.isDocument()) return super.getIdealBaseName(reflection)
    const path = toPath(resolve(reflection.project.files.getReflectionPath(reflection)))
    return `pages/${path.replace(/^docs\//, '').replace(/\.md$/, '')}`
  }
}

const app = await typedoc.Application.bootstrap({
  name: 'Gradus',
  entryPoints,
  blockTags: [...typedoc.Configuration.OptionDefaults.blockTags, '@file'],
  router: 'path',
  tsconfig: join(root, 'tsconfig.build.json'),
  basePath: root,
  displayBasePath: root,
  // tsc and its version of TypeScript check the sources; this reads them.
  skipErrorChecking: true,
  disableSources: true,
  excludePrivate: true,
  excludeExternals: true,
  readme: join(root, HOME),
  projectDocuments: SECTIONS.flatMap(({ pages }) => pages.map(page => join(root, page))),
  groupOrder: [...SECTIONS.map(({ title }) => title), 'Modules', '*', FILES],
  navigation: { includeGroups: true, includeCategories: false, includeFolders: false },
  searchInDocuments: true,
  searchGroupBoosts: Object.fromEntries(SECTIONS.map(({ title }) => [title, 3])),
  includeHierarchySummary: false,
  includeVersion: true,
  hideGenerator: true,
  headings: { readme: false, document: false },
  customCss: createRequire(import.meta.url).resolve('katex/dist/katex.min.css'),
  markdownItLoader: parser => {
    withFormulas(parser)
    // TypeDoc takes blocks without a language for TypeScript.
    parser.core.ruler.push('plain-blocks', ({ tokens }) => {
      for (const token of tokens) if (token.type === 'fence' && token.info.trim() === '') token.info = 'text'
    })
  },
  highlightLanguages: [
    ...[
      'bash',
      'sh',
      'powershell',
      'console',
      'ts',
      'typescript',
      'tsx',
      'js',
      'javascript',
      'json',
      'jsonl',
      'jsonc',
    ],
    ...['yaml', 'python', 'toml', 'markdown', 'html', 'css', 'diff', 'dockerfile', 'ini'],
  ],
  validation: { invalidLink: true, invalidPath: true, notExported: false, notDocumented: false },
  cleanOutputDir: true,
})

app.converter.on(typedoc.Converter.EVENT_CREATE_DOCUMENT, (_, document) => namePage(document))
app.converter.on(typedoc.Converter.EVENT_RESOLVE_BEGIN, ({ project, converter }) => {
  for (const reflection of Object.values(project.reflections)) placeHeader(reflection)
  for (const module of project.children ?? []) module.name = module.name.replace(/^src\b/, 'gradus')
  addLinkedFiles(project, converter)
})
app.renderer.defineRouter('path', PathRouter)

const project = await app.convert()
if (project === undefined) process.exit(1)
app.validate(project)
await app.generateDocs(project, out)
if (app.logger.hasErrors()) process.exit(1)

const fonts = join(dirname(createRequire(import.meta.url).resolve('katex/dist/katex.min.css')), 'fonts')
mkdirSync(join(out, 'assets', 'fonts'), { recursive: true })
// A formula that is wider than the page is moved within it; settings break where they must, and what they are has room.
appendFileSync(
  join(out, 'assets', 'custom.css'),
  '\n.katex-display { overflow-x: auto; overflow-y: hidden }\n.tsd-typography table { display: block; overflow-x: auto }\n.tsd-typography td code { overflow-wrap: anywhere }\n.tsd-typography td:first-child { min-width: 10em }\n.tsd-typography td:last-child { min-width: 16em }\n',
)
cpSync(fonts, join(out, 'assets', 'fonts'), {
  recursive: true,
  filter: path => !/\.(?:ttf|woff)$/.test(path),
})

const faults = faultsOf(out)
if (faults.length > 0) {
  console.error(`${faults.join('\n')}\n${faults.length} faults of the site in ${out}`)
  process.exit(1)
}
console.log(join(out, 'index.html'))
