/** @file Asks something of a run that goes on, with the token that was printed once; the run's events say what became of it. */

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { ControlAction, RunView } from '../wire.ts'
import { postJson, setToken, token } from './api.ts'
import { Bound, Choice, InputField } from './parts.tsx'

interface WithTokenProps {
  /** Over the field, which then is folded away. */
  title?: string
  children: ComponentChildren
}

/** What needs the token; until this tab has it, a field to type it into. */
export const WithToken = ({ title, children }: WithTokenProps) => {
  const [value, setValue] = useState('')
  if (token() !== null) return <>{children}</>
  const form = (
    <form
      class="row tools"
      onSubmit={event => {
        event.preventDefault()
        setToken(value.trim())
        setValue('')
      }}
    >
      <InputField
        label="Token that was printed when the dashboard started"
        type="password"
        autocomplete="off"
        value={value}
        onInput={setValue}
      />
      <button type="submit" disabled={value.trim() === ''}>
        Use it
      </button>
    </form>
  )
  if (title === undefined) return form
  return (
    <details>
      <summary>{title}</summary>
      {form}
    </details>
  )
}

/** What can be asked for by a button, of a run of that status or of any that goes on. */
const BUTTONS: readonly [action: 'pause' | 'go-on' | 'save' | 'stop', name: string, status?: string][] = [
  ['pause', 'Pause', 'running'],
  ['go-on', 'Go on', 'paused'],
  ['save', 'Save now'],
  ['stop', 'Stop'],
]

const UNDO: Record<RunView['undoable'][number], string> = {
  rollback: 'Undo the rollback',
  'raise-kl': 'Undo the raise of the KL coefficient',
}

const DONE: Record<ControlAction['action'], string> = {
  pause: 'It pauses after this step.',
  'go-on': 'It goes on.',
  save: 'It saves a checkpoint after this step.',
  stop: 'It stops after this step, with a checkpoint to go on from.',
  threshold: 'The monitor looks by it from the next step on.',
  undo: 'It is undone after this step; the events say what became of it.',
}

type Ask = (action: ControlAction) => void

const Thresholds = ({ monitors, ask }: { monitors: RunView['monitors']; ask: Ask }) => {
  const names = Object.keys(monitors)
  const [name, setName] = useState(names[0] ?? '')
  const [values, setValues] = useState<Record<string, string>>({})
  if (names.length === 0) return null
  const current = monitors[name] ?? {}
  const typed = Object.entries(values).map(([key, value]) => [key, Number(value)])
  const set = (thresholds: Record<string, number> | null) =>
    ask({ action: 'threshold', monitor: name, thresholds })
  return (
    <details>
      <summary>Thresholds of the monitors</summary>
      <div class="row tools">
        <Choice
          name="monitor"
          label="Monitor"
          value={name}
          options={names}
          onChoose={chosen => {
            setName(chosen)
            setValues({})
          }}
        />
        {Object.entries(current).map(([key, value]) => (
          <Bound
            key={`${name}.${key}`}
            label={key}
            value={values[key] ?? String(value)}
            onInput={value => setValues({ ...values, [key]: value })}
          />
        ))}
        <button type="button" onClick={() => set({ ...current, ...Object.fromEntries(typed) })}>
          Set
        </button>
        {monitors[name] !== null && (
          <button type="button" onClick={() => set(null)}>
            Switch off
          </button>
        )}
      </div>
    </details>
  )
}

/** What an action would lose, to be said yes to first. */
const warningOf = (action: ControlAction, name: string): string | null => {
  if (action.action === 'stop') return `Stop ${name} after this step?`
  const dropsSteps = action.action === 'undo' && action.of === 'rollback'
  return dropsSteps ? 'Go on from where the run went back? What was trained since is dropped.' : null
}

export const Controls = ({ view, status }: { view: RunView; status: string }) => {
  const [said, setSaid] = useState<{ text: string; failed: boolean } | null>(null)
  if (status !== 'running' && status !== 'paused') return null
  const { id, name } = view.run
  const ask: Ask = action => {
    const warning = warningOf(action, name)
    if (warning !== null && !confirm(warning)) return
    postJson(`/api/runs/${encodeURIComponent(id)}/control`, action)
      .then(() => setSaid({ text: DONE[action.action], failed: false }))
      .catch((error: Error) => setSaid({ text: error.message, failed: true }))
  }
  return (
    <section class="controls" aria-label="Control of the run">
      <WithToken title="Pause, save, stop">
        <div class="row tools">
          {BUTTONS.filter(([, , when = status]) => when === status).map(([action, words]) => (
            <button type="button" key={action} onClick={() => ask({ action })}>
              {words}
            </button>
          ))}
          {view.undoable.map(of => (
            <button type="button" key={of} onClick={() => ask({ action: 'undo', of })}>
              {UNDO[of]}
            </button>
          ))}
        </div>
        <Thresholds monitors={view.monitors} ask={ask} />
      </WithToken>
      <p aria-live="polite" class={said?.failed ? 'problem' : 'quiet'}>
        {said?.text}
      </p>
    </section>
  )
}
