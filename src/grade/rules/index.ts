/** @file Rule predicates: what can be checked without a model. */

export { checkRule, compileRule, RULES, validateRules } from './registry.ts'
export { COMMON_PARAMETERS, type Rule as RulePredicate, type RuleCheck, type RuleOutcome } from './rule.ts'
export { RuleGrader } from './rule-grader.ts'
export { DEFAULT_RULE_SET, lengthFault, type RuleSettings, ruleSettingsSchema } from './settings.ts'
