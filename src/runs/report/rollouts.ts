/** @file Rollouts for reading: prompt, each step with its verdict beside it, answer against gold. */

import { number, percent } from '../../util/format.ts'
import type { RolloutRow, RolloutStep, RolloutVerdict, RunInfo } from '../rows.ts'
import { type ChosenRollouts, criterionLabel } from './data.ts'
import { type Html, html } from './html.ts'
import { callOf, callWords, judgeName } from './judge-words.ts'
import { type AnswerWords, answerWords, rolloutFacts, STATUS_MARKS, verdictWord } from './rollout-words.ts'

/** `[✓ entailed]`; a status without a colour of its own is shown in grey. */
const chip = (status: string): Html => {
  const mark = STATUS_MARKS[status]
  return html`<span class="chip ${mark ? status : 'plain'}">${mark && html`<span aria-hidden="true">${mark}</span> `}${status}</span>`
}

const stepRow = (step: RolloutStep): Html =>
  html`<li><span class="step-text">${step.text}</span><span class="step-verdict">${step.flags?.map(
    flag => html`<span class="flag">${flag}</span>`,
  )}${chip(step.status)}</span>${step.note && html`<small class="step-note">${step.note}</small>`}</li>`

const answerLine = ({ text, right, gold, proof }: AnswerWords): Html => {
  const told =
    right === null
      ? html`<span>${text}</span>`
      : html`<span class="${right ? 'right' : 'wrong'}"><span aria-hidden="true">${right ? '✓' : '✗'}</span> ${text}</span>`
  return html`<p class="answer">${told}${gold !== null && html` <span class="quiet">gold: ${gold}</span>`}${
    proof !== null && html` <span class="quiet">· ${proof}</span>`
  }</p>`
}

/** Where it has one, how much of it; else in a word. */
const creditWord = (verdict: RolloutVerdict, row: RolloutRow): string =>
  verdict.credit === undefined ? verdictWord(verdict, row) : percent(verdict.credit)

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

/** Who gave it and what that took; nothing where an older run does not say. */
const judgeWords = (verdict: RolloutVerdict, row: RolloutRow): Html | null => {
  const call = callOf(verdict, row)
  const words = [judgeName(verdict, row), call && callWords(call)].filter(Boolean).join(' · ')
  return words === '' ? null : html` <span class="quiet">${words}</span>`
}

const verdictList = (row: RolloutRow): Html | null => {
  const told = (row.verdicts ?? []).filter(verdict => verdict.explanation || row.parts === undefined)
  if (told.length === 0) return null
  return html`<dl class="verdicts">${told.map(
    verdict =>
      html`<dt>${verdict.criterionId}: ${creditWord(verdict, row)}${judgeWords(verdict, row)}</dt><dd>${verdict.explanation}</dd>`,
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
  const facts = rolloutFacts(row)
  const answer = answerWords(row)
  const steps = row.steps ?? []
  return html`<article class="panel rollout"><header><span class="reward">${number(row.reward)}</span><span class="quiet">${facts.join(' · ')}</span></header>
<div class="rollout-body"><div><h4>Prompt</h4><p class="prompt">${row.prompt}</p></div>
<div><h4>Response</h4>${
    steps.length > 0
      ? html`<ol class="steps">${steps.map(stepRow)}</ol>${answer && answerLine(answer)}`
      : html`${responseText(row)}${answer && answerLine(answer)}`
  }${partChips(info, row)}${verdictList(row)}</div></div>
${steps.length > 0 && html`<details><summary>Response as written</summary>${responseText(row)}</details>`}</article>`
}

/** All chosen rollouts, group by group. */
export const rolloutGroups = (info: RunInfo, groups: readonly ChosenRollouts[]): Html[] =>
  groups.map(
    group => html`<h3>${group.title} <span class="quiet">${group.about}</span></h3>
<div class="rollouts">${group.rows.map(row => rolloutCard(info, row))}</div>`,
  )
