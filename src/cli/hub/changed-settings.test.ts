import { describe, expect, it } from 'vitest'
import type { RunInfo } from '../../runs/rows.ts'
import { resolveSettings } from '../train/settings.ts'
import { changedSettings } from './push.ts'

const infoOf = (config: unknown, preset?: string) =>
  ({ recipe: 'ruscarl', config, ...(preset !== undefined && { preset }) }) as RunInfo

const found = async (set: readonly string[]) => {
  const { config, preset } = await resolveSettings({ target: 'ruscarl', set })
  const settings = await changedSettings(infoOf(config, preset))
  return Object.fromEntries(settings.map(({ name, value }) => [name, value]))
}

describe('settings that a card tells', () => {
  it('are of a section that the defaults lack what its own defaults are not', async () => {
    const endpoints = [{ url: 'https://api.judge.example/v1', model: 'm', apiKeyEnv: 'KEY' }]
    const set = [
      ...['task.kind=conversations', 'task.file=rows.jsonl', 'steps=77'],
      ...[`judge.fleet.endpoints=${JSON.stringify(endpoints)}`, 'judge.ask.temperature=0.1'],
    ]
    const settings = await found(set)
    expect(settings).toMatchObject({ steps: 77, 'task.kind': 'conversations', 'task.file': 'rows.jsonl' })
    expect(Object.entries(settings).filter(([name]) => name.startsWith('judge'))).toEqual([
      ['judge.fleet.endpoints', endpoints],
      ['judge.ask.temperature', 0.1],
    ])
  })

  it('are all of them where the settings are those of another version', async () => {
    const config = { recipe: 'ruscarl', steps: 3, judge: { fleet: { was: 'otherwise' } } }
    expect(await changedSettings(infoOf(config))).toEqual(
      expect.arrayContaining([
        { name: 'steps', value: 3 },
        { name: 'judge.fleet.was', value: 'otherwise' },
      ]),
    )
  })
})
