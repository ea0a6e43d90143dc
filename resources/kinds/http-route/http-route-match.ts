import * as z from 'zod';
import { listOf, textUpTo } from '../gateway-api/bounded.ts';
import { httpMethod } from '../gateway-api/cors-filter.ts';
import { headerList, headerValue } from '../gateway-api/header-modifier.ts';
import { tokenName } from '../gateway-api/names.ts';
import { regexBreaches, TEXT_MATCHES } from '../gateway-api/regex-value.ts';
import { type Breach, checkRules, checkUnique } from '../gateway-api/rules.ts';

const PATH_CHARACTERS = /^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|[%][0-9a-fA-F]{2})+$/;

const path = z
  .object({
    type: z
      .enum(['Exact', 'PathPrefix', 'RegularExpression'])
      .default('PathPrefix')
      .describe('How it is compared. A prefix ends at a `/`. An expression is RE2'),
    value: z
      .string()
      .max(1024)
      .default('/')
      .meta({ form: 'a path of at most 1024 characters' })
      .describe('The path, its prefix, or the expression for all of it'),
  })
  .check(checkRules(pathBreaches));

function pathBreaches(match: { readonly type: string; readonly value: string }): readonly Breach[] {
  const { type, value } = match;
  const broken = (message: string) => [{ path: ['value'], message }];
  if (type === 'RegularExpression')
    return value === '' ? broken('an expression must not be empty') : regexBreaches(match);
  if (!value.startsWith('/')) return broken('a path begins with "/"');
  if (!PATH_CHARACTERS.test(value)) return broken('a path holds characters of a URL only');
  const odd = ['//', '/./', '/../', '%2f', '%2F'].find(part => value.includes(part));
  const end = ['/..', '/.'].find(part => value.endsWith(part));
  if (odd !== undefined) return broken(`a path must not hold "${odd}"`);
  return end === undefined ? [] : broken(`a path must not end with "${end}"`);
}

const type = z.enum(TEXT_MATCHES).default('Exact').describe('How the value is compared');

const header = z
  .object({
    type,
    name: tokenName.describe('Name of the header, in any letter case'),
    value: headerValue.describe('The value, or an RE2 expression for all of it'),
  })
  .check(checkRules(regexBreaches));

const queryParam = z
  .object({
    type,
    name: tokenName.describe('Name of the parameter'),
    value: textUpTo(1024).min(1).describe('The value, or an RE2 expression for all of it'),
  })
  .check(checkRules(regexBreaches));

/** Conditions that a request meets, all of them. */
export const httpRouteMatch = z.object({
  path: path.prefault({}).describe('Path of the request'),
  headers: headerList(header).describe('Headers of the request'),
  queryParams: listOf(16, queryParam, 'parameters')
    .check(checkUnique(({ name }) => name, 'a parameter of this name'))
    .default([])
    .describe('Parameters of its query'),
  method: httpMethod.exactOptional().describe('Its method. Default: any'),
});

export type HttpRouteMatch = z.output<typeof httpRouteMatch>;
