import { describe, expect, it } from 'vitest'
import { gradeLogicBatch } from '../../../grade/logic/criteria.ts'
import { LogicSolver } from '../../../grade/logic/solver.ts'
import { follow } from '../../../model/automaton.ts'
import { createTokenizer } from '../../../model/tokenizer.ts'
import { Rng } from '../../../util/rng.ts'
import { isMet } from '../../thinking-grammar/grammar.ts'
import { rubricHabitsSchema } from '../../thinking-grammar/rubricator.ts'
import type { LogicTaskExample } from '../example.ts'
import { decodeTokens, encodePrompt, encodeResponse } from '../format.ts'
import { generateLogicProblems } from '../generator.ts'
import { LOGIC_TOKENS, LOGIC_VOCABULARY } from '../vocabulary.ts'
import {
  isProved,
  LOGIC_GRAMMAR,
  LOGIC_PIECES,
  LOGIC_RUBRIC_VOCABULARY,
  labelOf,
  logicEvidenceOf,
  logicRubricAutomaton,
  logicRubricator,
  logicRubricatorPrompt,
  logicRubricTokenizer,
  logicThinkingPrompt,
  readLogicResponse,
  readLogicThinking,
} from './index.ts'

const HABITS = rubricHabitsSchema.parse({})

const problems = (count: number, style: 'real' | 'shortcut-free' = 'real'): LogicTaskExample[] =>
  generateLogicProblems(count, { hops: { 1: 1, 2: 1, 3: 1 }, style }, `thinking/${style}`)

/** A chain of three kinds: stella is a wumpus, wumpuses are tumpuses, each tumpus is not bright; bright is asked. */
const problem: LogicTaskExample = (() => {
  const [one] = generateLogicProblems(1, { hops: 2, nodes: [3, 3], distractors: 'none' }, 'fixed')
  return one
})()

const goldOf = (own: LogicTaskExample): string =>
  (own.proof ?? []).map((step, i) => `${i + 1}. ${step.toLowerCase().replace(/\.$/, '')}`).join('\n')

const gold = goldOf(problem)
const lines = gold.split('\n').map(line => line.replace(/^\d+\. /, ''))
const numbered = (own: readonly string[]) => own.map((line, i) => `${i + 1}. ${line}`).join('\n')
const [fact, rule, next, lastRule, end] = lines
const [name, kind] = [fact.split(' ')[0], fact.split(' ').at(-1)!]
const OFF = `${name} is a ${['dumpus', 'impus', 'jompus', 'numpus', 'rompus'].find(noun => !problem.context.toLowerCase().includes(noun))}`
const opposite = end.includes(' not ') ? end.replace(' not ', ' ') : end.replace(' is ', ' is not ')

const met = (criterion: string, thinking: string, answer: 'True' | 'False' | null = null) => {
  const reading = LOGIC_GRAMMAR.read(criterion)
  if (reading === null) throw new Error(`no sentence: ${criterion}`)
  return isMet(reading, logicEvidenceOf(problem, thinking, answer))
}

