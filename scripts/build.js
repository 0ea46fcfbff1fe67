// Builds dist/: TypeScript by tsc, the scripts and the style of pages by Vite, the kernels by AssemblyScript.
// `node scripts/build.js --if-stale` does nothing when dist/ is newer than every source file.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isFresh, root, stamp } from './fresh.js'

const run = (packageName, script, args) => {
  const entry = join(root, 'node_modules', packageName, script)
  if (!existsSync(entry)) {
    console.error(`build: ${packageName} is not installed; run \`npm ci\` first`)
    process.exit(1)
  }
  const result = spawnSync(process.execPath, [entry, ...args], { cwd: root, stdio: ['ignore', 2, 2] })
  if (result.status !== 0) process.exit(result.status ?? 1)
}

const KERNEL_FLAGS = [
  ...['-O3', '--noAssert', '--runtime', 'stub', '--enable', 'simd'],
  ...['--importMemory', '--initialMemory', '1', '--maximumMemory', '65536'],
]

const buildKernels = name => {
  const source = join(root, 'assembly', `${name}.ts`)
  const target = join(root, 'dist', 'kernels', `${name}.wasm`)
  const inputs = [source, join(root, 'scripts', 'build.js')].map(path => statSync(path).mtimeMs)
  if (existsSync(target) && Math.max(...inputs) <= statSync(target).mtimeMs) return
  // Written beside and renamed, so that a build that dies leaves no half-written module, and two at a time do not meet.
  const written = `${target}.${process.pid}.tmp`
  run('assemblyscript', 'bin/asc.js', [`assembly/${name}.ts`, '-o', written, ...KERNEL_FLAGS])
  renameSync(written, target)
}

/** uPlot asks the browser's language for numbers as it loads, and one that is none, as `en-US@posix` in a container, would stop the page. */
const plainNumbers = {
  name: 'plain-numbers',
  transform(code, id) {
    if (!id.includes('uPlot.esm')) return null
    const asked = "Intl.NumberFormat(domEnv ? nav.language : 'en-US')"
    if (!code.includes(asked)) this.error('expected uPlot to ask for a language as it did; see plainNumbers')
    return code.replace(asked, "Intl.NumberFormat('en')")
  },
}

/** A script for the browser as one file, and the style that it names beside it. */
const buildScript = async (folder, client) => {
  const { build } = await import('vite')
  await build({
    root,
    configFile: false,
    envDir: false,
    publicDir: false,
    logLevel: 'warn',
    plugins: [plainNumbers],
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: `dist/${folder}/page`,
      emptyOutDir: true,
      target: 'es2022',
      modulePreload: false,
      cssMinify: false,
      rolldownOptions: {
        input: join(root, 'src', folder, 'client', client),
        output: { entryFileNames: 'app.js', assetFileNames: 'app[extname]' },
      },
    },
  })
}

if (!(process.argv.includes('--if-stale') && isFresh())) {
  const startedMs = Date.now()
  console.error('building dist/, which takes up to a minute')
  rmSync(stamp, { force: true })
  mkdirSync(join(root, 'dist', 'kernels'), { recursive: true })
  for (const name of ['flat', 'nearest']) buildKernels(name)
  run('typescript', 'bin/tsc', ['-p', 'tsconfig.build.json'])
  await buildScript('runs/report', 'main.ts')
  await buildScript('serve/dashboard', 'main.tsx')
  writeFileSync(stamp, `${new Date(startedMs).toISOString()}\n`)
  console.error(`built dist/ in ${((Date.now() - startedMs) / 1000).toFixed(1)} s`)
}
