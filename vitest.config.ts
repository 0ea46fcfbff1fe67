import { readFileSync, statfsSync } from 'node:fs'
import { relative } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type Reporter, type TestSpecification } from 'vitest/node'

/** What computes with a model: `npm run test:engine`. */
const ENGINE = ['tensor', 'model', 'policy', 'train', 'recipes', 'bench'].map(
  name => `src/${name}/**/*.test.ts`,
)
/** Commands, servers and pages as users meet them, and whole experiments: `npm run test:e2e`. */
const E2E = [
  ...['cli', 'serve'].map(name => `src/${name}/**/*.test.ts`),
  ...['src/experiments/*.test.ts', 'src/experiments/run/*.test.ts', 'src/tools/mcp/*.test.ts'],
]
/** Of the repository as a whole, what takes seconds. */
const OF_SOURCES = ['layers', 'sizes', 'supply-chain', 'node-version', 'chaos-plan', 'api-examples'].map(
  name => `test/${name}.test.ts`,
)
/**
 * Tests beside the code leave nothing behind in their process: a worker loads what they import once, which saves a quarter of all
 * processor time. Not among them: what replaces modules, and what counts a fake clock's ticks.
 */
const APART = ['src/runs/row-files.test.ts', 'src/tools/openenv/client.test.ts']

/** Small files with long tests. */
const LONG = [
  ...['cli/hostile', 'cli/experiment/registrations', 'cli/train/determinism'],
  ...['bench/determinism', 'bench/overlap', 'bench/growth'],
].map(name => `/src/${name}.test.ts`)

/**
 * Tests write, sync and remove tens of thousands of small files, which takes a third of a tiny training where it is a disk that they
 * lie on: they lie in memory where the system offers it, with room, and with leave to start programs from it.
 */
const inMemory = (): { TMPDIR?: string } => {
  const folder = '/dev/shm'
  try {
    const [, options] = /^\S+ \/dev\/shm tmpfs (\S+)/m.exec(readFileSync('/proc/mounts', 'utf8'))!
    const { bavail, bsize } = statfsSync(folder)
    return options.includes('noexec') || bavail * bsize < 4 * 2 ** 30 ? {} : { TMPDIR: folder }
  } catch {
    return {}
  }
}

/** Where nothing is known of earlier runs the largest files come first: these before them, or they end long after all others. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ project, moduleId }: TestSpecification) =>
      project.name.endsWith('apart') ? 0 : LONG.some(name => moduleId.endsWith(name)) ? 1 : 2
    return (await super.sort(files)).toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}

/** The files that take longest, at the end of every log. */
const slowest: Reporter = {
  onTestRunEnd(modules) {
    const files = modules
      .map(({ moduleId, diagnostic }, i) => ({ moduleId, ms: diagnostic.call(modules[i]).duration }))
      .toSorted((a, b) => b.ms - a.ms)
      .slice(0, 10)
      .map(({ moduleId, ms }) => `${(ms / 1000).toFixed(1).padStart(8)} s  ${relative('.', moduleId)}`)
    if (modules.length > 10) console.log(['', ' Slowest files', ...files, ''].join('\n'))
  },
}

export default defineConfig({
  test: {
    reporters: ['default', slowest],
    sequence: { sequencer: LongFirst },
    env: inMemory(),
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // On two cores a third one works while others wait; engine tests start solver and runtime threads of their own.
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts'],
          exclude: [...ENGINE, ...E2E, ...APART],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'unit-apart', include: [...APART, ...OF_SOURCES] } },
      { extends: true, test: { name: 'engine', include: ENGINE, isolate: false } },
      { extends: true, test: { name: 'e2e', include: E2E, isolate: false } },
      { extends: true, test: { name: 'e2e-apart', include: ['test/**/*.test.ts'], exclude: OF_SOURCES } },
    ],
  },
})
