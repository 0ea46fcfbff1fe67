/** @file Asks something of a run that goes on, with the token that was printed once; the run's events say what became of it. */

import { useState } from 'preact/hooks'
import type { ControlAction, RunView } from '../wire.ts'
import { postJson } from './api.ts'
import { Bound, Choice } from './parts.tsx'
import { setToken, token } from './token.ts'

/** Asks for the token; it stays in this tab. */
export const TokenField = ({ onSet }: { onSet(): void }) => {
  const [value, setValue] = useState('')
  return (
    <form
      class="row tools"
      onSubmit={event => {
        event.preventDefault()
        setToken(value.trim())
        onSet()
      }}
    >
      <label>
        Token that was printed when the dashboard started{' '}
        <input
          type="password"
          autocomplete="off"
          value={value}
          onInput={event => setValue(event.currentTarget.value)}
        />
      </label>
      <button type="submit" disabled={value.trim() === ''}>
        Use it
      </button>
    </form>
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
  const numbers = { ...current, ...Object.fromEntries(typed) }
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
        <button
          type="button"
          onClick={() => ask({ action: 'threshold', monitor: name, thresholds: numbers })}
        >
          Set
        </button>
        {monitors[name] !== null && (
          <button type="button" onClick={() => ask({ action: 'threshold', monitor: name, thresholds: null })}>
            Switch off
          </button>
        )}
      </div>
    </details>
  )
}

export const Controls = ({ view, status }: { view: RunView; status: string }) => {
  const [said, setSaid] = useState<{ text: string; failed: boolean } | null>(null)
  const [known, setKnown] = useState(token() !== null)
  if (status !== 'running' && status !== 'paused') return null
  const ask: Ask = action => {
    if (action.action === 'stop' && !confirm(`Stop ${view.run.name} after this step?`)) return
    const dropsSteps = action.action === 'undo' && action.of === 'rollback'
    if (dropsSteps && !confirm('Go on from where the run went back? What was trained since is dropped.'))
      return
    postJson(`/api/runs/${encodeURIComponent(view.run.id)}/control`, action, {
      'x-gradus-token': token() ?? '',
    })
      .then(() => setSaid({ text: DONE[action.action], failed: false }))
      .catch((error: Error) => {
        setSaid({ text: error.message, failed: true })
        if (error.message.includes('token')) {
          setToken(null)
          setKnown(false)
        }
      })
  }
  return (
    <section class="controls" aria-label="Control of the run">
      {known ? (
        <>
          <div class="row tools">
            {BUTTONS.filter(([, , when = status]) => when === status).map(([action, name]) => (
              <button type="button" key={action} onClick={() => ask({ action })}>
                {name}
              </button>
            ))}
            {view.undoable.map(of => (
              <button type="button" key={of} onClick={() => ask({ action: 'undo', of })}>
                {UNDO[of]}
              </button>
            ))}
          </div>
          <Thresholds monitors={view.monitors} ask={ask} />
        </>
      ) : (
        <details>
          <summary>Pause, save, stop</summary>
          <TokenField onSet={() => setKnown(true)} />
        </details>
      )}
      <p aria-live="polite" class={said?.failed ? 'problem' : 'quiet'}>
        {said?.text}
      </p>
    </section>
  )
}