/** Criterion, thinking that meets it, thinking that does not. */
const CASES: readonly [string, string, string][] = [
  ['begins with the fact about the name', gold, numbered(lines.slice(1))],
  ['begins with a rule', numbered(lines.slice(1)), gold],
  ['has at least 5 steps', gold, numbered(lines.slice(1))],
  ['has at most 4 steps', numbered(lines.slice(1)), gold],
  ['states at least 2 rules', gold, numbered([fact, rule])],
  ['states a rule about the queried word', gold, numbered([fact, rule, next])],
  ['has no step', 'well', gold],
  ['states a premise word for word', numbered([fact]), numbered([next])],
  ['every rule that it states is a premise', gold, numbered([fact, `every ${kind} is a ${kind}`])],
  ['states a rule that is no premise', numbered([fact, `every ${kind} is angry`]), gold],
  ['states something that is no premise and does not follow', numbered([OFF, end]), gold],
  ['every step before the last follows', gold, numbered([OFF, end])],
  ['every step before the last comes from those before it', gold, numbered([next, end])],
  ['step 3 follows', gold, numbered([fact, rule, OFF, end])],
  ['step 3 does not follow', numbered([fact, rule, OFF, end]), gold],
  ['contradicts itself', numbered([...lines, opposite]), gold],
  ['each rule is about the kind before it', gold, numbered([lastRule, fact])],
  ['a rule is about another kind than the one before it', numbered([fact, lastRule]), gold],
  ['each rule is followed by its consequence', gold, numbered([fact, rule, lastRule])],
  ['a consequence comes without its rule', numbered([fact, next]), gold],
  ['numbers its steps from one', gold, gold.replace('1.', '2.')],
  ['numbers its steps without gaps', gold, gold.replace('2.', '9.')],
  ['has a step that cannot be read', numbered([fact, 'so there']), gold],
  ['repeats a step', numbered([fact, fact]), gold],
  ['repeats nothing', gold, numbered([fact, fact])],
  ['states a rule that leads nowhere', numbered([fact, rule, next]), gold],
  ['states only rules that lead on', gold, numbered([fact, rule, next])],
  ['goes on after the query is settled', numbered([...lines, fact]), gold],
  ['ends with the queried statement or its opposite', gold, numbered([fact, rule])],
  ['ends with a rule', numbered([fact, rule]), gold],
  ['mentions the queried word', gold, numbered([fact, rule])],
  [`mentions ${name}`, gold, numbered([rule])],
  [`mentions the kind ${kind}`, gold, numbered([end])],
  [`never mentions the kind ${kind}`, numbered([end]), gold],
  [`shows that the name is of the kind ${kind}`, gold, numbered([rule, end])],
  ['says not', '1. stella is not red', '1. stella is red'],
  ['never says not', '1. stella is red', '1. stella is not red'],
  ['has an even number of steps', numbered([fact, rule]), gold],
  ['every step follows', gold, numbered([fact, OFF])],
]

describe('criteria about thinking on the logic task', () => {
  it.each(CASES)('%s', (criterion, yes, no) => {
    expect(met(criterion, yes)).toBe(true)
    expect(met(criterion, no)).toBe(false)
  })

  it('read the end and the answer only where they say so', () => {
    const query = problem.label === 'True' ? end : opposite
    expect(met('ends with the queried statement', numbered([query]))).toBe(true)
    expect(met('ends with the opposite of the queried statement', numbered([query]))).toBe(false)
    expect(met('the answer is true', '', 'True')).toBe(true)
    expect(met('the answer is true', '')).toBe(false)
    expect(met('the answer is false', '', 'False')).toBe(true)
    expect(LOGIC_GRAMMAR.outcomes.every(({ outcome }) => outcome)).toBe(true)
    expect(LOGIC_GRAMMAR.predicates.every(({ outcome }) => outcome === undefined)).toBe(true)
  })

  it('has a test of every sentence', () => {
    const tested = new Set(CASES.map(([criterion]) => LOGIC_GRAMMAR.read(criterion)?.predicate))
    expect(LOGIC_GRAMMAR.predicates.filter(each => !tested.has(each))).toEqual([])
    expect(LOGIC_GRAMMAR.predicates.length).toBeGreaterThanOrEqual(30)
  })

  it('reads no other text, whatever it is', () => {
    for (const text of [
      '',
      'mentions',
      'mentions red',
      'step 13 follows',
      'x'.repeat(10_000),
      'step 0 follows',
    ])
      expect(LOGIC_GRAMMAR.read(text)).toBeNull()
    expect(LOGIC_GRAMMAR.read(' Says not. ')).not.toBeNull()
  })

  it('decides on any thinking without throwing', () => {
    const rng = new Rng('junk')
    const words = [...'01.\n', ...LOGIC_VOCABULARY, 'every', '\ud800', '1. ']
    const sentences = LOGIC_GRAMMAR.allowed(true).map(predicate =>
      LOGIC_GRAMMAR.sentenceWith(
        predicate,
        LOGIC_GRAMMAR.slotsOf(predicate).map(
          slot => ({ count: '3', place: '2', name: 'rex', kind: 'wumpus' })[slot],
        ),
      ),
    )
    for (let i = 0; i < 60; i++) {
      const junk = Array.from({ length: rng.int(60) }, () => rng.pick(words)).join('')
      for (const sentence of sentences) expect(typeof met(sentence, junk)).toBe('boolean')
    }
  })
})

