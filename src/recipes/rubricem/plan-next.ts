/** @file What is still to be put in place before a planned run can begin, as far as can be seen from here. */

import { isRemote } from '../../policy/open.ts'
import { mayBeMissing } from '../common/run-mode.ts'
import type { RubricemConfig } from './config.ts'
import { PLACEHOLDERS } from './presets.ts'

const isLater = (path: string | null): path is string => path !== null && mayBeMissing(path, 'plan')

/** One thing a line, with the setting that says otherwise; none where a run can begin. */
export const nextOf = ({ policy, model, task, judge, memory }: RubricemConfig): string[] => {
  const next: string[] = []
  if (!isRemote(policy) && isLater(model.folder))
    next.push(
      task.kind === 'research'
        ? `put a model with tokenizer and chat template into ${model.folder}, or name its folder in model.folder`
        : `put a model into ${model.folder}, or name its folder in model.folder`,
    )
  if (task.kind === 'research') {
    if (task.file === null) next.push('name a file of questions in task.file: one {"question": ...} a line')
    for (const [key, path] of [
      ['task.file', task.file],
      ['task.testFile', task.testFile],
      ...Object.entries(task.tests ?? {}).map(([name, { file }]) => [`task.tests.${name}`, file] as const),
    ] as const)
      if (isLater(path)) next.push(`write questions into ${path}, or name their file in ${key}`)
    if (task.tools.length === 0)
      next.push('list tools in task.tools: local indexes, MCP servers, search over HTTP')
    for (const tool of task.tools)
      if (tool.kind === 'index' && isLater(tool.path))
        next.push(`build ${tool.path} with \`gradus search build\`, or name another index in task.tools`)
  }
  if (judge.kind === 'chat' && judge.fleet.endpoints.some(({ url }) => url === PLACEHOLDERS.judge))
    next.push(
      `name the judge in judge.fleet.endpoints (url, model, apiKeyEnv), or serve one at ${PLACEHOLDERS.judge}`,
    )
  if (memory.kind === 'bank') {
    const { embedder, file = null } = memory
    if (embedder.kind === 'endpoint' && embedder.url === PLACEHOLDERS.embedder)
      next.push(
        `name an endpoint of embeddings in memory.embedder, serve ${embedder.model} at ${embedder.url}, or set memory.embedder to {kind: hashed}`,
      )
    if (isLater(file)) next.push(`put a bank at ${file}, or leave memory.file out`)
  }
  return next
}
