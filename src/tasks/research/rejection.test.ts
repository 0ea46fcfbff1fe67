import { describe, expect, it } from 'vitest'
import { normalizeTrajectory, type RecordedRound, rejectionsOf, selectTrajectories } from './rejection.ts'

const PLAN = '<structured_plan><rubric>R</rubric><research_plan>P</research_plan></structured_plan>'
const CALL = '<call_tool name="search">q</call_tool>'
const EVALUATION = '<state_evaluation>s</state_evaluation>'

const round = (text: string, said: string | null = 'found', isError = false): RecordedRound => ({
  text,
  observation: said === null ? null : { text: said, isError },
})
const first = round(`<scratchpad>a</scratchpad>${PLAN}${CALL}`)
const more = (isError = false) => round(`<scratchpad>b</scratchpad>${EVALUATION}${CALL}`, 'found', isError)
const last = round(`<scratchpad>c</scratchpad>${EVALUATION}<review>r</review><answer>x</answer>`, null)
const reasons = (rounds: RecordedRound[], options = {}) =>
  rejectionsOf(normalizeTrajectory({ rounds }), options)

describe('recorded trajectories that are not learnt from', () => {
  it('a good one is taken', () => {
    expect(reasons([first, more(), last])).toEqual([])
    expect(reasons([round(first.text.replaceAll('rubric', 'rubrics')), last])).toEqual([])
  })

  it('no answer', () => {
    expect(reasons([first, round(last.text.replace('</answer>', ''), null)])).toEqual(['no-answer'])
    expect(reasons([first, round(`${EVALUATION}<think><answer>x</answer></think>`, null)])).toEqual([
      'no-answer',
    ])
    expect(reasons([first, more()])).toEqual(['no-answer'])
    expect(reasons([])).toEqual(['no-answer'])
  })

  it('no valid call in a round that is not the last', () => {
    const calls = [
      '',
      '<call_tool>q</call_tool>',
      '<call_tool name="search">{"a":}</call_tool>',
      `${CALL} and on`,
      CALL + CALL,
      last.text,
    ]
    for (const call of calls)
      expect(reasons([first, round(EVALUATION + call), last])).toEqual(['no-valid-call'])
    expect(reasons([first, last], { tools: ['google_search'] })).toEqual(['no-valid-call'])
    expect(reasons([first, last], { tools: ['search'] })).toEqual([])
  })

  it('a plan, a rubric or an evaluation is missing', () => {
    expect(reasons([round(CALL), last])).toEqual(['no-plan'])
    expect(reasons([round(`<structured_plan>${CALL}`), last])).toEqual(['no-plan'])
    expect(reasons([round(`<structured_plan>p</structured_plan>${CALL}`), last])).toEqual(['no-rubric'])
    expect(reasons([round(`<structured_plan><rubric> </rubric></structured_plan>${CALL}`), last])).toEqual([
      'no-rubric',
    ])
    expect(reasons([first, round(CALL), last])).toEqual(['no-state-evaluation'])
    expect(reasons([first, round('<review>r</review><answer>x</answer>', null)])).toEqual([
      'no-state-evaluation',
    ])
  })

  it('two errors of tools in a row', () => {
    expect(reasons([first, more(true), more(false), more(true), last])).toEqual([])
    expect(reasons([first, more(true), more(true), last])).toEqual(['tool-errors'])
    expect(reasons([first, more(true), more(true), last], { maxErrorsInARow: 2 })).toEqual([])
  })

  it('too many rounds', () => {
    const of = (n: number) => [first, ...Array.from({ length: n - 2 }, () => more()), last]
    expect(reasons(of(10))).toEqual([])
    expect(reasons(of(11))).toEqual(['too-many-rounds'])
    expect(reasons([...of(10).slice(0, 9), more()])).toEqual(['no-answer', 'too-many-rounds'])
    expect(reasons(of(4), { maxRounds: 3 })).toEqual(['too-many-rounds'])
  })

  it('are counted by reason; the others come out with the names of the scaffold and of the tools', () => {
    const google = round(first.text.replace('name="search"', 'name="web"'))
    const all = [
      { id: 1, rounds: [google, last] },
      { id: 2, rounds: [round(CALL), round('x', null)] },
    ]
    const { accepted, rejected, counts } = selectTrajectories(all, {
      tools: ['search'],
      toolNames: { web: 'search' },
    })
    expect(accepted).toEqual([
      {
        id: 1,
        rounds: [
          round(`<think>a</think>${PLAN}${CALL}`),
          round(last.text.replaceAll('scratchpad', 'think'), null),
        ],
      },
    ])
    expect(rejected).toMatchObject([
      { trajectory: { id: 2 }, reasons: ['no-answer', 'no-plan', 'no-state-evaluation'] },
    ])
    expect(counts).toEqual({
      ...{ 'no-answer': 1, 'no-valid-call': 0, 'no-plan': 1, 'no-rubric': 0 },
      ...{ 'no-state-evaluation': 1, 'tool-errors': 0, 'too-many-rounds': 0 },
    })
  })
})
