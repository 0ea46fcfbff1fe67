/** @file Rollouts for reading: prompt, each step with its verdict beside it, answer against gold. */

import { number, percent } from '../../util/format.ts'
import type { RolloutRow, RolloutStep, RolloutVerdict, RunInfo } from '../rows.ts'
import { type ChosenRollouts, criterionLabel } from './data.ts'
import { type Html, html } from './html.ts'

const STATUS_MARKS: Record<string, string> = {
  entailed: '✓',
  consistent: '≈',
  contradicted: '✗',
  unverifiable: '?',
  unparsed: '¶',
}

/** `[✓ entailed]`; a status without a colour of its own is shown in grey. */
const chip = (status: string): Html => {
  const mark = STATUS_MARKS[status]
  return html`<span class="chip ${mark ? status : 'plain'}">${mark && html`<span aria-hidden="true">${mark}</span> `}${status}</span>`
}

const stepRow = (step: RolloutStep): Html =>
  html`<li><span class="step-text">${step.text}</span><span class="step-verdict">${step.flags?.map(
    flag => html`<span class="flag">${flag}</span>`,
  )}${chip(step.status)}</span>${step.note && html`<small class="step-note">${step.note}</small>`}</li>`

const answerLine = (row: RolloutRow): Html => {
  const right = row.correct ?? (row.gold !== undefined && row.answer === row.gold)
  const answer =
    row.answer === null || row.answer === undefined || row.answer === '' ? 'no answer' : row.answer
  return html`<p class="answer"><span class="${right ? 'right' : 'wrong'}"><span aria-hidden="true">${right ? '✓' : '✗'}</span> ${answer}</span>${
    row.gold !== undefined && html` <span class="quiet">gold: ${row.gold}</span>`
  }${row.valid !== undefined && html` <span class="quiet">· ${proofWords(row)}</span>`}</p>`
}

const proofWords = ({ valid, proved }: RolloutRow): string => {
  if (proved) return 'proved'
  if (!valid) return 'not proved'
  return proved === undefined ? 'whole proof valid' : 'every step valid, not proved: one leaps'
}

/** Of what a rubricator wrote the verdicts say which criteria are valid. */
const verdictWord = (verdict: RolloutVerdict, { role }: RolloutRow): string => {
  if (verdict.credit !== undefined) return percent(verdict.credit)
  if (verdict.met === null) return 'no verdict'
  return `${verdict.met ? '' : 'not '}${role === 'rubricator' ? 'valid' : 'met'}`
}

const partChips = (info: RunInfo, row: RolloutRow): Html => {
  const parts = Object.entries(row.parts ?? {}).map(
    ([id, value]) =>
      html`<span class="part" title="${criterionLabel(info, id)}"><b>${id}</b> ${number(value)}</span>`,
  )
  return html`<p class="parts">${parts}${Object.entries(row.flags ?? {})
    .filter(([, value]) => value !== 0)
    .map(
      ([name, value]) => html`<span class="flag">${name}${value !== 1 && ` ${number(value)}`}</span>`,
    )}</p>`
}

const verdictList = (row: RolloutRow): Html | null => {
  const told = (row.verdicts ?? []).filter(verdict => verdict.explanation || row.parts === undefined)
  if (told.length === 0) return null
  return html`<dl class="verdicts">${told.map(
    verdict =>
      html`<dt>${verdict.criterionId}: ${verdictWord(verdict, row)}</dt><dd>${verdict.explanation}</dd>`,
  )}</dl>`
}

/** The response; where an environment spoke too, turn by turn. */
const responseText = ({ response, turns }: RolloutRow): Html =>
  turns === undefined
    ? html`<pre>${response}</pre>`
    : html`${turns.map(
        ({ by, text }) =>
          html`<div class="turn ${by}"><span class="quiet">${by}</span><pre>${text}</pre></div>`,
      )}`

/** One rollout as a card. */
export const rolloutCard = (info: RunInfo, row: RolloutRow): Html => {
  const facts = [
    `step ${row.step}`,
    row.problemId,
    row.role !== undefined && row.role !== 'policy' && row.role,
    row.sample !== undefined && `sample ${row.sample}`,
    row.tokens !== undefined && `${row.tokens} tokens`,
    row.finishReason === 'length' && 'truncated',
    row.advantage !== undefined && `advantage ${number(row.advantage)}`,
  ].filter(fact => fact !== false)
  const steps = row.steps ?? []
  return html`<article class="panel rollout"><header><span class="reward">${number(row.reward)}</span><span class="quiet">${facts.join(' · ')}</span></header>
<div class="rollout-body"><div><h4>Prompt</h4><p class="prompt">${row.prompt}</p></div>
<div><h4>Response</h4>${
    steps.length > 0
      ? html`<ol class="steps">${steps.map(stepRow)}</ol>${answerLine(row)}`
      : html`${responseText(row)}${(row.answer !== undefined || row.gold !== undefined) && answerLine(row)}`
  }${partChips(info, row)}${verdictList(row)}</div></div>
${steps.length > 0 && html`<details><summary>Response as written</summary>${responseText(row)}</details>`}</article>`
}

/** All chosen rollouts, group by group. */
export const rolloutGroups = (info: RunInfo, groups: readonly ChosenRollouts[]): Html[] =>
  groups.map(
    group => html`<h3>${group.title} <span class="quiet">${group.about}</span></h3>
<div class="rollouts">${group.rows.map(row => rolloutCard(info, row))}</div>`,
  )