describe('what follows from the premises', () => {
  it('agrees with the solver on steps that are right, wrong and far-fetched, and on proofs', async () => {
    const solver = await LogicSolver.start({ backend: 'ground' })
    const rng = new Rng('steps')
    try {
      for (const own of [...problems(12), ...problems(12, 'shortcut-free')]) {
        const proof = own.proof ?? []
        const others = problems(8).flatMap(({ proof: theirs }) => theirs ?? [])
        const said = [...proof]
        for (let k = 0; k < 3; k++)
          said.splice(rng.int(said.length + 1), 0, rng.pick([...own.premises, ...others]))
        for (const steps of [proof, said]) {
          const thinking = steps
            .map((step, i) => `${i + 1}. ${step.toLowerCase().replace(/\.$/, '')}`)
            .join('\n')
          const response = `<reasoning>\n${thinking}\n</reasoning>\n<answer>${own.label.toLowerCase()}</answer>`
          const [grade] = await gradeLogicBatch([{ problem: own, response }], solver, { truth: true })
          const read = readLogicThinking(own, thinking)
          expect(read.steps.map(({ follows }) => follows)).toEqual(
            grade.steps.map(({ status }) => status === 'entailed'),
          )
          if (steps === proof) expect([isProved(own, read), grade.correctAndProved]).toEqual([true, true])
        }
      }
    } finally {
      await solver.close()
    }
  })

  it('is no proof without its middle, or with the other end', () => {
    expect(isProved(problem, readLogicThinking(problem, gold))).toBe(true)
    expect(isProved(problem, readLogicThinking(problem, numbered([fact, end])))).toBe(false)
    expect(isProved(problem, readLogicThinking(problem, numbered([...lines.slice(0, -1), opposite])))).toBe(
      false,
    )
    expect(isProved(problem, readLogicThinking(problem, ''))).toBe(false)
  })
})

describe('tokens of the larger vocabulary', () => {
  it('keep the ids of the smaller one, each piece once', () => {
    expect(LOGIC_RUBRIC_VOCABULARY.slice(0, LOGIC_VOCABULARY.length)).toEqual(LOGIC_VOCABULARY)
    expect(new Set(LOGIC_RUBRIC_VOCABULARY).size).toBe(LOGIC_RUBRIC_VOCABULARY.length)
  })

  it('write thinking for a rubricator as the reasoner wrote it', () => {
    for (const own of problems(20)) {
      const response = encodeResponse(own)
      const read = readLogicResponse(response)
      expect(read).toMatchObject({ text: decodeTokens(response), closed: true })
      expect(labelOf(read)).toBe(own.label)
      const end = response.indexOf(LOGIC_TOKENS.reasoningClose) + 1
      expect(logicRubricatorPrompt(own, read)).toEqual([
        ...encodePrompt(own),
        ...response.slice(0, end),
        LOGIC_PIECES.token('\n<rubric>'),
      ])
    }
  })

  it('say hints after the question, without an unknown piece', () => {
    const hints = [
      { id: 'a', text: 'Mentions alex.', points: 2 },
      { id: 'b', text: 'repeats a step', points: -1 },
      { id: 'c', text: 'be nice', points: 1 },
    ]
    const prompt = logicThinkingPrompt(problem, hints)
    const plain = encodePrompt(problem)
    expect(prompt.slice(0, plain.length)).toEqual(plain)
    expect(LOGIC_PIECES.decode(prompt.slice(plain.length))).toBe('\ndo mentions alex\navoid repeats a step')
    expect(prompt).not.toContain(LOGIC_TOKENS.unk)
  })

  it('let every demonstrated rubric pass, without an unknown piece', () => {
    const automaton = logicRubricAutomaton()
    const files = logicRubricTokenizer(256)
    const tokenizer = createTokenizer(
      JSON.parse(files['tokenizer.json']),
      JSON.parse(files['tokenizer_config.json']),
    )
    for (const [i, own] of problems(60).entries()) {
      const evidence = logicEvidenceOf(own, goldOf(own), null)
      const written = logicRubricator.demonstrate(own, evidence, HABITS, new Rng(i))!
      const tokens = LOGIC_PIECES.encode(written.text)
      expect(tokens).not.toContain(LOGIC_TOKENS.unk)
      expect(LOGIC_PIECES.decode(tokens)).toBe(written.text)
      expect(tokenizer.encode(written.text)).toEqual(tokens)
      const last = follow(automaton, [...tokens, LOGIC_TOKENS.eos])
      expect(last, written.text).not.toBeNull()
      const { rubrics } = JSON.parse(written.text)
      for (const { criterion } of rubrics) expect(LOGIC_GRAMMAR.read(criterion)).not.toBeNull()
    }
  })
})
